/*! ALTER VIEW and ALTER MATERIALIZED VIEW. */

import { DEFAULTS } from '@sqlpipe/ddl';
import {
  type Cursor,
  ceilPow2,
  endBody,
  is,
  newRefresh,
  parseInt32,
  Rejection,
  rejectReserved,
  rejectUnevenTtl,
  ttl,
  unquote,
  viewBody,
} from '@sqlpipe/ddl/grammar';
import { createViewIn, firstStart } from '../create.js';
import type { MaterializedView } from '../objects.js';
import { queryOf } from '../parser/queries.js';
import type { Session } from '../session.js';
import { rejectSymbolCapacity } from './column.js';
import { resumeWal, suspendWal } from './wal.js';

/** Behind ALTER VIEW: a new query in the place of the old one. */
export function alterView(cursor: Cursor, session: Session): void {
  const position = cursor.reach;
  const token = cursor.need('view name');
  rejectReserved(token, position);
  const name = unquote(token);
  const view = session.catalogue.find(name);
  if (!view) throw new Rejection(position, `view does not exist [view=${name}]`);
  if (view.kind !== 'view') throw new Rejection(cursor.at, 'view name expected');
  session.allow('ALTER VIEW', view.name);
  if (!is(cursor.need("'as'"), 'as')) throw new Rejection(cursor.at, "'as' expected");
  const body = viewBody(cursor, body => void queryOf(body));
  endBody(cursor, body);
  cursor.expectEnd();
  const { owner } = view;
  createViewIn(session, {
    statement: 'create view',
    name: view.name,
    position,
    ifNotExists: false,
    orReplace: true,
    body,
    owner,
  });
}

/** Behind ALTER MATERIALIZED: how it is refreshed, kept and indexed. */
export function alterMaterializedView(cursor: Cursor, session: Session): void {
  if (!is(cursor.need("'view'"), 'view')) throw new Rejection(cursor.at, "'view' expected'");
  const position = cursor.reach;
  const token = cursor.need('materialized view name');
  rejectReserved(token, position);
  const name = unquote(token);
  const object = session.catalogue.find(name);
  if (!object) throw new Rejection(position, `materialized view does not exist [view=${name}]`);
  if (object.kind !== 'materialized view') throw new Rejection(cursor.at, 'materialized view name expected');
  const view = { ...object, columns: structuredClone(object.columns) };
  const verb = cursor.need("'alter' or 'resume' or 'suspend'");
  const changed = altered(verb, cursor, session, view);
  cursor.expectEnd();
  session.catalogue.put(changed);
}

function altered(verb: string, cursor: Cursor, session: Session, view: MaterializedView): MaterializedView {
  if (is(verb, 'alter')) return alterColumn(cursor, session, view);
  if (is(verb, 'set')) return set(cursor, session, view);
  if (is(verb, 'suspend')) return suspendWal(cursor, { ...view, wal: true });
  if (!is(verb, 'resume')) throw new Rejection(cursor.at, "'alter' or 'resume' or 'suspend' expected");
  session.allow('RESUME WAL', view.name);
  resumeWal(cursor, { ...view, wal: true });
  return view;
}

function alterColumn(cursor: Cursor, session: Session, view: MaterializedView): MaterializedView {
  cursor.expect('column');
  const position = cursor.reach;
  const name = unquote(cursor.need('column name'));
  const column = view.columns.find(column => column.name.toLowerCase() === name.toLowerCase());
  if (!column) throw new Rejection(position, `column '${name}' does not exist in materialized view '${view.name}'`);
  const token = cursor.need("'symbol capacity', 'add index' or 'drop index'");
  if (is(token, 'symbol')) {
    if (column.type !== 'SYMBOL') throw new Rejection(position, `column '${name}' is not of symbol type`);
    cursor.expect('capacity');
    rejectSymbolCapacity(cursor, 'numeric capacity');
  } else if (is(token, 'add')) {
    cursor.expect('index');
    if (column.index) throw new Rejection(position, `column '${name}' already indexed`);
    if (column.type !== 'SYMBOL') {
      throw new Rejection(
        position,
        `column '${name}' is of type '${column.type}'. Index supports column type 'SYMBOL' only.`,
      );
    }
    session.allow('ADD INDEX', view.name, [column.name]);
    column.index = { type: 'BITMAP', capacity: indexCapacity(cursor) };
  } else if (is(token, 'drop')) {
    cursor.expect('index');
    if (!column.index) throw new Rejection(position, `column '${name}' is not indexed`);
    session.allow('DROP INDEX', view.name, [column.name]);
    delete column.index;
  } else throw new Rejection(cursor.at, "'symbol capacity', 'add index' or 'drop index' expected");
  return view;
}

function indexCapacity(cursor: Cursor): number {
  const token = cursor.next();
  if (token === undefined || token === ';') return DEFAULTS.indexCapacity;
  if (!is(token, 'capacity')) throw new Rejection(cursor.at, "'capacity' keyword expected");
  const capacity = parseInt32(cursor.need('index capacity value'));
  if (capacity === undefined) throw new Rejection(cursor.at, 'index capacity value must be numeric');
  return ceilPow2(capacity);
}

function set(cursor: Cursor, session: Session, view: MaterializedView): MaterializedView {
  const token = cursor.need("'ttl' or 'refresh'");
  if (is(token, 'ttl')) {
    const value = ttl(cursor);
    rejectUnevenTtl(view.partitionBy, value.ttl, value.position);
    session.allow('SET TABLE PARAM', view.name);
    return { ...view, ttl: value.ttl };
  }
  if (!is(token, 'refresh')) throw new Rejection(cursor.at, "'ttl' or 'refresh' expected");
  session.allow('ALTER MATERIALIZED VIEW', view.name);
  const refresh = newRefresh(cursor);
  if (refresh === undefined) {
    // REFRESH LIMIT is neither shown nor dumped.
    ttl(cursor);
    return view;
  }
  const { period } = refresh;
  return {
    ...view,
    refresh: {
      ...refresh,
      start: refresh.start ?? firstStart(refresh),
      period: period === 'sample by interval' ? { length: view.interval } : period,
    },
  };
}
