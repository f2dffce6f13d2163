/*! Tables and views: makes room for names, renames, creates, alters, and drops what A lacks. */
import {
  compareDefinitions,
  type Definition,
  findColumn,
  keepRetention,
  printDefinition,
  propertiesOf,
  type TableDefinition,
} from '@sqlpipe/ddl';
import { dumpOrder, type Entry } from '@sqlpipe/schema';
import { displayName, foldCase, isObject, kindKeywords } from '@sqlpipe/sql';
import type { Draft } from './draft.js';
import { findRebuildLosses, findUncastable, isPartOfRebuild, rebuildTable } from './rebuild.js';
import { alterColumns, dropColumns } from './table-alterations.js';
import type { Task } from './task.js';
import { describe } from './text/statement-text.js';
import { omitProperty } from './unalterable.js';
import { alterRows } from './values.js';

const dropStatement = ({ kind, name }: Pick<Entry, 'kind' | 'name'>): string => `DROP ${kindKeywords(kind)} '${name}';`;

/** Leaves out the objects whose renames contradict A: a change in place could turn one column or table into another. */
export function omitRefused({ a, requests }: Task, draft: Draft): void {
  for (const [name, reason] of requests.renames.refused) {
    const entry = a.findObject(name);
    draft.block(name);
    if (entry) draft.omit({ identity: entry, properties: [], what: displayName(entry) }, reason);
  }
}

/** Drops the objects whose names A uses for something else, and views that get another name, each before what it reads from. */
export function makeRoom({ a, b, requests }: Task, draft: Draft): void {
  const newNames = new Set([...requests.renames.objects.values()].map(foldCase));
  for (const entry of dumpOrder(b).reverse()) {
    if (!isObject(entry.kind)) continue;
    const newName = requests.renames.objects.get(foldCase(entry.name));
    const isRenamedTable = newName !== undefined && entry.kind === 'table' && a.findObject(newName)?.kind === 'table';
    const wanted = a.findObject(entry.name);
    const isOther = wanted !== undefined && wanted.kind !== entry.kind;
    const isInTheWay = newName !== undefined || isOther || newNames.has(foldCase(entry.name));
    if (isRenamedTable || !isInTheWay) continue;
    if (!draft.addStatement(dropStatement(entry), entry)) draft.block(entry.name, newName ?? entry.name);
  }
}

/** Renames tables. If the new name is still that of another table, the other table is renamed first. */
export function renameTables({ requests }: Task, draft: Draft): void {
  const pending = [...requests.renames.objects].filter(([from]) => draft.engine.find(from)?.kind === 'table');
  for (let isMore = true; isMore; ) {
    isMore = false;
    for (const rename of [...pending]) {
      const [from, to] = rename;
      const table = draft.engine.find(from);
      if (!table || draft.engine.find(to)) continue;
      pending.splice(pending.indexOf(rename), 1);
      isMore = true;
      const identity = { kind: table.kind, name: table.name, verb: 'RENAME' };
      if (draft.addStatement(`RENAME TABLE '${table.name}' TO '${to}';`, identity)) continue;
      draft.block(to);
      draft.omit(
        { identity: { ...identity, name: to }, properties: [], what: `table '${to}'` },
        `it is still called '${table.name}'`,
      );
    }
  }
  for (const names of pending) draft.block(...names);
}

/**
 * Creates and alters the objects of A, in dump order. Columns are dropped when no view reads them any longer, and before
 * materialized views are created, which would have to be refreshed after it.
 */
export function reconcileObjects(task: Task, draft: Draft): void {
  const entries = [...dumpOrder(task.a)].filter(({ kind }) => isObject(kind));
  const withRows = readersOfMaterializedViews(entries, task);
  const inTheirPlace = entries.filter(({ name }) => !draft.isBlocked(name));
  for (const entry of entries) if (!withRows.has(entry)) reconcile(entry, task, draft);
  for (const entry of inTheirPlace) dropExtraColumns(entry, task, draft);
  for (const entry of entries) if (withRows.has(entry)) reconcile(entry, task, draft);
}

/** The materialized views and live views, and all that reads from them. The entries are in dump order. */
function readersOfMaterializedViews(entries: readonly Entry[], { a }: Task): ReadonlySet<Entry> {
  const found = new Set<Entry>();
  for (const entry of entries)
    if (/^(materialized|live) view$/.test(entry.kind) || a.prerequisites(entry).some(each => found.has(each)))
      found.add(entry);
  return found;
}

function dropExtraColumns({ name }: Entry, task: Task, draft: Draft): void {
  const [wanted, now] = [task.a.definitionOf(name), draft.definitionOf(name)];
  if (wanted?.kind !== 'table' || now?.kind !== 'table' || task.requests.isToRebuild(name)) return;
  dropColumns(wanted, task, draft);
}

function reconcile(entry: Entry, task: Task, draft: Draft): void {
  const now = draft.engine.find(entry.name);
  const whole = { identity: entry, properties: [], what: displayName(entry) };
  if (draft.isBlocked(entry.name)) {
    if (now?.kind !== entry.kind && !draft.lists(entry)) draft.omit(whole, 'another object still has this name');
    return;
  }
  const missing = task.a.prerequisites(entry).find(({ name, kind }) => isObject(kind) && draft.isBlocked(name));
  if (missing) {
    draft.block(entry.name);
    if (!isSame(entry, task, draft)) draft.omit(whole, `it reads from ${displayName(missing)}, which is left out`);
    return;
  }
  if (!now) {
    const former = task.before.definitionOf(task.requests.renames.otherName(entry.name) ?? entry.name);
    if (!draft.addStatement(findCreation(entry, former, task).statement, entry)) draft.block(entry.name);
    return;
  }
  if (isSame(entry, task, draft)) return;
  const wanted = task.a.meaning(entry);
  if (!wanted || !draft.definitionOf(entry.name) || ('query' in wanted && wanted.query !== undefined))
    return draft.omit(whole, 'its syntax is unknown');
  if (mustRecreate(wanted, draft.definitionOf(entry.name), task)) recreate(entry, task, draft);
  else alter(entry, wanted, task, draft);
}

function isSame(entry: Entry, { a, ignore }: Task, draft: Draft): boolean {
  const [wanted, now] = [a.meaning(entry), draft.definitionOf(entry.name)];
  if (!wanted || !now) return draft.engine.statementOf(entry.name) === entry.statement;
  return compareDefinitions(wanted, now).differences.every(({ property }) => ignore.ignoresProperty(entry, property));
}

/** The properties that differ without a materialized or live view being recreated for it: no statement changes them. */
const KEPT: ReadonlySet<string> = new Set(['owner', 'name']);

/** Whether a materialized view or a live view has to be recreated, because no ALTER sets what differs. */
function mustRecreate(wanted: Definition, now: Definition | undefined, task: Task): boolean {
  const { kind } = wanted;
  if (now?.kind !== kind || kind === 'table' || kind === 'view') return false;
  return compareDefinitions(wanted, now).differences.some(({ property }) => {
    const alter = propertiesOf(kind).find(each => each.alter?.sets.includes(property))?.alter;
    const isAlterable = alter && (kind === 'live view' || alter.find(wanted, now, task) !== undefined);
    return !isAlterable && !KEPT.has(property);
  });
}

/** Drops an object and creates it as A has it: if one is not possible, neither is done. */
function recreate(entry: Entry, task: Task, draft: Draft): void {
  const { kind, name } = entry;
  // As B spells it: 9.3.4 does not show an invalid view under a name in another case.
  const statement = dropStatement({ kind, name: draft.engine.find(name)?.name ?? name });
  const change = { identity: entry, properties: [], what: `${describe(statement)}, which has to be recreated` };
  const creation = findCreation(entry, draft.definitionOf(name), task);
  if (!draft.add(change, [statement, creation.statement])) draft.block(name);
}

/**
 * What a plan creates for an object of A, and the statement. A materialized view that B had keeps its rows as long as before, since a
 * shorter time is a change of its own, and it is refreshed as before if that is ignored.
 */
export function findCreation(
  entry: Entry,
  former: Definition | undefined,
  { a, ignore }: Task,
): { readonly definition: Definition | undefined; readonly statement: string } {
  const definition = a.meaning(entry);
  if (definition?.kind !== 'materialized view' || former?.kind !== definition.kind)
    return { definition, statement: a.creation(entry) };
  const isRefreshIgnored = ignore.ignoresProperty(entry, 'refresh');
  const refreshed = isRefreshIgnored ? { ...definition, refresh: former.refresh } : definition;
  const kept = keepRetention(refreshed, former) ?? refreshed;
  return {
    definition: kept,
    statement: kept === definition ? a.creation(entry) : printDefinition(kept, { quoted: true }),
  };
}

function alter(entry: Entry, wanted: Definition, task: Task, draft: Draft): void {
  const { name } = entry;
  const { requests } = task;
  if (wanted.kind === 'view') {
    const now = draft.definitionOf(name) as Definition;
    if (
      compareDefinitions(wanted, now).differences.some(({ property }) => property === 'query') &&
      !draft.alter('view', now.name, { change: 'query', body: wanted.body }, ['query'])
    )
      draft.block(name);
  } else if (wanted.kind === 'table' && requests.isToRebuild(name) && !isOnlyRetained(wanted, draft.definitionOf(name)))
    rebuild(entry, wanted, task, draft);
  else if (wanted.kind === 'table') {
    alterColumns(wanted, task, draft);
    alterProperties(entry, wanted, task, draft);
    const now = draft.definitionOf(name) as TableDefinition;
    const isRenamed = [...requests.renames.columnsOf(name).keys()].every(column => !findColumn(now, column));
    if (!isRenamed && draft.lists(entry)) draft.block(name);
  } else alterProperties(entry, wanted, task, draft);
}

/** Whether a table differs in nothing but how long it keeps its rows, which is altered when a rebuild is complete. */
function isOnlyRetained(wanted: TableDefinition, now: Definition | undefined): boolean {
  const kept = now?.kind === 'table' ? keepRetention(wanted, now) : undefined;
  return kept !== undefined && now !== undefined && compareDefinitions(kept, now).differences.length === 0;
}

/** Makes the ALTERs that set properties: those after which rows can expire, or the others. */
function alterProperties(entry: Entry, wanted: Definition, task: Task, draft: Draft, expiresRows = false): void {
  for (const { alter } of propertiesOf(wanted.kind)) {
    const now = draft.definitionOf(entry.name);
    if (!alter || now?.kind !== wanted.kind || (alter.expiresRows ?? false) !== expiresRows) continue;
    // A table whose columns could not be renamed is blocked too; how long it keeps its rows does not depend on them.
    const isListed = draft.isBlocked(entry.name) && alter.sets.some(property => draft.lists(entry, property));
    const alteration = isListed ? undefined : alter.find(wanted, now, task);
    if (!alteration) continue;
    const differing = compareDefinitions(wanted, now).differences.map(({ property }) => property);
    const properties = alter.sets.filter(property => differing.includes(property));
    if (now.kind === 'table') alterRows(now, alteration, properties, task, draft);
    else draft.alter(now.kind, now.name, alteration, properties);
  }
}

function rebuild(entry: Entry, wanted: TableDefinition, { requests, ignore }: Task, draft: Draft): void {
  const now = draft.definitionOf(entry.name) as TableDefinition;
  const renamed = requests.renames.columnsOf(entry.name);
  const change = { identity: entry, properties: [], what: `rebuild of table '${now.name}'` };
  const uncastable = findUncastable(wanted, now, renamed);
  if (uncastable !== undefined) return draft.omit(change, uncastable);
  const keepsRetention = ignore.ignoresProperty(entry, 'TTL') && keepRetention(wanted, now) !== undefined;
  const losses = findRebuildLosses(wanted, now, renamed).filter(
    loss => !requests.mayLose(loss) && !(loss.loss === 'ttl' && keepsRetention),
  );
  const isTaken = (name: string) => draft.engine.find(name) !== undefined;
  if (losses.length === 0) draft.add(change, rebuildTable(wanted, now, renamed, isTaken));
  else draft.omissions.push({ ...change, reasons: ['the new table does not keep all that the old one has'], losses });
}

/** Changes for how long rows are kept, which may expire rows: after everything else, since it cannot be undone. */
export function alterRetention(task: Task, draft: Draft): void {
  for (const entry of dumpOrder(task.a)) {
    const [wanted, now] = [task.a.meaning(entry), draft.definitionOf(entry.name)];
    if (wanted && wanted.kind === now?.kind) alterProperties(entry, wanted, task, draft, true);
  }
}

/** Drops the objects that A lacks, each before the objects that it reads from. */
export function dropExtraObjects(task: Task, draft: Draft): void {
  const { a, b, requests, keepExtra } = task;
  if (keepExtra) return;
  for (const entry of dumpOrder(b).reverse()) {
    const isExtra =
      isObject(entry.kind) &&
      !a.findObject(entry.name) &&
      !task.ignore.ignoresObject(entry) &&
      !requests.renames.objects.has(foldCase(entry.name));
    if (isExtra && !isPartOfRebuild(entry.name, task)) draft.addStatement(dropStatement(entry), entry);
  }
}

/** Lists the differences that remain, and which no statement removes. */
export function omitUnalterable(task: Task, draft: Draft): void {
  for (const entry of task.a.entries) {
    const change = { identity: entry, properties: [], what: displayName(entry) };
    if (entry.kind === 'other') draft.omit(change, 'it creates no object that can be compared');
    const [wanted, now] = [task.a.meaning(entry), draft.definitionOf(entry.name)];
    if (!isObject(entry.kind) || draft.isBlocked(entry.name) || !wanted || !now || wanted.kind !== now.kind) continue;
    for (const difference of compareDefinitions(wanted, now).differences) {
      const { property } = difference;
      if (draft.lists(entry, property) || (property === 'owner' && task.ignoreOwner)) continue;
      if (!task.ignore.ignoresProperty(entry, property)) omitProperty(entry, difference, draft);
    }
  }
}
