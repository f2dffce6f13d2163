import { isSameName, type Kind, type KindAndName, kindKeywords, NameMap, type ObjectKind } from '@sqlpipe/sql';
import { COLUMN_PROPERTIES, type ColumnAlteration, findColumnProperty } from '../columns/column-properties.js';
import { addTimestampToIndex, renameInIndex } from '../columns/indexes.js';
import { printAddedColumn } from '../columns/type.js';
import type { Column, Definition, TableDefinition } from '../definition.js';
import { quoteColumn } from '../parser/names.js';
import {
  ALL_PROPERTIES,
  findProperty,
  type PropertyAlteration,
  type PropertyName,
  propertiesOf,
} from '../properties/object-properties.js';
import { printOwner } from '../properties/owner.js';
import { parseColumnPropertyName, type Unalterable } from '../property.js';

type StructureAlteration =
  | { readonly action: 'add column'; readonly column: Column; readonly owner?: string | undefined }
  | { readonly action: 'drop column'; readonly column: string }
  | { readonly action: 'rename column'; readonly column: string; readonly to: string }
  | { readonly action: 'query'; readonly body: string };

/** One action of ALTER on one object, such as `add column` or `format`. */
export type Alteration = StructureAlteration | ColumnAlteration | PropertyAlteration;

interface ActionRules<A extends Alteration = Alteration, D extends Definition = Definition> {
  readonly permissions: readonly [string, ...string[]];
  permission?(alteration: A): string;
  /** Prints the text after the name of the object. */
  print(alteration: A): string;
  /** The fields that the ALTER changes. By default, these are the fields of the alteration. */
  apply?(definition: D, alteration: A): Partial<D>;
  /** By default, it works on tables. */
  worksOn?(kind: ObjectKind): boolean;
}

/** The actions that change what is no property: the list of columns and the query of a view. */
const STRUCTURE_ACTIONS: {
  readonly [A in StructureAlteration as A['action']]: ActionRules<A, TableDefinition>;
} = {
  'add column': {
    permissions: ['ADD COLUMN'],
    print: ({ column, owner }) =>
      `ADD COLUMN ${quoteColumn(column.name)}${printAddedColumn(column)}${printOwner(owner)}`,
    apply(table, { column }) {
      const added = addTimestampToIndex({ ...column, dedup: false }, table.timestamp);
      return findColumn(table, added.name) ? {} : { columns: [...table.columns, added] };
    },
  },
  // DROP COLUMN also removes a dedup key (observed on 9.3.4).
  'drop column': {
    permissions: ['DROP COLUMN'],
    print: ({ column }) => `DROP COLUMN ${quoteColumn(column)}`,
    apply: ({ columns, timestamp }, { column }) => ({
      columns: columns.filter(({ name }) => !isSameName(name, column)),
      timestamp: isSameName(timestamp, column) ? undefined : timestamp,
    }),
  },
  'rename column': {
    permissions: ['RENAME COLUMN'],
    print: ({ column, to }) => `RENAME COLUMN ${quoteColumn(column)} TO ${quoteColumn(to)}`,
    apply: ({ columns, timestamp }, { column, to }) => ({
      columns: columns.map(each =>
        renameInIndex(isSameName(each.name, column) ? { ...each, name: to } : each, column, to),
      ),
      timestamp: isSameName(timestamp, column) ? to : timestamp,
    }),
  },
  query: { permissions: ['ALTER VIEW'], print: ({ body }) => `AS (\n${body}\n)`, worksOn: kind => kind === 'view' },
};

const columnRules = ({
  alter,
}: (typeof COLUMN_PROPERTIES)[number]): ActionRules<ColumnAlteration, TableDefinition> => ({
  ...alter,
  print: each => `ALTER COLUMN ${quoteColumn(each.column)} ${alter.print(each)}`,
  worksOn: kind => kind === 'table' || (kind === 'materialized view' && alter.worksOnViews === true),
  // A server knows the columns of a materialized view, although no statement names them.
  apply({ columns, timestamp }: Partial<TableDefinition>, alteration) {
    const change = (column: Column) =>
      isSameName(column.name, alteration.column)
        ? addTimestampToIndex(alter.apply(column, alteration), timestamp)
        : column;
    return columns ? { columns: columns.map(change) } : {};
  },
});

const hasAction = (action: string) => (kind: ObjectKind) =>
  propertiesOf(kind).some(({ alter }) => alter?.actions.some(each => each === action) === true);

const ACTION_RULES: ReadonlyMap<string, ActionRules> = new Map<string, ActionRules>([
  ...Object.entries(STRUCTURE_ACTIONS),
  ...COLUMN_PROPERTIES.flatMap(each => each.alter.actions.map(action => [action, columnRules(each)] as const)),
  ...ALL_PROPERTIES.flatMap(
    ({ alter }) => alter?.actions.map(action => [action, { ...alter, worksOn: hasAction(action) }] as const) ?? [],
  ),
]);

const rulesOf = ({ action }: Alteration) => ACTION_RULES.get(action) as ActionRules;

/** The permission that an ALTER requires. */
export function permissionOfAlteration(alteration: Alteration): string {
  const { permissions, permission } = rulesOf(alteration);
  return permission?.(alteration) ?? permissions[0];
}

/** The permissions that any ALTER can require. */
export const ALTER_PERMISSIONS: readonly string[] = [...ACTION_RULES.values()].flatMap(
  ({ permissions }) => permissions,
);

/** Why differences that no clause states cannot be altered; of a column, only the case of its name can differ. */
const UNALTERABLE = new Map<string, Unalterable>([
  ['name', { reason: 'changing only the case of a name needs two renames' }],
  ['statement', { reason: 'compared as text: its syntax is unknown' }],
  ['credentials', { reason: 'no server shows them' }],
]);

/** Why no ALTER sets a property of an object or a column, or not to every value; undefined if one does. */
export const findUnalterable = (property: PropertyName, kind: Kind): Unalterable | undefined =>
  (findProperty(property, kind) ?? findColumnProperty(property))?.unalterable ??
  UNALTERABLE.get(parseColumnPropertyName(property)?.suffix.trim() ?? property);

/** An ALTER of one object. */
export interface Alter {
  readonly kind: Definition['kind'];
  readonly name: string;
  readonly alteration: Alteration;
}

/** Prints the statement with its semicolon. Without the semicolon, QuestDB 9.3.4 fails to read `START '…'` at the end. */
export function printAlter({ kind, name, alteration }: Alter): string {
  return `ALTER ${kindKeywords(kind)} '${name}' ${rulesOf(alteration).print(alteration)};`;
}

/** Prints the statement that ends a suspension, without its semicolon. A server rejects it with the keywords of another kind. */
export const printResumeWal = ({ kind, name }: KindAndName): string =>
  `ALTER ${kindKeywords(kind)} '${name}' RESUME WAL`;

/** Returns the definition after an ALTER; unchanged if the ALTER is impossible, for example of a missing column. */
export function applyAlteration<T extends Definition>(definition: T, alteration: Alteration): T {
  const { worksOn = kind => kind === 'table', apply } = rulesOf(alteration);
  const { action: _, ...fields } = alteration;
  return worksOn(definition.kind) ? { ...definition, ...(apply?.(definition, alteration) ?? fields) } : definition;
}

/** Finds a column by its name, in any case. */
export function findColumn<C extends Column>({ columns }: { readonly columns: readonly C[] }, name: string) {
  // With more columns, a table gets an index by name. Otherwise, finding each of its columns takes quadratic time.
  if (columns.length < 100) return columns.find(column => isSameName(column.name, name));
  const byName = indexes.get(columns) ?? new NameMap(columns.toReversed().map(each => [each.name, each]));
  indexes.set(columns, byName);
  return byName.get(name) as C | undefined;
}

/** A change of columns makes a new array, so an index stays valid. */
const indexes = new WeakMap<readonly Column[], NameMap<Column>>();
