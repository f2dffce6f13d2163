/*! One statement for each name: what several dumps, or a folder that was edited by hand, may not agree on. */
import { type Identity, identify, title } from '@sqlpipe/sql';
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
  const found = new Map<string, { nth: number; identity: Identity; statement: string }>();
  let nth = 0;
  return Array.from(statements).filter(statement => {
    nth++;
    const identity = identify(statement);
    if (identity.kind === 'other') return true;
    const name = hasName(identity) ? nameKey(identity) : statement;
    const before = found.get(name);
    if (before && before.statement !== statement)
      throw new Conflict(
        `statement ${before.nth} (${title(before.identity)}) and statement ${nth} (${title(identity)}) have one name and differ`,
      );
    if (!before) found.set(name, { nth, identity, statement });
    return !before;
  });
}
