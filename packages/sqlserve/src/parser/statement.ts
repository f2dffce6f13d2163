/*! One statement of any kind: its first words tell which parser reads the rest. */
import { type CreateLiveView, createLiveView } from './create-live-view.js';
import { type BaseOf, type CreateMaterializedView, createMaterializedView } from './create-matview.js';
import { type CreateTable, createTable, type OwnerClause } from './create-table.js';
import { type CreateView, createView } from './create-view.js';
import { Cursor, is } from './cursor.js';
import { implicitTable } from './implicit.js';
import { Refusal, unexpected } from './refusal.js';
import { type Show, type ShowDialect, show } from './show.js';

export type Statement =
  | CreateTable
  | CreateView
  | CreateMaterializedView
  | CreateLiveView
  | Show
  /** A statement that looks at the catalogue while it is read: the cursor stands behind its first word. */
  | { readonly statement: 'change'; readonly verb: string; readonly cursor: Cursor }
  | { readonly statement: 'explain show create database' }
  /** A query that is no more than the name of a table. */
  | { readonly statement: 'table'; readonly name: string; readonly position: number }
  | { readonly statement: 'query'; readonly text: string };

/** What an edition adds to the grammar. */
export interface Dialect extends ShowDialect {
  /** Words that begin a statement which changes something. */
  readonly verbs: ReadonlySet<string>;
  readonly owner: OwnerClause;
  readonly baseOf: BaseOf;
}

/** Reads one statement; undefined where the text holds none. */
export async function parse(text: string, dialect: Dialect): Promise<Statement | undefined> {
  const cursor = new Cursor(text);
  const token = cursor.next();
  if (token === undefined) return;
  const verb = token.toLowerCase();
  if (verb === 'create') return create(cursor, dialect);
  if (verb === 'show') return ending(cursor, show(cursor, dialect));
  if (verb === 'explain') return explain(cursor, dialect);
  if (dialect.verbs.has(verb)) {
    // The service's ALTER looks behind the semicolon itself, or not at all.
    if (verb !== 'alter') refuseMore(text);
    return { statement: 'change', verb, cursor };
  }
  if (['select', 'with', 'declare', '('].includes(verb)) return { statement: 'query', text };
  const table = implicitTable(cursor, token);
  return table ? { statement: 'table', ...table } : { statement: 'query', text };
}

const principals = new Set(['user', 'group', 'service']);

async function create(cursor: Cursor, { owner, baseOf, enterprise }: Dialect): Promise<Statement> {
  let token = cursor.require("'atomic' or 'table' or 'batch' or 'materialized' or 'view' or 'or replace'");
  if (enterprise && principals.has(token.toLowerCase())) {
    cursor.back();
    refuseMore(cursor.text);
    return { statement: 'change', verb: 'create', cursor };
  }
  const orReplace = is(token, 'or');
  if (orReplace) {
    cursor.expect('replace');
    token = cursor.require("'view'");
    cursor.expectThis(token, 'view');
  }
  if (is(token, 'view')) return createView(cursor, orReplace, owner);
  if (is(token, 'materialized')) return createMaterializedView(cursor, owner, baseOf);
  if (enterprise && is(token, 'live')) return createLiveView(cursor, owner);
  return createTable(cursor, token, { owner, enterprise });
}

/** No plan is made but for the one statement that needs none. */
function explain(cursor: Cursor, dialect: Dialect): Statement {
  cursor.expect('show');
  const shown = show(cursor, dialect);
  if (ending(cursor, shown).statement === 'show create database') return { statement: 'explain show create database' };
  throw new Refusal(0, 'sqlserve has no query engine: only SHOW CREATE DATABASE can be explained');
}

/** The open source edition has no owners: a statement ends where its clauses do. */
export const noOwner: OwnerClause = (cursor, token) => {
  if (token !== undefined && token !== ';') throw unexpected(cursor.at, token);
  if (token === ';') ending(cursor, undefined);
  return undefined;
};

/** Where anything but semicolons stands behind the first of them, nothing of a request is run. */
function refuseMore(text: string): void {
  const cursor = new Cursor(text);
  for (let token = cursor.next(); token !== undefined && token !== ';'; ) token = cursor.next();
  ending(cursor, undefined);
}

/** Refuses anything behind a statement but semicolons. */
function ending<T>(cursor: Cursor, statement: T): T {
  for (let token = cursor.next(); token !== undefined; token = cursor.next()) {
    if (token !== ';') throw unexpected(cursor.at, token);
  }
  return statement;
}
