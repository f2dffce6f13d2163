/*!
 * The tables that a plan leaves if it is interrupted.
 *
 * A rebuild of `t` copies it to `t_new_1a2b3c4d`, then renames `t` to `t_before_1a2b3c4d` and the new table to `t`. By the hash of both
 * definitions, a later plan recognizes an interrupted rebuild. A hash is never a number: `t_before_20240101` is a user's table.
 *
 * A server does not fill a view that is created as DEFERRED. If a plan is interrupted before the refresh, nothing shows that the view had
 * rows. So the plan creates an empty table, the mark, before it drops the view, and drops the mark after the refresh.
 */
import { createHash } from 'node:crypto';
import { printDefinition, type TableDefinition } from '@sqlpipe/ddl';
import { MAX_NAME_LENGTH } from '@sqlpipe/ddl/parser';
import type { Engine } from '@sqlpipe/engine';
import type { Schema } from '@sqlpipe/schema';
import { foldCase, isNamedKind, isSameName, NameSet } from '@sqlpipe/sql';

export interface AuxiliaryTables {
  readonly a: Schema;
  /** An engine with the objects of B. */
  readonly engineOfB: Engine;
  /** The new tables that interrupted rebuilds have left, if this plan finishes or repeats these rebuilds. */
  readonly leftovers: NameSet;
  /** The tables of A whose rebuild was interrupted between its two RENAMEs, if this plan does not finish it. They are not created. */
  readonly tablesBetweenRenames: NameSet;
  readonly tablesToRebuild: NameSet;
}

export const createRebuildNames = (table: string, hash: string) => ({
  newName: `${table}_new_${hash}`,
  keptName: `${table}_before_${hash}`,
});

export function parseRebuildName(name: string): { table: string; role: 'new' | 'old'; hash: string } | undefined {
  const [, table, role, hash] = /^(.+)_(new|before)_(?!\d+$)([0-9a-f]{8})$/s.exec(name) ?? [];
  return table && hash ? { table, role: role === 'new' ? 'new' : 'old', hash } : undefined;
}

export const findRebuildTables = ({ catalogue }: Engine, role: 'new' | 'old') =>
  catalogue.list().flatMap(({ name }) => {
    const parsed = parseRebuildName(name);
    return parsed?.role === role ? [{ name, ...parsed }] : [];
  });

/** @param earlierCount how often the same rebuild was made before */
const hashRebuild = (wanted: TableDefinition, current: TableDefinition, earlierCount: number): string =>
  createHash('sha256')
    .update(printDefinition(wanted))
    .update(printDefinition({ ...current, name: wanted.name }))
    .update(earlierCount === 0 ? '' : String(earlierCount))
    .digest('hex')
    .slice(0, 8)
    .replace(/^\d(\d+)$/, 'a$1');

/** If the same rebuild was made before, its old table may still have one of the names. Then another hash is needed. */
export function findUnusedHash(wanted: TableDefinition, current: TableDefinition, engine: Engine): string {
  for (let earlierCount = 0; ; earlierCount++) {
    const hash = hashRebuild(wanted, current, earlierCount);
    if (!Object.values(createRebuildNames(current.name, hash)).some(name => engine.find(name))) return hash;
  }
}

/** Whether a hash is that of a rebuild of a table, also if the same rebuild was made before. */
export function isRebuildHash(hash: string, wanted: TableDefinition, current: TableDefinition, engine: Engine) {
  for (let earlierCount = 0; ; earlierCount++) {
    const expected = hashRebuild(wanted, current, earlierCount);
    if (expected === hash) return true;
    if (!engine.find(createRebuildNames(wanted.name, expected).keptName)) return false;
  }
}

/** Finds what interrupted rebuilds have left. Unless this plan makes the same rebuild, the rows of its new table may be needed. */
export function findInterruptedRebuilds(a: Schema, engineOfB: Engine, tablesToRebuild: NameSet) {
  const [leftovers, tablesBetweenRenames] = [new NameSet(), new NameSet()];
  for (const { name, table, hash } of findRebuildTables(engineOfB, 'new')) {
    if (a.findObject(name)) continue;
    const { keptName } = createRebuildNames(table, hash);
    const wanted = a.definitionOf(table);
    const isSameRebuild = [table, keptName].some(source => {
      const former = engineOfB.definitionOf(source);
      return wanted?.kind === 'table' && former?.kind === 'table' && isRebuildHash(hash, wanted, former, engineOfB);
    });
    if (isSameRebuild && tablesToRebuild.has(table)) leftovers.add(name);
    else if (a.findObject(table)?.kind === 'table' && !engineOfB.find(table) && engineOfB.find(keptName))
      tablesBetweenRenames.add(table);
  }
  return { leftovers, tablesBetweenRenames };
}

const SUFFIX = /_unfilled_[0-9a-f]{8}$/;

/** The name of the table that marks a view. The hash keeps it apart from other tables, also if the name of the view is cut. */
export function markOf(view: string): string {
  const suffix = `_unfilled_${createHash('sha256').update(foldCase(view)).digest('hex').slice(0, 8)}`;
  return view.slice(0, MAX_NAME_LENGTH - suffix.length).replace(/[\ud800-\udbff]$/, '') + suffix;
}

/** Finds the view that a table marks. If the mark has a cut name, only a view of A or B shows the complete name. */
export function parseMark(table: string, { a, engineOfB }: AuxiliaryTables): string | undefined {
  if (!SUFFIX.test(table)) return undefined;
  const view = table.replace(SUFFIX, '');
  if (markOf(view) === table) return view;
  const views = [...a.entries.filter(({ kind }) => isNamedKind(kind)), ...engineOfB.catalogue.list()];
  return views.find(({ name }) => isSameName(markOf(name), table))?.name;
}

export const isMarked = (name: string, { a, engineOfB }: AuxiliaryTables): boolean =>
  a.findObject(name) !== undefined && engineOfB.find(markOf(name)) !== undefined;

/** Whether an interruption has left a view of B empty, or not completely filled. Only a mark shows it of a DEFERRED view. */
export function isUnfilled(name: string, tables: AuxiliaryTables): boolean {
  const view = tables.engineOfB.find(name);
  if (view?.kind !== 'materialized view') return false;
  const { wasNeverRefreshed, isPartlyRefreshed, isUnstarted, refresh } = view;
  if (isUnstarted && !refresh.deferred) return true;
  return Boolean(wasNeverRefreshed || isPartlyRefreshed) && isMarked(name, tables);
}

/** Whether a plan has left a table: a mark, a table of an interrupted rebuild, or the old table of a table in `tablesToRebuild`. */
export function isAuxiliaryTable(name: string, tables: AuxiliaryTables): boolean {
  const { a, tablesBetweenRenames, leftovers, tablesToRebuild } = tables;
  if (a.findObject(name)) return false;
  const { table = '', role } = parseRebuildName(name) ?? {};
  const isOldTable = role === 'old' && tablesToRebuild.has(table);
  return isOldTable || tablesBetweenRenames.has(table) || leftovers.has(name) || parseMark(name, tables) !== undefined;
}
