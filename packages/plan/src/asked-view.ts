/*! Finds what B's server is asked about the rows of a materialized view, and about rows that a TTL has expired. */
import { findColumn, findReferencesOfQuery } from '@sqlpipe/ddl';
import type { Enforcement } from '@sqlpipe/engine';
import { foldCase, isSameName } from '@sqlpipe/sql';
import { tableOfRebuild } from './rebuild-names.js';
import type { Task } from './task.js';
import { type CommonQuery, printWith, renameQuery } from './text/common-queries.js';
import type { printExpiredQuestion } from './text/expiry.js';
import { doubleQuote } from './text/statement-text.js';
import { isUnfilled } from './unfilled-marks.js';

/**
 * Finds the definition with which B's server can be asked about a materialized view. An interrupted plan may have renamed or dropped
 * what its query reads. Then the query is restated over the existing objects.
 */
export function findAskedView(name: string, task: Task) {
  const definition = task.before.definitionOf(name);
  if (definition?.kind !== 'materialized view') return undefined;
  const { body } = definition;
  const isRead =
    task.before.whyUnresolvable(name) === undefined &&
    findReferencesOfQuery(body).every(each => task.before.find(each) && !isUnfilled(each, task));
  return isRead ? definition : { ...definition, body: printWith(findFormer(body, task), body) };
}

/** Finds what the question about expired rows needs: the object as B has it with its new TTL, and the query of a view. */
export function findExpirable({ former, now }: Enforcement, task: Task): Parameters<typeof printExpiredQuestion> {
  const { name } = former;
  const timestamp = former.timestamp ?? task.before.catalogue.resolve(name)?.timestamp ?? now.timestamp;
  const retained = { name, timestamp, partitionBy: now.partitionBy, ttl: now.ttl };
  return former.kind === 'table' ? [retained] : [retained, findAskedView(name, task)?.body ?? former.body];
}

/** What a query reads that is not in B under the names in the query: renamed tables and columns, and views to be created again. */
function findFormer(body: string, task: Task, seen = new Set<string>()): CommonQuery[] {
  const { a, before, leftovers, renames } = task;
  /** Notes a name. @returns whether it is new */
  const note = (name: string): boolean => !seen.has(foldCase(name)) && seen.add(foldCase(name)) !== undefined;
  return findReferencesOfQuery(body).flatMap(name => {
    if (!note(name)) return [];
    const newName = [...renames.stated.objects].find(([from]) => isSameName(from, name))?.[1] ?? name;
    // A rebuild may have ended before its new table got the name.
    const rebuilt = [...leftovers].find(each => isSameName(tableOfRebuild(each), name)) ?? '';
    const now = before.find(name) ?? before.find(newName) ?? before.find(rebuilt);
    const view = now ? before.definitionOf(now.name) : a.definitionOf(newName);
    if (now?.kind === 'table') {
      const former = [...renames.stated.columns].filter(([from, to]) => findColumn(now, to) && !findColumn(now, from));
      const items = ['*', ...former.map(([from, to]) => `${doubleQuote(to)} ${doubleQuote(from)}`)];
      const isSame = isSameName(now.name, name) && former.length === 0;
      return isSame ? [] : [{ name, query: `SELECT ${items.join(', ')} FROM '${now.name}'` }];
    }
    if (view?.kind !== 'view' && view?.kind !== 'materialized view') return [];
    const isThere = now !== undefined && isSameName(now.name, name) && !isUnfilled(name, task);
    const read = isThere && view.kind === 'materialized view' ? [] : findFormer(view.body, task, seen);
    if (isThere) return read.length === 0 ? [] : [...read, { name, query: view.body, isView: true }];
    // A view that was created again may not be filled yet, so that its query stands for it.
    const created = { name: newName, query: view.body, isView: view.kind === 'view' };
    if (isSameName(name, newName)) return [...read, created];
    return [...read, ...(note(newName) ? [created] : []), renameQuery(created, name)];
  });
}
