/*! ALTER VIEW and ALTER MATERIALIZED VIEW. */

import { DEFAULTS } from '@sqlpipe/ddl';
import {
  type Cursor,
  ceilPow2,
  expectEndOfBody,
  isWord,
  parseInt32,
  parseSetRefresh,
  parseTtl,
  parseViewBody,
  RejectionError,
  rejectReserved,
  rejectUnevenTtl,
  unquote,
} from '@sqlpipe/ddl/grammar';
import { createView, defaultStart } from '../create.js';
import type { MaterializedView } from '../objects.js';
import { parsedQuery } from '../parser/queries.js';
import type { Session } from '../session.js';
import { parseSymbolCapacity } from './column.js';
import { resumeWal, suspendWal } from './wal.js';

/** After ALTER VIEW: replaces the query. */
export function alterView(cursor: Cursor, session: Session): void {
  const position = cursor.readOffset;
  const token = cursor.requireNoSemicolon('view name');
  rejectReserved(token, position);
  const name = unquote(token);
  const view = session.catalog.find(name);
  if (!view) throw new RejectionError(position, `view does not exist [view=${name}]`);
  if (view.kind !== 'view') throw new RejectionError(cursor.at, 'view name expected');
  session.authorize('ALTER VIEW', view.name);
  if (!isWord(cursor.requireNoSemicolon("'as'"), 'as')) throw new RejectionError(cursor.at, "'as' expected");
  const body = parseViewBody(cursor, body => void parsedQuery(body));
  expectEndOfBody(cursor, body);
  cursor.expectEnd();
  const { owner } = view;
  createView(session, {
    statement: 'create view',
    name: view.name,
    position,
    ifNotExists: false,
    orReplace: true,
    body,
    owner,
  });
}

/** After ALTER MATERIALIZED: changes how a view is refreshed, how long its data is kept, and its indexes. */
export function alterMaterializedView(cursor: Cursor, session: Session): void {
  if (!isWord(cursor.requireNoSemicolon("'view'"), 'view')) throw new RejectionError(cursor.at, "'view' expected'");
  const position = cursor.readOffset;
  const token = cursor.requireNoSemicolon('materialized view name');
  rejectReserved(token, position);
  const name = unquote(token);
  const object = session.catalog.find(name);
  if (!object) throw new RejectionError(position, `materialized view does not exist [view=${name}]`);
  if (object.kind !== 'materialized view') throw new RejectionError(cursor.at, 'materialized view name expected');
  const view = { ...object, columns: structuredClone(object.columns) };
  const verb = cursor.requireNoSemicolon("'alter' or 'resume' or 'suspend'");
  const changed = readAlteration(verb, cursor, session, view);
  cursor.expectEnd();
  session.catalog.put(changed);
}

function readAlteration(verb: string, cursor: Cursor, session: Session, view: MaterializedView): MaterializedView {
  if (isWord(verb, 'alter')) return alterColumn(cursor, session, view);
  if (isWord(verb, 'set')) return setProperty(cursor, session, view);
  if (isWord(verb, 'suspend')) return suspendWal(cursor, { ...view, wal: true });
  if (!isWord(verb, 'resume')) throw new RejectionError(cursor.at, "'alter' or 'resume' or 'suspend' expected");
  session.authorize('RESUME WAL', view.name);
  resumeWal(cursor, { ...view, wal: true });
  return view;
}

function alterColumn(cursor: Cursor, session: Session, view: MaterializedView): MaterializedView {
  cursor.expect('column');
  const position = cursor.readOffset;
  const name = unquote(cursor.requireNoSemicolon('column name'));
  const column = view.columns.find(column => column.name.toLowerCase() === name.toLowerCase());
  if (!column)
    throw new RejectionError(position, `column '${name}' does not exist in materialized view '${view.name}'`);
  const token = cursor.requireNoSemicolon("'symbol capacity', 'add index' or 'drop index'");
  if (isWord(token, 'symbol')) {
    if (column.type !== 'SYMBOL') throw new RejectionError(position, `column '${name}' is not of symbol type`);
    cursor.expect('capacity');
    parseSymbolCapacity(cursor, 'numeric capacity');
  } else if (isWord(token, 'add')) {
    cursor.expect('index');
    if (column.index) throw new RejectionError(position, `column '${name}' already indexed`);
    if (column.type !== 'SYMBOL') {
      throw new RejectionError(
        position,
        `column '${name}' is of type '${column.type}'. Index supports column type 'SYMBOL' only.`,
      );
    }
    session.authorize('ADD INDEX', view.name, [column.name]);
    column.index = { type: 'BITMAP', capacity: parseIndexCapacity(cursor) };
  } else if (isWord(token, 'drop')) {
    cursor.expect('index');
    if (!column.index) throw new RejectionError(position, `column '${name}' is not indexed`);
    session.authorize('DROP INDEX', view.name, [column.name]);
    delete column.index;
  } else throw new RejectionError(cursor.at, "'symbol capacity', 'add index' or 'drop index' expected");
  return view;
}

function parseIndexCapacity(cursor: Cursor): number {
  const token = cursor.next();
  if (token === undefined || token === ';') return DEFAULTS.indexCapacity;
  if (!isWord(token, 'capacity')) throw new RejectionError(cursor.at, "'capacity' keyword expected");
  const capacity = parseInt32(cursor.requireNoSemicolon('index capacity value'));
  if (capacity === undefined) throw new RejectionError(cursor.at, 'index capacity value must be numeric');
  return ceilPow2(capacity);
}

function setProperty(cursor: Cursor, session: Session, view: MaterializedView): MaterializedView {
  const token = cursor.requireNoSemicolon("'ttl' or 'refresh'");
  if (isWord(token, 'ttl')) {
    const value = parseTtl(cursor);
    rejectUnevenTtl(view.partitionBy, value.ttl, value.position);
    session.authorize('SET TABLE PARAM', view.name);
    return { ...view, ttl: value.ttl };
  }
  if (!isWord(token, 'refresh')) throw new RejectionError(cursor.at, "'ttl' or 'refresh' expected");
  session.authorize('ALTER MATERIALIZED VIEW', view.name);
  const refresh = parseSetRefresh(cursor);
  if (refresh === undefined) {
    // REFRESH LIMIT is neither shown nor dumped.
    parseTtl(cursor);
    return view;
  }
  const { period } = refresh;
  return {
    ...view,
    refresh: {
      ...refresh,
      start: refresh.start ?? defaultStart(refresh),
      period: period === 'sample by interval' ? { length: view.interval } : period,
    },
  };
}
