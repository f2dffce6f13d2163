import { createHash } from 'node:crypto';
import { InstanceError } from '../instance-error.js';

/** Rows of a query that is sent again when its reply breaks off, each row once. */
export class ResumedRows {
  #count = 0;
  readonly #hash = createHash('sha256');
  readonly #label: string;

  constructor(label: string) {
    this.#label = label;
  }

  /** The rows of a reply that were not passed on before. The reply must begin with those that were, which cannot be taken back. */
  async *continueWith(reply: AsyncIterable<string[]>): AsyncGenerator<string[], void, undefined> {
    const hash = createHash('sha256');
    let toSkip = this.#count;
    for await (const batch of reply) {
      const known = batch.slice(0, toSkip);
      for (const row of known) addRow(hash, row);
      toSkip -= known.length;
      if (toSkip > 0) continue;
      if (known.length > 0 && !hash.copy().digest().equals(this.#hash.copy().digest())) throw this.#changedRowsError();
      const rows = batch.slice(known.length);
      for (const row of rows) addRow(this.#hash, row);
      this.#count += rows.length;
      yield rows;
    }
    if (toSkip > 0) throw this.#changedRowsError();
  }

  #changedRowsError(): InstanceError {
    const what = 'the reply broke off, and the next one does not begin with the same rows';
    return new InstanceError('UNREACHABLE', `${this.#label}: ${what}, so the schema may have changed; try again`);
  }
}

/** With its length, so that no two lists of rows have the same digest. */
const addRow = (hash: ReturnType<typeof createHash>, row: string): unknown => hash.update(`${row.length} `).update(row);
