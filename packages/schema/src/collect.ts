/*! Collects a complete schema in memory, which is needed to sort it, to compare it or to find dependencies. */
import { getHeapStatistics } from 'node:v8';

/** The number of bytes per statement, besides its text, for names and collections (measured: 400 to 700). */
const OVERHEAD = 1000;

/** More statements than there is memory for. */
export class MemoryError extends Error {
  override name = 'MemoryError';
  readonly code = 'IO';
}

/**
 * Limits the memory for stored statements to half of Node's heap limit; the other half is for processing them. At the
 * heap limit Node would abort with a message that does not help the user.
 */
export class MemoryBudget {
  readonly #size = getHeapStatistics().heap_size_limit / 2;
  #used = 0;
  #statements = 0;

  /** Counts a statement. @throws MemoryError if there is no memory for it */
  add({ length }: string): void {
    this.#statements++;
    this.#used += OVERHEAD + 2 * length;
    if (this.#used > this.#size)
      throw new MemoryError(
        `not enough memory for more than ${this.#statements} statements; set NODE_OPTIONS=--max-old-space-size=8192 to allow 8 GiB`,
      );
  }
}

/**
 * Collects the wanted statements of an input of single statements or batches.
 * @param budget the memory for statements; it may be shared with other collections
 * @throws MemoryError, and any error of the input
 */
export async function collectStatements(
  statements: AsyncIterable<string | string[]>,
  isWanted: (statement: string) => boolean = () => true,
  budget = new MemoryBudget(),
): Promise<string[]> {
  const all: string[] = [];
  for await (const batch of statements)
    for (const statement of typeof batch === 'string' ? [batch] : batch) {
      if (!isWanted(statement)) continue;
      budget.add(statement);
      all.push(statement);
    }
  return all;
}
