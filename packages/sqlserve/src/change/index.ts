/*! Statements that change what is there: which word leads to which. */
import { type Cursor, is, Rejection, unquote } from '@sqlpipe/ddl/grammar';
import type { Outcome } from '../reply.js';
import type { Session } from '../session.js';
import { alterTable } from './alter-table.js';
import { alterMaterializedView, alterView } from './alter-view.js';
import { drop, rename, truncate, vacuum } from './drop.js';

/** Reads a statement behind its first word, checks it and does it. Without an outcome of its own the answer is OK. */
export type Change = (cursor: Cursor, session: Session) => Result | Promise<Result>;

// biome-ignore lint/suspicious/noConfusingVoidType: most have no outcome of their own, and return nothing
type Result = Outcome | undefined | void;

export type Changes = Readonly<Record<string, Change>>;

/** Statements that are about rows or the server: there are none here, and little to set. */
const nothingToDo = Object.fromEntries(['set', 'begin', 'commit', 'rollback'].map(verb => [verb, () => undefined]));

const needRows = Object.fromEntries(
  ['insert', 'update', 'copy', 'reindex', 'refresh', 'backup', 'checkpoint', 'snapshot', 'cancel'].map(verb => [
    verb,
    (cursor: Cursor) => {
      throw new Rejection(cursor.at, `sqlserve keeps the schema and no rows: nothing to ${verb}`);
    },
  ]),
);

/** Statements of both editions by their first word. */
export const changes: Changes = { alter, compile, drop, rename, truncate, vacuum, ...nothingToDo, ...needRows };

/** Views are compiled as soon as what they stand on changes. */
function compile(cursor: Cursor, { catalogue, allow }: Session): void {
  cursor.expectThis(cursor.need("'view'"), 'view');
  const name = unquote(cursor.need('view name'));
  const position = cursor.at;
  cursor.expectEnd();
  const view = catalogue.find(name);
  if (!view) throw new Rejection(position, `view does not exist [view=${name}]`);
  if (view.kind !== 'view') throw new Rejection(position, 'view expected, got table');
  allow('COMPILE VIEW', view.name);
  if (view.invalid) throw new Rejection(position, view.invalid.reason);
}

function alter(cursor: Cursor, session: Session): void | Promise<void> {
  const token = cursor.next();
  if (is(token, 'table')) return alterTable(cursor, session);
  if (is(token, 'view')) return alterView(cursor, session);
  if (is(token, 'materialized')) return alterMaterializedView(cursor, session);
  throw new Rejection(token === undefined ? cursor.reach : cursor.at, "'table' or 'materialized' or 'view' expected");
}
