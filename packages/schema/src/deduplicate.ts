/*! One statement for each name: what several dumps, or a folder that was edited by hand, may not agree on. */
import { compareStatements } from '@sqlpipe/ddl';
import { displayName, hasName, identityKey } from '@sqlpipe/sql';
import { type Entry, toEntry } from './catalog.js';

/** Two statements that make different things of one name; the message names both. */
export class DuplicateNameError extends Error {
  override readonly name = 'DuplicateNameError';
  readonly code = 'DAMAGED';
}

/**
 * The statements, each once: of two that mean the same the first is kept. Objects share one namespace, as do users,
 * groups and service accounts; grants and memberships have no names; other statements (ALTER, INSERT, …) are all kept.
 *
 * @throws DuplicateNameError where two of one name differ
 */
export function deduplicate(statements: Iterable<string>): string[] {
  const found = new Map<string, { entry: Entry; nth: number }>();
  return Array.from(statements).filter((statement, i) => {
    const [entry, nth] = [toEntry(statement), i + 1];
    if (entry.kind === 'other') return true;
    const key = hasName(entry) ? identityKey(entry) : statement;
    const before = found.get(key);
    if (before && !isSameMeaning(before.entry.statement, statement))
      throw new DuplicateNameError(
        `statement ${before.nth} (${displayName(before.entry)}) and statement ${nth} (${displayName(entry)}) have the same name and different definitions; remove one of them`,
      );
    if (!before) found.set(key, { entry, nth });
    return !before;
  });
}

/** Whether nothing of either is lost where one of them is left out. */
function isSameMeaning(one: string, other: string): boolean {
  const { differences, notComparable } = compareStatements(one, other);
  return differences.length === 0 && notComparable.length === 0;
}
