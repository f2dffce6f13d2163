/*! Statements that change what is there: which word leads to which. */
import type { Cursor } from '../parser/cursor.js';
import { is } from '../parser/cursor.js';
import { Refusal } from '../parser/refusal.js';
import type { Session } from '../session.js';
import { alterTable } from './alter-table.js';
import { alterMaterializedView, alterView } from './alter-view.js';
import { drop, rename, truncate } from './drop.js';

type Change = (cursor: Cursor, session: Session) => void | Promise<void>;

/** Statements by their first word. Those that only concern rows do nothing, as there are none. */
export const changes: Readonly<Record<string, Change>> = {
  alter,
  drop,
  rename,
  truncate,
};

function alter(cursor: Cursor, session: Session): void | Promise<void> {
  const token = cursor.next();
  if (is(token, 'table')) return alterTable(cursor, session);
  if (is(token, 'view')) return alterView(cursor, session);
  if (is(token, 'materialized')) return alterMaterializedView(cursor, session);
  throw new Refusal(token === undefined ? cursor.reach : cursor.at, "'table' or 'materialized' or 'view' expected");
}
