/*!
 * Queries, parsed with QuestDB's own grammar. The grammar is loaded when the first query has to be parsed, because loading it
 * takes most of a second.
 */
import { type Body, Cursor, readCode, unexpectedTokenError } from '@sqlpipe/ddl/grammar';
import { NotReady } from '../not-ready.js';
import { parseQuery, type Query } from './parse-query.js';

export { QuerySyntaxError } from './parse-query.js';

let grammar: typeof import('./grammar.js') | undefined;

/** @throws NotReady if the grammar is not loaded */
function requireGrammar(): NonNullable<typeof grammar> {
  if (grammar) return grammar;
  throw new NotReady(async () => {
    grammar = await import('./grammar.js');
  });
}

const parsed = new WeakMap<Body, Query>();

/** Parses the query of a statement, once. @throws RejectionError if it is not a query; NotReady */
export function parsedQuery(body: Body): Query {
  const { code, position, enclosed } = body;
  const query = parsed.get(body) ?? parseQuery(requireGrammar(), code, { position, enclosed });
  parsed.set(body, query);
  return query;
}

/** Parses a text that is a query. @throws RejectionError, NotReady */
export function parseQueryText(text: string): Query {
  const cursor = new Cursor(text);
  const code = readCode(cursor, 0, false);
  for (let token = cursor.next(); token !== undefined; token = cursor.next()) {
    if (token !== ';') throw unexpectedTokenError(cursor.at, token);
  }
  return parseQuery(requireGrammar(), code, { position: 0, enclosed: false });
}
