import { getHeapStatistics } from 'node:v8';
import { compareStatements } from '@sqlpipe/ddl';
import { displayName, isNamedKind, namespaceKey } from '@sqlpipe/sql';
import { CodedError } from '@sqlpipe/text';
import { type Entry, toUnambiguousEntry } from './schema.js';

/** Limits stored statements to half of Node's heap limit, because at the heap limit Node aborts without a message for the user. */
export class MemoryBudget {
  readonly #size = getHeapStatistics().heap_size_limit / 2;
  #used = 0;
  #statements = 0;

  /** @throws CodedError if there is no memory for the statement */
  add({ length }: string): void {
    this.#statements++;
    this.#used += 1000 + 2 * length; // 1000 bytes for names and collections (measured: 400 to 700)
    if (this.#used > this.#size)
      throw new CodedError(
        'IO',
        `not enough memory for more than ${this.#statements} statements; set NODE_OPTIONS=--max-old-space-size=8192 to allow 8 GiB`,
      );
  }
}

/** Collects statements in memory. @param budget may be shared with other collections @throws CodedError if there is no memory */
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

/** Two statements that define the same name differently. The message names both. */
export class DuplicateNameError extends CodedError {
  override name = 'DuplicateNameError';

  constructor(message: string) {
    super('DAMAGED', message);
  }
}

/**
 * Keeps the first of the statements with the same meaning, and all statements of kind `other`. Objects share one namespace, as do users,
 * groups and service accounts. @throws DuplicateNameError for a name with different meanings
 */
export function deduplicate(statements: Iterable<string>): string[] {
  const seen = new Map<string, { entry: Entry; n: number }>();
  return Array.from(statements).filter((statement, i) => {
    const [entry, n] = [toUnambiguousEntry(statement), i + 1];
    if (entry.kind === 'other') return true;
    const key = isNamedKind(entry.kind) ? namespaceKey(entry) : statement;
    const first = seen.get(key);
    if (!first) {
      seen.set(key, { entry, n });
      return true;
    }
    const { differences, notComparable } = compareStatements(first.entry.statement, statement);
    if (differences.length + notComparable.length > 0)
      throw new DuplicateNameError(
        `statement ${first.n} (${displayName(first.entry)}) and statement ${n} (${displayName(entry)}) have the same name and different definitions; remove one of them`,
      );
    return false;
  });
}
