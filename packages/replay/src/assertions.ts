/*! The assertions of plans: they need no permission, so a statement must be exactly what the planner writes. */
import { parseChange, parseMeaning } from '@sqlpipe/ddl';
import { fetchDefinitions, fetchViewColumns, type Instance } from '@sqlpipe/instance';
import {
  assertComputable,
  isOfCasts,
  parseAssertion,
  parseWith,
  printComputableQuestion,
  printHistoryAssertion,
  printWith,
  readFrom,
  withoutComments,
} from '@sqlpipe/plan/text';
import { foldCase } from '@sqlpipe/sql';

/**
 * Whether a statement is an assertion of a plan. If it asks what a materialized view of the target holds, it must have that view's own
 * query. If it asks whether a query can be computed, that must be the query of a view of the target or of the plan. In the place of
 * the objects that these read, there may be other queries of such views, and casts of columns.
 * @param planned the queries of the views of the plan
 */
export async function isPlanAssertion(
  target: Instance,
  statement: string,
  planned: ViewQueries = new Map(),
): Promise<boolean> {
  const { form, tables: [name = ''] = [], body } = parseAssertion(statement) ?? {};
  if (form !== 'nothing_is_lost' && form !== 'is_computable' && body === undefined) return form !== undefined;
  const queries = parseWith(statement);
  const names = [name, ...queries.map(query => query.name)];
  const views = names.flatMap(name => [{ kind: 'materialized view', name } as const, { kind: 'view', name } as const]);
  const definitions = await fetchDefinitions(target, views);
  const existing = definitions.flatMap(each => (each === undefined ? [] : (findQuery(each)?.body ?? [])));
  const bodies = [...existing, ...names.flatMap(each => planned.get(foldCase(each)) ?? [])];
  const isKnown = (query: string) => bodies.some(body => readFrom(queries, body) === query);
  if (!queries.every(({ query }) => isOfCasts(query) || isKnown(query))) return false;
  const text = withoutComments(statement);
  if (form === 'is_computable')
    return bodies.some(body => text === assertComputable(printComputableQuestion(name, printWith(queries, body))));
  const view = definitions[0] === undefined ? undefined : parseMeaning(definitions[0]);
  if (view?.kind !== 'materialized view') return false;
  const asked = { ...view, body: printWith(queries, view.body) };
  if (body !== undefined) return body === asked.body;
  const columns = await fetchViewColumns(target, view.name);
  return [undefined, columns].some(known => text === printHistoryAssertion(asked, known));
}

/** Queries of views, by the names of the views in lower case. */
export type ViewQueries = Map<string, string[]>;

/** Notes the query that a statement gives a view. */
export function noteQuery(statement: string, queries: ViewQueries): void {
  const { name = '', body } = (/\bVIEW\b/i.test(statement) && findQuery(statement)) || {};
  if (body === undefined) return;
  const known = queries.get(foldCase(name)) ?? [];
  queries.set(foldCase(name), known);
  known.push(body);
}

function findQuery(statement: string): { name: string; body: string } | undefined {
  const meaning = parseMeaning(statement);
  if (meaning && 'body' in meaning) return meaning;
  const change = parseChange(statement);
  const [altered] = change?.verb === 'alter' ? change.alters : [];
  return altered?.alteration.change === 'query' ? { name: altered.name, body: altered.alteration.body } : undefined;
}

/** Why an assertion that is not true stops the run, and what to do. */
export async function explainFailedAssertion(target: Instance, statement: string): Promise<string> {
  const assertion = parseAssertion(statement);
  if (!assertion) return 'the assertion is not true';
  const answers: unknown[][] = [];
  for (const question of assertion.questions ?? [])
    answers.push((await target.table(question)).map(([value]) => value));
  return `the assertion is not true: ${assertion.explain(answers)}`;
}
