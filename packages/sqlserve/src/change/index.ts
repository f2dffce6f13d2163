/*! Statements that change the catalog: their handlers by first word. */
import { type Cursor, isWord, RejectionError, unquote } from '@sqlpipe/ddl/grammar';
import type { ExecutionResult } from '../reply.js';
import type { Session } from '../session.js';
import { alterTable } from './alter-table.js';
import { alterMaterializedView, alterView } from './alter-view.js';
import { drop, rename, truncate, vacuum } from './drop.js';
import { refresh } from './refresh.js';

/** Reads the rest of a statement after its first word, checks and executes it. Without a result the reply is OK. */
export type StatementHandler = (cursor: Cursor, session: Session) => Result | Promise<Result>;

// biome-ignore lint/suspicious/noConfusingVoidType: most handlers have no result of their own, and return nothing
type Result = ExecutionResult | undefined | void;

export type StatementHandlers = Readonly<Record<string, StatementHandler>>;

/** Statements of a client's session, which have no effect. */
const noOpHandlers = Object.fromEntries(['set', 'begin', 'commit', 'rollback'].map(verb => [verb, () => undefined]));

/** Statements about rows or the server's files, which are rejected. */
const rowHandlers = Object.fromEntries(
  ['insert', 'update', 'copy', 'reindex', 'backup', 'checkpoint', 'snapshot', 'cancel'].map(verb => [
    verb,
    (cursor: Cursor) => {
      throw new RejectionError(cursor.at, `sqlserve keeps the schema and no rows: nothing to ${verb}`);
    },
  ]),
);

/** Statements of both editions by their first word. */
export const statementHandlers: StatementHandlers = {
  alter,
  compile,
  drop,
  refresh,
  rename,
  truncate,
  vacuum,
  ...noOpHandlers,
  ...rowHandlers,
};

/** COMPILE VIEW only reports an invalid view: views are compiled as soon as an object changes that they depend on. */
function compile(cursor: Cursor, { catalog, authorize }: Session): void {
  cursor.expectToken(cursor.requireNoSemicolon("'view'"), 'view');
  const name = unquote(cursor.requireNoSemicolon('view name'));
  const position = cursor.at;
  cursor.expectEnd();
  const view = catalog.find(name);
  if (!view) throw new RejectionError(position, `view does not exist [view=${name}]`);
  if (view.kind !== 'view') throw new RejectionError(position, 'view expected, got table');
  authorize('COMPILE VIEW', view.name);
  if (view.invalid) throw new RejectionError(position, view.invalid.reason);
}

function alter(cursor: Cursor, session: Session): void | Promise<void> {
  const token = cursor.next();
  if (isWord(token, 'table')) return alterTable(cursor, session);
  if (isWord(token, 'view')) return alterView(cursor, session);
  if (isWord(token, 'materialized')) return alterMaterializedView(cursor, session);
  throw new RejectionError(
    token === undefined ? cursor.readOffset : cursor.at,
    "'table' or 'materialized' or 'view' expected",
  );
}
