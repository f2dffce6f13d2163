/*! Two schemas held against each other, object by object; the order of their statements does not count. */
import { type Identity, meaningful } from '@sqlpipe/sql';
import { Catalog, type Entry, inServiceOrder } from './catalog.js';
import { hasName, nameKey } from './kinds.js';
import { isSame } from './same.js';

/** What one schema has and the other has not, or has in another way: one statement or both. */
export interface Difference {
  identity: Identity;
  a?: string;
  b?: string;
}

/**
 * What two schemas differ in: what A has, in the service's order, then what only B has, in the same order.
 * Objects are held against each other by name, in any case. Memberships, assumptions, grants and what makes no object
 * have no name of their own: they are sets of statements, in which white space and comments do not count.
 *
 * @param same whether two statements of one name mean the same
 */
export function differences(a: Iterable<string>, b: Iterable<string>, same = isSame): Difference[] {
  const [inA, inB] = [byKey(a), byKey(b)];
  const found: Difference[] = [];
  for (const [key, { statement, ...identity }] of inA) {
    const other = inB.get(key)?.statement;
    if (other === undefined) found.push({ identity, a: statement });
    else if (hasName(identity) && !same(statement, other)) found.push({ identity, a: statement, b: other });
  }
  for (const [key, { statement, ...identity }] of inB) if (!inA.has(key)) found.push({ identity, b: statement });
  return found;
}

const byKey = (statements: Iterable<string>): Map<string, Entry> =>
  new Map(inServiceOrder(new Catalog(statements)).map(entry => [key(entry), entry]));

/** What makes two statements ones about the same thing. */
const key = (entry: Entry): string =>
  hasName(entry) ? nameKey(entry) : Array.from(meaningful(entry.statement), ({ text }) => text).join(' ');
