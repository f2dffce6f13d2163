/*! How B's server can be asked about rows of a view, although an interrupted plan may have renamed or dropped what the view reads. */
import { findColumn, findReferencesOfQuery, type MaterializedViewDefinition } from '@sqlpipe/ddl';
import type { ComputedView, Enforcement } from '@sqlpipe/engine';
import { isSameName, NameSet } from '@sqlpipe/sql';
import { isUnfilled } from '../auxiliary/marks.js';
import { parseRebuildName } from '../auxiliary/rebuild-names.js';
import type { PlanContext } from '../context/plan-context.js';
import { type CommonQuery, printWith, renameQuery } from '../queries/common-queries.js';
import type { printExpiredQuestion, RetainedObject } from '../queries/expiry.js';
import type { PeriodHolder } from '../queries/periods.js';
import { doubleQuote } from '../text/statement-text.js';

/** If B lacks something that the query of the view reads, the query is rewritten over what B has. */
export function findAskableDefinition(name: string, context: PlanContext) {
  const definition = context.engineOfB.definitionOf(name);
  if (definition?.kind !== 'materialized view') return undefined;
  const { body } = definition;
  const isQueryable =
    context.engineOfB.whyNotCreatable(name) === undefined &&
    findReferencesOfQuery(body).every(each => context.engineOfB.find(each) && !isUnfilled(each, context));
  return isQueryable ? definition : { ...definition, body: printWith(findReplacements(body, context), body) };
}

/** The object under its name in B with the retention that it gets; for a view, also a query that B's server can answer. */
export function findExpiryArguments(
  { former, now }: Enforcement,
  context: PlanContext,
): Parameters<typeof printExpiredQuestion> {
  const retained = { ...now, name: former.name, timestamp: findTimestamp(former, context) ?? now.timestamp };
  return former.kind === 'table'
    ? [retained]
    : [retained, findAskableDefinition(former.name, context)?.body ?? former.body];
}

export const findPeriodHolder = (
  { former, now }: { readonly former: MaterializedViewDefinition; readonly now: ComputedView['now'] },
  context: PlanContext,
): PeriodHolder => ({ name: former.name, timestamp: findTimestamp(former, context), refresh: now.refresh });

const findTimestamp = ({ name, timestamp }: RetainedObject, { engineOfB }: PlanContext): string | undefined =>
  timestamp ?? engineOfB.catalogue.resolve(name)?.timestamp;

/** Both directions are needed: the query of A, which replaces that of a dropped view, has new names that B may lack. */
const bothWays = (renames: ReadonlyMap<string, string>) =>
  [...renames].flatMap(([from, to]) => [[from, to] as const, [to, from] as const]);

/** Queries of WITH for what a query reads and B lacks: renamed tables, tables with renamed columns, dropped views. */
function findReplacements(body: string, context: PlanContext, seen = new NameSet()): CommonQuery[] {
  const { a, engineOfB, leftovers, renames } = context;
  const markSeen = (name: string): boolean => {
    const isNew = !seen.has(name);
    seen.add(name);
    return isNew;
  };
  return findReferencesOfQuery(body).flatMap(name => {
    if (!markSeen(name)) return [];
    const otherName = bothWays(renames.stated.objects).find(([from]) => isSameName(from, name))?.[1] ?? name;
    // A rebuild may have been interrupted before its new table got the name.
    const rebuilt = [...leftovers].find(each => isSameName(parseRebuildName(each)?.table, name)) ?? '';
    const existing = engineOfB.find(name) ?? engineOfB.find(otherName) ?? engineOfB.find(rebuilt);
    const view = existing ? engineOfB.definitionOf(existing.name) : (a.definitionOf(name) ?? a.definitionOf(otherName));
    if (existing?.kind === 'table') {
      const renamed = bothWays(renames.stated.columns).filter(
        ([from, to]) => findColumn(existing, to) && !findColumn(existing, from),
      );
      const items = ['*', ...renamed.map(([from, to]) => `${doubleQuote(to)} ${doubleQuote(from)}`)];
      const isSame = isSameName(existing.name, name) && renamed.length === 0;
      return isSame ? [] : [{ name, query: `SELECT ${items.join(', ')} FROM '${existing.name}'` }];
    }
    if (view?.kind !== 'view' && view?.kind !== 'materialized view') return [];
    const isThere = existing !== undefined && isSameName(existing.name, name) && !isUnfilled(name, context);
    const inner = isThere && view.kind === 'materialized view' ? [] : findReplacements(view.body, context, seen);
    if (isThere) return inner.length === 0 ? [] : [...inner, { name, query: view.body, isView: true }];
    // A recreated view may have no rows yet, so its query takes its place.
    const created = { name: view.name, query: view.body, isView: view.kind === 'view' };
    if (isSameName(name, view.name)) return [...inner, created];
    return [...inner, ...(markSeen(view.name) ? [created] : []), renameQuery(created, name)];
  });
}
