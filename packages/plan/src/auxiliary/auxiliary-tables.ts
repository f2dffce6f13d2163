/*!
 * The tables that a plan leaves if it is interrupted: marks, and those of rebuilds (rebuild-names.ts).
 *
 * A server does not fill a view that is created as DEFERRED. If a plan is interrupted before the refresh, nothing shows that the view had
 * rows. So the plan creates an empty table, the mark, before it drops the view, and drops the mark after the refresh.
 */
import { createHash } from 'node:crypto';
import { MAX_NAME_LENGTH } from '@sqlpipe/ddl/parser';
import type { Engine } from '@sqlpipe/engine';
import type { Schema } from '@sqlpipe/schema';
import { foldCase, isNamedKind, isSameName, type NameSet } from '@sqlpipe/sql';
import { parseRebuildName } from './rebuild-names.js';

const SUFFIX = /_unfilled_[0-9a-f]{8}$/;

/** The name of the table that marks a view. The hash keeps it apart from other tables, also if the name of the view is cut. */
export function markOf(view: string): string {
  const suffix = `_unfilled_${createHash('sha256').update(foldCase(view)).digest('hex').slice(0, 8)}`;
  return view.slice(0, MAX_NAME_LENGTH - suffix.length).replace(/[\ud800-\udbff]$/, '') + suffix;
}

export interface MarkLookup {
  readonly a: Schema;
  readonly engineOfB: Engine;
}

/** Finds the view that a table marks. If the mark has a cut name, only a view of A or B shows the complete name. */
export function parseMark(table: string, { a, engineOfB }: MarkLookup): string | undefined {
  if (!SUFFIX.test(table)) return undefined;
  const view = table.replace(SUFFIX, '');
  if (markOf(view) === table) return view;
  const views = [...a.entries.filter(({ kind }) => isNamedKind(kind)), ...engineOfB.catalogue.list()];
  return views.find(({ name }) => isSameName(markOf(name), table))?.name;
}

export const isMarked = (name: string, { a, engineOfB }: MarkLookup): boolean =>
  a.findObject(name) !== undefined && engineOfB.find(markOf(name)) !== undefined;

/** Whether an interruption has left a view of B empty, or not completely filled. Only a mark shows it of a DEFERRED view. */
export function isUnfilled(name: string, lookup: MarkLookup): boolean {
  const view = lookup.engineOfB.find(name);
  if (view?.kind !== 'materialized view') return false;
  const { wasNeverRefreshed, isPartlyRefreshed, isUnstarted, refresh } = view;
  if (isUnstarted && !refresh.deferred) return true;
  return Boolean(wasNeverRefreshed || isPartlyRefreshed) && isMarked(name, lookup);
}

export interface AuxiliaryTables extends MarkLookup {
  /** The tables whose rebuild was interrupted between its two RENAMEs, if this plan does not finish it (`findTablesBetweenRenames`). */
  readonly tablesBetweenRenames: NameSet;
  /** The new tables that interrupted rebuilds have left, if this plan finishes or repeats these rebuilds (`findLeftovers`). */
  readonly leftovers: NameSet;
  readonly tablesToRebuild: NameSet;
}

/** Whether a plan has left a table: a mark, a table of an interrupted rebuild, or the old table of a table in `tablesToRebuild`. */
export function isAuxiliaryTable(name: string, tables: AuxiliaryTables): boolean {
  const { a, tablesBetweenRenames, leftovers, tablesToRebuild } = tables;
  if (a.findObject(name)) return false;
  const { table = '', role } = parseRebuildName(name) ?? {};
  const isOldTable = role === 'old' && tablesToRebuild.has(table);
  return isOldTable || tablesBetweenRenames.has(table) || leftovers.has(name) || parseMark(name, tables) !== undefined;
}
