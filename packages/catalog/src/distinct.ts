/*! One statement for each name: what several dumps, or a folder that was edited by hand, may not agree on. */
import { title } from '@sqlpipe/sql';
import { type Entry, entryOf } from './catalog.js';
import { hasName, nameKey } from './kinds.js';

/** Two statements that make different things of one name; the message names both. */
export class Conflict extends Error {
  readonly code = 'DAMAGED';
}

/**
 * The statements, each once. Objects share one space of names, as do users, groups and service accounts; access
 * control has no names of its own; and what makes nothing (ALTER, INSERT, …) is kept as often as it comes.
 *
 * @throws Conflict where two of one name differ
 */
export function distinct(statements: Iterable<string>): string[] {
  const found = new Map<string, { entry: Entry; nth: number }>();
  return Array.from(statements).filter((statement, i) => {
    const [entry, nth] = [entryOf(statement), i + 1];
    if (entry.kind === 'other') return true;
    const key = hasName(entry) ? nameKey(entry) : statement;
    const before = found.get(key);
    if (before && before.entry.statement !== statement)
      throw new Conflict(
        `statement ${before.nth} (${title(before.entry)}) and statement ${nth} (${title(entry)}) have one name and differ: leave one of them out`,
      );
    if (!before) found.set(key, { entry, nth });
    return !before;
  });
}
