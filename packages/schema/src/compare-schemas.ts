/*! Two schemas compared, object by object; the order of their statements does not matter. */
import { type CompareOptions, compareStatements, type StatementComparison } from '@sqlpipe/ddl';
import { hasName, type Identity, identityKey, meaningful } from '@sqlpipe/sql';
import { Catalog, dumpOrder, type Entry } from './catalog.js';

/** What one schema has and the other has not, or has in another way: one statement or both. */
export interface Difference {
  identity: Identity;
  a?: string;
  b?: string;
  /** How the two differ, where there are two. */
  comparison?: StatementComparison;
}

/** What comparing two schemas came to. */
export interface SchemaComparison {
  /** What A has, in dump order, then what only B has, in dump order. */
  differences: Difference[];
  /** The number of objects and other statements of both. */
  total: number;
  /** Properties of objects that are the same otherwise, and that can not be compared. */
  notComparable: { identity: Identity; properties: string[] }[];
}

/** What is known of the servers that two schemas are for. */
export interface CompareSchemasOptions {
  defaults?: CompareOptions['defaults'];
  /** Whether another owner is no difference. */
  ignoreOwner?: boolean;
}

/**
 * Compares two schemas. Objects are compared by name, in any case. Memberships, assumptions, grants and what makes no object
 * have no name of their own: they are sets of statements, in which white space and comments do not matter.
 */
export function compareSchemas(
  a: Iterable<string>,
  b: Iterable<string>,
  { defaults, ignoreOwner = false }: CompareSchemasOptions = {},
): SchemaComparison {
  const [inA, inB] = [new Catalog(a), new Catalog(b)];
  const options = (catalog: Catalog): CompareOptions => ({
    ...(defaults && { defaults }),
    findTable: name => catalog.object(name)?.statement,
  });
  const [byKeyA, byKeyB] = [byKey(inA), byKey(inB)];
  const result: SchemaComparison = { differences: [], total: byKeyA.size, notComparable: [] };
  for (const [key, { statement, ...identity }] of byKeyA) {
    const other = byKeyB.get(key)?.statement;
    if (other === undefined) result.differences.push({ identity, a: statement });
    else if (hasName(identity)) {
      const comparison = withoutOwner(compareStatements(statement, other, options(inA)), ignoreOwner);
      if (comparison.differences.length > 0) result.differences.push({ identity, a: statement, b: other, comparison });
      else if (comparison.notComparable.length > 0)
        result.notComparable.push({ identity, properties: comparison.notComparable });
    }
  }
  for (const [key, { statement, ...identity }] of byKeyB) {
    if (byKeyA.has(key)) continue;
    result.differences.push({ identity, b: statement });
    result.total++;
  }
  return result;
}

function withoutOwner(comparison: StatementComparison, ignoreOwner: boolean): StatementComparison {
  if (!ignoreOwner) return comparison;
  return { ...comparison, differences: comparison.differences.filter(({ property }) => property !== 'owner') };
}

const byKey = (catalog: Catalog): Map<string, Entry> => new Map(dumpOrder(catalog).map(entry => [keyOf(entry), entry]));

/** What makes two statements ones about the same thing. */
const keyOf = (entry: Entry): string =>
  hasName(entry) ? identityKey(entry) : Array.from(meaningful(entry.statement), ({ text }) => text).join(' ');
