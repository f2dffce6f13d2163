/*! Recognizes the assertions of plans. They need no --allow, so a statement must be exactly what the planner writes. */
import { parseAlters, tryParseDefinition } from '@sqlpipe/ddl';
import { type Client, fetchStatements, fetchViewColumns } from '@sqlpipe/instance';
import {
  type Assertion,
  type CommonQuery,
  isCastQuery,
  type KnownView,
  parseWith,
  printWith,
  redirectToWith,
} from '@sqlpipe/plan/text';
import { addToList, type NameMap } from '@sqlpipe/sql';

/**
 * Some assertions contain a query, which must be known. About the rows of a materialized view, it is the view's own query. About whether a
 * query can be computed, it is that of a view of the target or of the plan. A WITH before it has such queries, or casts.
 * @param planned the queries of the views of the plan
 */
export async function fetchFitsTarget(
  client: Client,
  { statement, tables, printFor }: Assertion,
  planned: ViewQueries,
): Promise<boolean> {
  if (!printFor) return true;
  const found = parseWith(statement);
  // A WITH at the start of a line may be the planner's, or belong to the view's own query. So both are tried.
  for (const queries of found.length > 0 ? [found, []] : [found]) {
    const known = await fetchKnownView(client, tables[0], queries, planned);
    if (known && printFor(known).includes(statement)) return true;
  }
  return false;
}

/** What is known of a view by its name. Undefined if a query of WITH is neither that of a view nor a cast. */
async function fetchKnownView(
  client: Client,
  name: string,
  queries: readonly CommonQuery[],
  planned: ViewQueries,
): Promise<KnownView | undefined> {
  const names = [name, ...queries.map(query => query.name)];
  const views = names.flatMap(name => [{ kind: 'materialized view', name } as const, { kind: 'view', name } as const]);
  const statements = await fetchStatements(client, views);
  const found = statements.flatMap(each => (each === undefined ? [] : (findQuery(each)?.body ?? [])));
  const bodies = [...found, ...names.flatMap(each => planned.get(each) ?? [])];
  const isKnown = (query: string) => bodies.some(body => redirectToWith(queries, body) === query);
  if (!queries.every(({ query }) => isCastQuery(query) || isKnown(query))) return undefined;
  const view = statements[0] === undefined ? undefined : tryParseDefinition(statements[0]);
  const existing = view?.kind === 'materialized view' ? { ...view, body: printWith(queries, view.body) } : undefined;
  const columns = existing && (await fetchViewColumns(client, existing.name));
  return { bodies: bodies.map(body => printWith(queries, body)), existing, columns };
}

export type ViewQueries = NameMap<string[]>;

export function recordQuery(statement: string, queries: ViewQueries): void {
  const { name = '', body } = (/\bVIEW\b/i.test(statement) && findQuery(statement)) || {};
  if (body !== undefined) addToList(queries, name, body);
}

function findQuery(statement: string): { name: string; body: string } | undefined {
  const definition = tryParseDefinition(statement);
  if (definition && 'body' in definition) return definition;
  const [altered] = parseAlters(statement);
  return altered?.alteration.action === 'query' ? { name: altered.name, body: altered.alteration.body } : undefined;
}
