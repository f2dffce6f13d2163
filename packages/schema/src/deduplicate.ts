/*!
 * Removes duplicate statements. Several dumps, or a folder that was edited by hand, may define one name more than once.
 */
import { compareStatements } from '@sqlpipe/ddl';
import { displayName, hasName, identityKey } from '@sqlpipe/sql';
import { type Entry, toEntry } from './schema.js';

/** Two statements that define the same name differently. The message names both. */
export class DuplicateNameError extends Error {
  override readonly name = 'DuplicateNameError';
  readonly code = 'DAMAGED';
}

/**
 * Removes duplicates: of two statements with the same meaning, the first is kept. Objects share one namespace, as do users,
 * groups and service accounts. Grants and memberships have no names. Other statements (ALTER, INSERT, …) are all kept.
 *
 * @throws DuplicateNameError if two statements have the same name and different meanings
 */
export function deduplicate(statements: Iterable<string>): string[] {
  const seen = new Map<string, { entry: Entry; position: number }>();
  return Array.from(statements).filter((statement, i) => {
    const [entry, position] = [toEntry(statement), i + 1];
    if (entry.kind === 'other') return true;
    const key = hasName(entry) ? identityKey(entry) : statement;
    const first = seen.get(key);
    if (first && !isSameMeaning(first.entry.statement, statement))
      throw new DuplicateNameError(
        `statement ${first.position} (${displayName(first.entry)}) and statement ${position} (${displayName(entry)}) have the same name and different definitions; remove one of them`,
      );
    if (!first) seen.set(key, { entry, position });
    return !first;
  });
}

/** Whether two statements have the same meaning, so that nothing is lost if one is removed. */
function isSameMeaning(one: string, other: string): boolean {
  const { differences, notComparable } = compareStatements(one, other);
  return differences.length === 0 && notComparable.length === 0;
}
