/*!
 * Queries, parsed with QuestDB's own grammar. The grammar is loaded when the first statement with a query arrives,
 * because loading it takes most of a second.
 */
import { type Body, Cursor, readCode, unexpectedTokenError } from '@sqlpipe/ddl/grammar';
import type { Query } from './query.js';

let parser: typeof import('./query.js') | undefined;

/** Loads the grammar if a statement may contain a query. */
export async function loadGrammarFor(statement: string): Promise<void> {
  if (!parser && /\bas\b/i.test(statement)) parser = await import('./query.js');
}

const parsed = new WeakMap<Body, Query>();

/** Parses the query of a statement, once. @throws RejectionError if it is not a query */
export function parsedQuery(body: Body): Query {
  const { code, position, enclosed } = body;
  const query = parsed.get(body) ?? (parser as NonNullable<typeof parser>).parseQuery(code, position, enclosed);
  parsed.set(body, query);
  return query;
}

/** Parses a statement that is a query. @throws RejectionError */
export async function parseQueryStatement(text: string): Promise<Query> {
  const cursor = new Cursor(text);
  const code = readCode(cursor, 0, false);
  for (let token = cursor.next(); token !== undefined; token = cursor.next()) {
    if (token !== ';') throw unexpectedTokenError(cursor.at, token);
  }
  parser ??= await import('./query.js');
  return parser.parseQuery(code, 0, false);
}
