/*! Two schemas compared, object by object; the order of their statements does not matter. */
import {
  type CompareOptions,
  compareStatements,
  parseRights,
  printRight,
  type Right,
  RightSet,
  type StatementComparison,
} from '@sqlpipe/ddl';
import { foldCase, givesRight, hasName, type Identity, identify, identityKey, significantTokens } from '@sqlpipe/sql';
import { Catalog, dumpOrder, type Entry } from './catalog.js';

/** What one schema has and the other has not, or has in another way: one statement or both. */
export interface Difference {
  identity: Identity;
  a?: string;
  b?: string;
  /** How the two differ, where there are two. */
  comparison?: StatementComparison;
}

/** The result of comparing two schemas. */
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
 * Compares two schemas. Objects, users, groups and service accounts are compared by name, in any case. Memberships,
 * assumptions and grants are sets of rights, one permission at a time; other statements are compared by their tokens.
 */
export function compareSchemas(
  a: Iterable<string>,
  b: Iterable<string>,
  { defaults, ignoreOwner = false }: CompareSchemasOptions = {},
): SchemaComparison {
  const [inA, inB] = [new Catalog(a), new Catalog(b)];
  const options = (catalog: Catalog): CompareOptions => ({
    ...(defaults && { defaults }),
    findTable: name => catalog.findObject(name)?.statement,
  });
  const [itemsA, itemsB] = [new SchemaItems(inA), new SchemaItems(inB)];
  const result: SchemaComparison = { differences: [], total: itemsA.items.size, notComparable: [] };
  for (const [key, { statement, right, identity }] of itemsA.items) {
    const other = itemsB.items.get(key)?.statement;
    if (!itemsB.has(key, right)) result.differences.push({ identity, a: statement });
    else if (other !== undefined && hasName(identity)) {
      const comparison = dropOwnerDifference(compareStatements(statement, other, options(inA)), ignoreOwner);
      if (comparison.differences.length > 0) result.differences.push({ identity, a: statement, b: other, comparison });
      else if (comparison.notComparable.length > 0)
        result.notComparable.push({ identity, properties: comparison.notComparable });
    }
  }
  for (const [key, { statement, right, identity }] of itemsB.items) {
    if (itemsA.has(key, right)) continue;
    result.differences.push({ identity, b: statement });
    result.total++;
  }
  return result;
}

/** Something of a schema: a statement, or one of the rights that a statement gives, in its printed form. */
interface Item {
  statement: string;
  identity: Identity;
  right?: Right;
}

/** One of the two that are compared. */
class SchemaItems {
  /** By what makes two items ones about the same thing, in dump order. */
  readonly items = new Map<string, Item>();
  readonly #rights = new RightSet();

  constructor(catalog: Catalog) {
    for (const entry of dumpOrder(catalog)) {
      const { statement, ...identity } = entry;
      const rights = givesRight(entry.kind) ? parseRights(statement) : undefined;
      if (!rights) this.items.set(itemKey(entry), { statement, identity });
      for (const right of rights ?? []) {
        const printed = printRight(right);
        this.items.set(foldCase(printed), { statement: printed, identity: identify(printed), right });
        this.#rights.add(right);
      }
    }
  }

  /** Whether an item of the other one is here; a right may be part of a wider one. */
  has(key: string, right: Right | undefined): boolean {
    return right ? this.#rights.has(right) : this.items.has(key);
  }
}

function dropOwnerDifference(comparison: StatementComparison, ignoreOwner: boolean): StatementComparison {
  if (!ignoreOwner) return comparison;
  return { ...comparison, differences: comparison.differences.filter(({ property }) => property !== 'owner') };
}

/** What makes two statements ones about the same thing. */
const itemKey = (entry: Entry): string =>
  hasName(entry) ? identityKey(entry) : Array.from(significantTokens(entry.statement), ({ text }) => text).join(' ');
