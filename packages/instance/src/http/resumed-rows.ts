import { createHash } from 'node:crypto';
import { InstanceError } from '../instance-error.js';

/**
 * Returns a function for the replies to a query that is sent again when its reply breaks off. It yields each row once. Rows that were
 * passed on cannot be taken back, so each further reply must begin with these rows.
 */
export function createRowResumer(label: string) {
  let count = 0;
  const passedOn = createHash('sha256');
  return async function* yieldNewRows(reply: AsyncIterable<string[]>): AsyncGenerator<string[], void, undefined> {
    const repeated = createHash('sha256');
    let toSkip = count;
    for await (const batch of reply) {
      const known = batch.slice(0, toSkip);
      for (const row of known) hashRow(repeated, row);
      toSkip -= known.length;
      if (toSkip > 0) continue;
      if (known.length > 0 && !repeated.digest().equals(passedOn.copy().digest())) throw changedRowsError(label);
      const rows = batch.slice(known.length);
      for (const row of rows) hashRow(passedOn, row);
      count += rows.length;
      yield rows;
    }
    if (toSkip > 0) throw changedRowsError(label);
  };
}

function changedRowsError(label: string): InstanceError {
  const what = 'the reply broke off, and the next one does not begin with the same rows';
  return new InstanceError('UNREACHABLE', `${label}: ${what}, so the schema may have changed; try again`);
}

/** With its length, so that no two lists of rows have the same digest. */
const hashRow = (hash: ReturnType<typeof createHash>, row: string) => hash.update(`${row.length} `).update(row);
