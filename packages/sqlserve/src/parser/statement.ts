/*! One statement of any kind: its first words tell which parser reads the rest. */
import { type BaseOf, type CreateMaterializedView, createMaterializedView } from './create-matview.js';
import { type CreateTable, createTable, type OwnerClause } from './create-table.js';
import { type CreateView, createView } from './create-view.js';
import { Cursor, is } from './cursor.js';
import { Refusal, unexpected } from './refusal.js';
import { type Show, show } from './show.js';

export type Statement =
  | CreateTable
  | CreateView
  | CreateMaterializedView
  | Show
  /** A statement that looks at the catalogue while it is read: the cursor stands behind its first word. */
  | { readonly statement: 'change'; readonly verb: string; readonly cursor: Cursor }
  | { readonly statement: 'explain show create database' }
  | { readonly statement: 'query'; readonly text: string };

/** Reads one statement, `verbs` being the words that begin a change; undefined where the text holds none. */
export async function parse(text: string, verbs: ReadonlySet<string>, baseOf: BaseOf): Promise<Statement | undefined> {
  const cursor = new Cursor(text);
  const token = cursor.next();
  if (token === undefined) return;
  if (is(token, 'create')) return create(cursor, noOwner, baseOf);
  if (is(token, 'show'))
    return ending(
      cursor,
      show(cursor, () => undefined),
    );
  if (verbs.has(token.toLowerCase())) return { statement: 'change', verb: token.toLowerCase(), cursor };
  if (token === ';') throw new Refusal(cursor.at, 'table does not exist [table=;]');
  return { statement: 'query', text };
}

async function create(cursor: Cursor, owner: OwnerClause, baseOf: BaseOf): Promise<Statement> {
  let token = cursor.require("'atomic' or 'table' or 'batch' or 'materialized' or 'view' or 'or replace'");
  const orReplace = is(token, 'or');
  if (orReplace) {
    cursor.expect('replace');
    token = cursor.require("'view'");
  }
  if (is(token, 'view')) return createView(cursor, orReplace, owner);
  if (is(token, 'materialized')) return createMaterializedView(cursor, owner, baseOf);
  return createTable(cursor, token, owner);
}

/** No plan is made but for the one statement that needs none. */
function explain(cursor: Cursor): Statement {
  cursor.expect('show');
  const { statement } = ending(
    cursor,
    show(cursor, () => undefined),
  );
  if (statement === 'show create database') return { statement: 'explain show create database' };
  throw new Refusal(0, 'sqlserve has no query engine: only SHOW CREATE DATABASE can be explained');
}

/** The open source edition has no owners: a statement ends where its clauses do. */
const noOwner: OwnerClause = (cursor, token) => {
  if (token !== undefined && token !== ';') throw unexpected(cursor.at, token);
  if (token === ';') ending(cursor, undefined);
  return undefined;
};

/** Refuses anything behind a statement but semicolons. */
function ending<T>(cursor: Cursor, statement: T): T {
  for (let token = cursor.next(); token !== undefined; token = cursor.next()) {
    if (token !== ';') throw unexpected(cursor.at, token);
  }
  return statement;
}
