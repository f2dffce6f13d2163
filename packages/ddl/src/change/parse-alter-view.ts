/*! Parses ALTER VIEW and ALTER MATERIALIZED VIEW. */
import { parseAge } from '../grammar/ages.js';
import { expectEndOfBody, parseViewBody } from '../grammar/body.js';
import { type Cursor, isWord } from '../grammar/cursor.js';
import { type NameLookup, parseAlteredObject } from '../grammar/lookup.js';
import { parsePropertyAlteration } from '../properties/object-properties.js';
import { type ChangeStatement, toAlter } from './change.js';
import { parseColumnAlteration } from './parse-alter-column.js';
import { parsePartitions } from './parse-maintenance.js';
import { parseWalChange } from './parse-wal.js';

/** After ALTER VIEW: replaces the query. */
export function parseAlterView(cursor: Cursor, lookup: NameLookup): ChangeStatement {
  const view = parseAlteredObject(cursor, lookup, 'view');
  cursor.expectToken(cursor.requireNoSemicolon("'as'"), 'as');
  const body = parseViewBody(cursor, lookup.rejectBadQuery);
  expectEndOfBody(cursor, body);
  return toAlter(view, { action: 'query', body: body.text });
}

/** After ALTER MATERIALIZED: changes how a view is refreshed, how long its data is kept, and its indexes. */
export function parseAlterMaterializedView(cursor: Cursor, lookup: NameLookup): ChangeStatement {
  if (!isWord(cursor.requireNoSemicolon("'view'"), 'view')) throw cursor.error("'view' expected'");
  const view = parseAlteredObject(cursor, lookup, 'materialized view');
  const verb = cursor.requireNoSemicolon("'alter' or 'resume' or 'suspend'");
  if (isWord(verb, 'alter')) {
    cursor.expect('column');
    return toAlter(view, parseColumnAlteration(cursor, lookup, view));
  }
  const walChange = parseWalChange(cursor, lookup, verb, view);
  if (walChange) return walChange;
  const dropped = parsePropertyAlteration(verb, cursor, lookup, view);
  if (dropped) return toAlter(view, dropped);
  if (!isWord(verb, 'set')) throw cursor.error("'alter' or 'resume' or 'suspend' expected");
  const token = cursor.requireNoSemicolon("'ttl' or 'refresh'");
  if (isWord(token, 'refresh') && cursor.accept('limit'))
    return { verb: 'set refresh limit', name: view.name, limit: parseAge(cursor).age };
  const set = parsePropertyAlteration(`set ${token}`, cursor, lookup, view);
  if (set) return toAlter(view, set);
  if (lookup.isEnterprise !== false && isWord(token, 'storage'))
    throw cursor.error('storage policy is not supported for materialized views');
  throw cursor.error("'ttl' or 'refresh' expected");
}

const LIVE_VIEW_VERBS = "'set', 'drop', 'convert', 'resume' or 'suspend'";

/** After ALTER LIVE: what a view stores can be changed, but neither its query nor its columns. */
export function parseAlterLiveView(cursor: Cursor, lookup: NameLookup): ChangeStatement {
  cursor.expect('view');
  const view = parseAlteredObject(cursor, lookup, 'live view');
  const { name, object } = view;
  const verb = cursor.requireNoSemicolon(LIVE_VIEW_VERBS).toLowerCase();
  switch (verb) {
    case 'set': {
      const token = cursor.requireNoSemicolon("'ttl'");
      const set = parsePropertyAlteration(`set ${token}`, cursor, lookup, view);
      if (!set) throw cursor.error("'ttl' expected");
      return toAlter(view, set);
    }
    case 'drop':
    case 'convert':
      cursor.expect('partition');
      return { name, ...parsePartitions(cursor, object, `${verb} partition`) };
    case 'force':
      throw cursor.error('FORCE DROP PARTITION is not supported on live views');
  }
  const walChange = parseWalChange(cursor, lookup, verb, view);
  if (!walChange) throw cursor.error(`${LIVE_VIEW_VERBS} expected`);
  return walChange;
}
