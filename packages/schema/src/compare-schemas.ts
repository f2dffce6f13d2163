import {
  type CompareOptions,
  type Comparison,
  compareStatements,
  type PropertyDifference,
  printRight,
  type Right,
} from '@sqlpipe/ddl';
import { foldCase, identify, isNamedKind, namespaceKey, type StatementIdentity, significantTokens } from '@sqlpipe/sql';
import { type Health, type HealthProblem, problemsOf } from './health.js';
import { type IgnoredDifference, IgnoreRules } from './ignore-rules.js';
import { RightSet } from './right-set.js';
import { dumpOrder, Schema } from './schema.js';

/** An object or statement that is only in one schema, or that is different in the two. */
export interface SchemaDifference {
  identity: StatementIdentity;
  a?: string;
  b?: string;
  comparison?: Comparison;
}

/** Which of the two schemas contain the object. */
export const differenceResult = ({ a, b }: Pick<SchemaDifference, 'a' | 'b'>): 'only-a' | 'only-b' | 'differs' =>
  b === undefined ? 'only-a' : a === undefined ? 'only-b' : 'differs';

/** The result of comparing two schemas. */
export interface SchemaComparison {
  /** First the differences of what A contains, in dump order; then what only B contains, in dump order. */
  differences: SchemaDifference[];
  /** The number of objects and other statements that are in A, in B or in both. */
  total: number;
  /** The properties that cannot be compared, of objects without other differences. */
  notComparable: { identity: StatementIdentity; properties: string[] }[];
  /** The objects that do not work in A, then those in B. What is ignored or, in B, left out as extra is not listed. */
  problems: ComparedProblem[];
  ignored: IgnoredDifference[];
}

/** An object that is invalid or suspended in one of the two schemas. */
export interface ComparedProblem extends HealthProblem {
  readonly side: 'a' | 'b';
}

interface CompareSchemasOptions {
  /** What the servers of the two schemas fill in if a statement omits it. */
  defaults?: CompareOptions['defaults'];
  ignoreOwner?: boolean;
  ignoreExtra?: boolean;
  /** What the servers of the two schemas report of their objects. */
  health?: readonly [a: Health | undefined, b: Health | undefined];
  ignore?: IgnoreRules | undefined;
}

/** Compares objects and principals by name in any case, rights one permission at a time, and other statements by their tokens. */
export function compareSchemas(a: Iterable<string>, b: Iterable<string>, given: CompareSchemasOptions = {}) {
  const { defaults, ignoreOwner, ignoreExtra, health = [undefined, undefined], ignore = new IgnoreRules() } = given;
  const [schemaA, schemaB] = [new Schema(a), new Schema(b)];
  const options = {
    defaults,
    findTable: (name: string) => schemaA.findObject(name)?.statement,
    findTableOfB: (name: string) => schemaB.findObject(name)?.statement,
  };
  const [itemsA, itemsB] = [listItems(schemaA), listItems(schemaB)];
  const { size: total } = itemsA.items;
  const result: SchemaComparison = { differences: [], total, notComparable: [], problems: [], ignored: [] };
  const add = (difference: SchemaDifference): void => {
    const { identity, a: statement, b: other = '' } = difference;
    if (!ignore.ignoresObject({ ...identity, statement: statement ?? other })) result.differences.push(difference);
    else result.ignored.push({ identity, ...(statement !== undefined && { a: statement }) });
  };
  for (const [key, { statement, right, identity }] of itemsA.items) {
    const other = itemsB.items.get(key)?.statement;
    if (!itemsB.has(key, right)) add({ identity, a: statement });
    else if (other !== undefined && isNamedKind(identity.kind)) {
      const found = compareStatements(statement, other, options);
      const properties = found.differences.filter(({ property }) => !ignoreOwner || property !== 'owner');
      const isIgnored = ({ property }: PropertyDifference) => ignore.ignoresProperty(identity, property);
      for (const { property } of properties.filter(isIgnored))
        result.ignored.push({ identity, property, a: statement });
      const comparison = { ...found, differences: properties.filter(each => !isIgnored(each)) };
      if (comparison.differences.length > 0) add({ identity, a: statement, b: other, comparison });
      else if (comparison.notComparable.length > 0)
        result.notComparable.push({ identity, properties: comparison.notComparable });
    }
  }
  const addProblems = (side: 'a' | 'b', { identity, statement }: Item): void => {
    for (const problem of problemsOf(identity, health[side === 'a' ? 0 : 1] ?? {}))
      if (ignore.ignoresProperty(identity, problem.state)) result.ignored.push({ identity, property: problem.state });
      else if (!ignore.ignoresObject({ ...identity, statement })) result.problems.push({ side, ...problem });
  };
  for (const item of itemsA.items.values()) addProblems('a', item);
  for (const [key, item] of itemsB.items) {
    const isExtra = !itemsA.has(key, item.right);
    if (isExtra) result.total++;
    if (isExtra && ignoreExtra) continue;
    if (isExtra) add({ identity: item.identity, b: item.statement });
    addProblems('b', item);
  }
  return result;
}

/** A part of a schema: a statement, or one of the rights that a statement gives, printed as a statement. */
interface Item {
  statement: string;
  identity: StatementIdentity;
  right?: Right;
}

/** Lists the items of a schema in dump order. Two statements have the same key if they create the same object, or are the same. */
function listItems(schema: Schema) {
  const items = new Map<string, Item>();
  const rightSet = new RightSet();
  for (const entry of dumpOrder(schema)) {
    const { statement, ...identity } = entry;
    const rights = schema.rightsOf(entry);
    if (!rights) {
      const words = () => Array.from(significantTokens(statement), ({ text }) => text);
      items.set(isNamedKind(entry.kind) ? namespaceKey(entry) : words().join(' '), { statement, identity });
    }
    for (const right of rights ?? []) {
      const printed = printRight(right);
      items.set(foldCase(printed), { statement: printed, identity: identify(printed), right });
      rightSet.add(right);
    }
  }
  // A right of the other schema may be included in a wider right.
  const has = (key: string, right: Right | undefined) => (right ? rightSet.includes(right) : items.has(key));
  return { items, has };
}
