/*! All of a schema in memory, for what can not be done with less: to sort it, to compare it, to find what needs what. */
import { getHeapStatistics } from 'node:v8';

/** Bytes that a statement needs beside its text, for names and sets that contain it (measured: 400 to 700). */
const OVERHEAD = 1000;

/** More statements than there is memory for. */
export class MemoryError extends Error {
  override name = 'MemoryError';
  readonly code = 'IO';
}

/**
 * The memory for statements that are kept: half of Node's heap limit; the other half is for processing them. At its
 * limit Node would abort with a message that helps nobody.
 */
export class MemoryBudget {
  readonly #size = getHeapStatistics().heap_size_limit / 2;
  #used = 0;
  #statements = 0;

  /** Counts a statement in. @throws MemoryError where there is no room for it */
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
 * All wanted statements, of single ones and of batches.
 * @param budget shared with what else is kept in memory
 * @throws MemoryError, and whatever the input throws
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
