/*! Continues a reply that broke off with the next reply. Rows that were passed on cannot be taken back, so both must begin alike. */
import { createHash } from 'node:crypto';

/** The next reply does not begin with the rows that were passed on. */
export class ChangedRowsError extends Error {
  override name = 'ChangedRowsError';
}

/** Rows of a query that is sent again when its reply breaks off, each row once. */
export class ResumedRows {
  #count = 0;
  readonly #hash = createHash('sha256');

  /** The rows of a reply after those that were passed on before. @throws ChangedRowsError if the reply does not begin with those rows */
  async *continueWith(reply: AsyncIterable<string[]>): AsyncGenerator<string[], void, undefined> {
    const hash = createHash('sha256');
    let toSkip = this.#count;
    for await (const batch of reply) {
      const known = batch.slice(0, toSkip);
      for (const row of known) addRow(hash, row);
      toSkip -= known.length;
      if (toSkip > 0) continue;
      if (known.length > 0 && !hash.copy().digest().equals(this.#hash.copy().digest())) throw new ChangedRowsError();
      const rows = batch.slice(known.length);
      for (const row of rows) addRow(this.#hash, row);
      this.#count += rows.length;
      yield rows;
    }
    if (toSkip > 0) throw new ChangedRowsError();
  }
}

/** With its length, so that no two lists of rows have the same digest. */
const addRow = (hash: ReturnType<typeof createHash>, row: string): unknown => hash.update(`${row.length} `).update(row);
