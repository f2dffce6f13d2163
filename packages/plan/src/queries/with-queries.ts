/*! Puts queries of WITH in the place of objects. So B's server can be asked what a query will return after the plan. */
import {
  doubleQuote,
  findCommonTableExpressions,
  findMentions,
  findReferencesOfQuery,
  needsQuotes,
  TYPE_PATTERN,
} from '@sqlpipe/ddl';
import { canHaveComments, foldCase, keywordOf, NameMap, quoteLiteral, significantTokens, unquote } from '@sqlpipe/sql';

/** A query of WITH in the place of an object: it casts the columns of an existing object, or it is the query of a view. */
export interface WithQuery {
  readonly name: string;
  readonly query: string;
  /** Whether the object is a plain view. It would hide a query of WITH of its name (observed on 9.3.4), so that gets another name. */
  readonly isView?: boolean;
  /** Whether a query has a common table expression of its own with this name. The server accepts a name once, so this one is another. */
  readonly isShadowed?: boolean;
}

const VIEW = 'sqlpipe view ';
const SHADOWED = 'sqlpipe table ';

export function printWith(replaced: readonly WithQuery[], body: string): string {
  if (replaced.length === 0) return body;
  const shadowing = [body, ...replaced.map(({ query }) => query)].map(query =>
    findCommonTableExpressions(asView(query)),
  );
  const queries = replaced.map(each => ({
    ...each,
    isShadowed: !each.isView && shadowing.some(names => names.has(each.name)),
  }));
  const parts = queries.map(
    each =>
      `${doubleQuote(nameInWith(each))} AS (\n${isCastQuery(each.query) ? each.query : redirectToWith(queries, each.query)}\n)`,
  );
  return `WITH ${parts.join(', ')} SELECT * FROM (\n${redirectToWith(queries, body)}\n)`;
}

export const renameQuery = (query: WithQuery, name: string): WithQuery => ({
  name,
  query: `SELECT * FROM ${doubleQuote(nameInWith(query))}`,
});

const nameInWith = ({ name, isView, isShadowed }: WithQuery): string =>
  isView ? VIEW + name : isShadowed ? SHADOWED + name : name;

const asView = (query: string): string => `CREATE VIEW v AS (\n${query}\n);`;

/** Makes a query read the queries of WITH. A name in single quotes would always mean an object (observed on 9.3.4). */
export function redirectToWith(queries: readonly WithQuery[], body: string): string {
  const text = foldCase(body);
  const shadowed = new NameMap(
    queries.flatMap(each => (each.isShadowed ? [[each.name, nameInWith(each)] as const] : [])),
  );
  const scoped = shadowed.size === 0 ? body : renameTablesInQuery(body, shadowed);
  const replaced = queries.filter(
    ({ name, isView, isShadowed }) => isView || (!isShadowed && text.includes(quoteLiteral(foldCase(name)))),
  );
  if (replaced.length === 0) return scoped;
  return renameInQuery(scoped, new NameMap(replaced.map(each => [each.name, nameInWith(each)])));
}

/** Renames tables in a query, but no common table expressions. If that fails, a name occurs twice, and the server rejects the query. */
function renameTablesInQuery(query: string, renamed: NameMap<string>): string {
  if (canHaveComments(query)) return renameInQuery(query, renamed);
  const view = asView(query);
  let [body, end] = ['', view.indexOf('\n') + 1];
  for (const { name, start, end: next, usage } of findMentions(view).slice(1)) {
    const to = renamed.get(name);
    if (to === undefined) continue;
    body += view.slice(end, start) + (usage === 'quoted-qualifier' ? to : doubleQuote(to));
    end = next;
  }
  body += view.slice(end, -'\n);'.length);
  return findReferencesOfQuery(body).some(name => renamed.has(name)) ? renameInQuery(query, renamed) : body;
}

/**
 * Renames tables and columns in a query, but no function and no alias after AS. A query does not show which table a column belongs to. So
 * if a column of another table has an old name, it is renamed too. Then the query fails or returns other rows.
 * @param renamed the new names by the old names
 */
export function renameInQuery(query: string, renamed: NameMap<string>): string {
  const found = [...significantTokens(query)];
  let [body, end] = ['', 0];
  for (const [i, token] of found.entries()) {
    const { type, text, start } = token;
    const previous = keywordOf(found[i - 1]);
    const isWord = type === 'word' && !needsQuotes(text) && found[i + 1]?.text !== '(';
    const isName = isWord || type === 'name' || (type === 'string' && /^(?:FROM|JOIN)$/.test(previous));
    const to = isName && previous !== 'AS' ? renamed.get(unquote(text)) : undefined;
    body += query.slice(end, start) + (to === undefined ? text : doubleQuote(to));
    end = start + text.length;
  }
  return body + query.slice(end);
}

/** Parses the queries of a WITH at the start of a line. */
export function parseWith(text: string): WithQuery[] {
  const [, list = ''] = /^WITH (".*)$/ms.exec(text) ?? [];
  const queries: WithQuery[] = [];
  let [depth, start, name] = [0, 0, ''];
  for (const { text: token, start: position } of significantTokens(list)) {
    if (depth === 0 && token === 'SELECT') break;
    if (token === '(' && depth++ === 0) start = position + 2;
    else if (token === ')' && --depth === 0) {
      const query = list.slice(start, position - 1);
      if (name.startsWith(VIEW)) queries.push({ name: name.slice(VIEW.length), query, isView: true });
      else if (name.startsWith(SHADOWED)) queries.push({ name: name.slice(SHADOWED.length), query, isShadowed: true });
      else queries.push({ name, query });
    } else if (depth === 0 && token.startsWith('"')) name = unquote(token);
  }
  return queries;
}

const CASTS = new RegExp(
  String.raw`^SELECT (?:\* FROM \(SELECT )?(?:[\s,()<=*.\d]|'\?'|\b(?:CAST|CASE|WHEN|THEN|ELSE|END|NULL|length|length_bytes)\b|AS ${TYPE_PATTERN})* FROM (?:'[^']+'||long_sequence\(0\))(?:(?: ORDER BY )?\) TIMESTAMP\(\))?$`,
);

/** Whether a query only casts the columns of an object or of another query, or returns no rows. */
export const isCastQuery = (query: string): boolean => CASTS.test(query.replace(/"[^"]+"/g, ''));

/** LIMIT is needed: without it, 9.3.4 leaves out aggregates that nothing reads, and so accepts an unknown one. */
export const printComputableAssertion = (view: string, query: string): string =>
  `SELECT sqlpipe_rows >= 0 AS is_computable FROM (SELECT count() sqlpipe_rows FROM (\n${query}\n) ${doubleQuote(view)} LIMIT 1);`;

/** With a condition that is false, 9.3.4 compiles the complete query and does not run it. */
export const printCompileQuestion = (query: string): string =>
  `SELECT count() >= 0 AS is_computable FROM (SELECT * FROM (\n${query}\n) WHERE 1 = 0)`;
