import {
  type Alteration,
  COLUMN_OPTIONS,
  COLUMN_ORDER,
  COLUMN_TYPE,
  type Column,
  columnPropertyName,
  compareDefinitions,
  type Definition,
  expiresMoreRows,
  findColumn,
  hasNull,
  type PropertyName,
  printAlter,
  printFill,
  propertiesOf,
  type TableDefinition,
} from '@sqlpipe/ddl';
import { dumpOrder, type Entry } from '@sqlpipe/schema';
import { isSameName, NameMap } from '@sqlpipe/sql';
import { allAppliedAssertion } from '../queries/assertions.js';
import { findConversion, findPartitionConditions } from '../queries/row-conditions.js';
import { type Draft, findMisfitObstacle, findRowObstacle, formatUnalterable, toStatementChange } from './draft.js';
import { rebuildTable } from './rebuild.js';

const tableIn = ({ engine }: Draft, name: string) => engine.definitionOf(name) as TableDefinition;

/** Adds an ALTER after the assertions and statements that it needs, unless rows of the table forbid it. @returns whether it was added */
function alterTable(table: string, alteration: Alteration, properties: readonly PropertyName[], draft: Draft) {
  const current = tableIn(draft, table);
  const { name } = current;
  const statement = printAlter({ kind: 'table', name, alteration });
  const change = toStatementChange(statement, { kind: 'table', name }, properties);
  const conversion = findConversion(current, alteration);
  // Rows that are older than the column store no value. Such a row shows 0 for a BYTE, but NULL for an INT. So an UPDATE stores 0 first.
  const needsFill = conversion && !hasNull(conversion.from) && hasNull(conversion.to);
  const actions = needsFill ? ['fill', alteration.action] : [alteration.action];
  const obstacle = findObstacle(current, alteration, actions, draft);
  if (obstacle !== undefined) {
    draft.omit(change, ...obstacle);
    return false;
  }
  const partitionConditions = findPartitionConditions(current, actions, draft.context.version);
  const assertions = partitionConditions.filter(condition => !draft.hasStep(condition.statement));
  const unchanged = conversion ? draft.recordConversion(conversion) : [];
  // The assertions on values do not see rows that the server has not applied yet, but the ALTER converts those rows too.
  const applied = unchanged.length > 0 ? [allAppliedAssertion(name)] : [];
  const fill = needsFill ? [printFill(conversion, conversion.from)] : [];
  return draft.add(change, [...assertions, ...applied, ...unchanged, ...fill, statement]);
}

/** Why the plan leaves out an ALTER: it would harm rows, or the server does not execute it for such a table. */
function findObstacle(table: TableDefinition, alteration: Alteration, actions: readonly string[], { context }: Draft) {
  if (table.wal && alteration.action === 'rename column' && isSameName(alteration.column, table.timestamp))
    return formatUnalterable(table.name, { reason: 'the designated timestamp of a WAL table', needsNewTable: true });
  const tableOfB = { ...table, name: context.renames.nameBeforePlan(table.name) };
  const conversion = findConversion(table, alteration);
  return (
    findRowObstacle(findPartitionConditions(tableOfB, actions, context.version), context) ??
    (conversion && findMisfitObstacle(conversion, context))
  );
}

/** Whether it is a table of CREATE TABLE … AS (SELECT …). Its columns are not known, so the plan does not change it. */
export const isTableAsSelect = (wanted: Definition): boolean => 'query' in wanted && wanted.query !== undefined;

export function alterObject(entry: Entry, wanted: Definition, draft: Draft): void {
  const { name } = entry;
  const current = draft.engine.definitionOf(name) as Definition;
  if (wanted.kind === 'view') {
    const { differences } = draft.context.ignore.withoutIgnored(entry, compareDefinitions(wanted, current));
    const hasOtherQuery = differences.some(({ property }) => property === 'query');
    if (hasOtherQuery && !draft.alter('view', current.name, { action: 'query', body: wanted.body }, ['query']))
      draft.blocked.add(name);
  } else if (wanted.kind !== 'table') alterProperties(entry, wanted, draft);
  else if (draft.context.tablesToRebuild.has(name) && !differsOnlyByExpiry(wanted, current, draft))
    rebuildTable(entry, wanted, draft);
  else {
    alterColumns(wanted, draft);
    alterProperties(entry, wanted, draft);
    const altered = tableIn(draft, name);
    const keepsOldColumnName = [...draft.context.renames.columnRenamesOf(name).keys()].some(column =>
      findColumn(altered, column),
    );
    if (keepsOldColumnName && draft.omits(entry)) draft.blocked.add(name);
  }
}

/** If only the expiry of rows differs, no rebuild is needed: an ALTER at the end of the plan sets it. */
function differsOnlyByExpiry(wanted: TableDefinition, current: Definition, draft: Draft): boolean {
  const properties = propertiesOf(wanted.kind).flatMap(({ alter }) =>
    alter?.changesExpiry && alter.between(wanted, current, draft.engine.hasFeature) ? alter.sets : [],
  );
  return compareDefinitions(wanted, current).differences.every(({ property }) => properties.includes(property));
}

/** What makes the server drop more rows is set at the end only. What makes it keep more is set before a REFRESH drops such rows. */
function alterProperties(entry: Entry, wanted: Definition, draft: Draft, { isAtEnd = false } = {}): void {
  for (const { alter } of propertiesOf(wanted.kind)) {
    const current = draft.engine.definitionOf(entry.name);
    if (!alter || current?.kind !== wanted.kind) continue;
    if (isAtEnd && !alter.changesExpiry) continue;
    if (!isAtEnd && alter.changesExpiry && expiresMoreRows(current, wanted)) continue;
    // In a blocked object, a property that was left out is not tried again. Others, such as the retention, are altered.
    const isOmitted = draft.blocked.has(entry.name) && alter.sets.some(each => draft.omits(entry, each));
    const alteration = isOmitted ? undefined : alter.between(wanted, current, draft.engine.hasFeature);
    if (!alteration) continue;
    const differing = compareDefinitions(wanted, current).differences.map(({ property }) => property);
    const properties = alter.sets.filter(property => differing.includes(property));
    if (current.kind === 'table') alterTable(current.name, alteration, properties, draft);
    else draft.alter(current.kind, current.name, alteration, properties);
  }
}

/** Sets the properties that let the server drop rows. This comes late in a plan, because nothing undoes the loss of expired rows. */
export function alterExpiry(draft: Draft): void {
  for (const entry of dumpOrder(draft.context.a)) {
    const [wanted, current] = [draft.context.a.definitionOf(entry), draft.engine.definitionOf(entry.name)];
    if (wanted && wanted.kind === current?.kind && !isTableAsSelect(wanted))
      alterProperties(entry, wanted, draft, { isAtEnd: true });
  }
}

function alterColumns({ name: table, columns }: TableDefinition, draft: Draft): void {
  const unrenamed = renameColumns(table, draft);
  // If its rename was left out, a column has its old name. The ALTERs use the new name, so the engine rejects them, and each is listed.
  const findCurrent = ({ name }: Column) => findColumn(tableIn(draft, table), unrenamed.get(name) ?? name);
  const alterColumn = (column: Column, properties: typeof COLUMN_OPTIONS): void => {
    const current = findCurrent(column);
    for (const { suffix, alter } of current ? properties : [])
      for (const alteration of alter.between(column, current as Column))
        alterTable(table, alteration, [columnPropertyName(column.name, suffix)], draft);
  };
  for (const column of columns)
    if (!isSameName(column.name, tableIn(draft, table).timestamp)) alterColumn(column, [COLUMN_TYPE]);
  for (const wanted of columns) {
    if (findCurrent(wanted)) continue;
    // What ADD COLUMN accepts on every server. Parquet settings, and an index that is not BITMAP, need another ALTER.
    const { index, parquet: _, ...rest } = wanted;
    const column = { ...rest, ...(index?.capacity !== undefined && { index }), dedup: false };
    alterTable(table, { action: 'add column', column }, [columnPropertyName(column.name)], draft);
  }
  for (const column of columns) if (findCurrent(column)?.type === column.type) alterColumn(column, COLUMN_OPTIONS);
}

/** A column whose rename was left out stays, because it holds the values. */
export function dropColumns(wanted: TableDefinition, draft: Draft): void {
  const { columns, timestamp } = tableIn(draft, wanted.name);
  const renamed = [...draft.context.renames.columnRenamesOf(wanted.name).keys()];
  for (const { name } of columns) {
    const isUnrenamed = renamed.some(from => isSameName(from, name));
    if (!findColumn(wanted, name) && !isSameName(name, timestamp) && !isUnrenamed)
      alterTable(wanted.name, { action: 'drop column', column: name }, [columnPropertyName(name), 'dedup keys'], draft);
  }
}

/** @returns the renames that were left out: the old names by the new ones */
function renameColumns(table: string, draft: Draft): NameMap<string> {
  const unrenamed = new NameMap<string>();
  for (const [column, to] of draft.context.renames.columnRenamesOf(table)) {
    const current = tableIn(draft, table);
    const timestamp = isSameName(column, current.timestamp) ? ['designated timestamp' as const] : [];
    const names = [column, to].map(name => columnPropertyName(name));
    const properties: PropertyName[] = [...names, ...timestamp, 'dedup keys', COLUMN_ORDER];
    if (!findColumn(current, column) || findColumn(current, to)) continue;
    if (!alterTable(table, { action: 'rename column', column, to }, properties, draft)) unrenamed.set(to, column);
  }
  return unrenamed;
}
