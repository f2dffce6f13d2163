/*! ALTER VIEW and ALTER MATERIALIZED VIEW. */
import type { Alteration } from '../alteration.js';
import { expectEndOfBody, parseViewBody } from '../grammar/body.js';
import { type Cursor, expectWord, isWord } from '../grammar/cursor.js';
import { RejectionError } from '../grammar/rejection-error.js';
import { parseAge } from '../properties/retention.js';
import { findAlterSyntax } from '../properties/table.js';
import type { Change } from './change.js';
import { type FoundObject, type NameLookup, parseAlteredObject } from './lookup.js';
import { parseColumnAlteration } from './parse-alter-column.js';
import { parsePartitions } from './parse-partitions.js';
import { parseRebaseWal, parseResumeWal, parseSuspendWal } from './parse-wal.js';

/** After ALTER VIEW: replaces the query. */
export function parseAlterView(cursor: Cursor, lookup: NameLookup): Change {
  const { name } = parseAlteredObject(cursor, lookup, 'view');
  cursor.expectToken(cursor.requireNoSemicolon("'as'"), 'as');
  const body = parseViewBody(cursor, lookup.checkQuery);
  expectEndOfBody(cursor, body);
  cursor.expectEnd();
  return { verb: 'alter', alters: [{ kind: 'view', name, alteration: { change: 'query', body: body.text } }] };
}

/** After ALTER MATERIALIZED: changes how a view is refreshed, how long its data is kept, and its indexes. */
export function parseAlterMaterializedView(cursor: Cursor, lookup: NameLookup): Change {
  if (!isWord(cursor.requireNoSemicolon("'view'"), 'view')) throw new RejectionError(cursor.at, "'view' expected'");
  const view = parseAlteredObject(cursor, lookup, 'materialized view');
  const change = parseAction(cursor, lookup, view);
  cursor.expectEnd();
  return change;
}

/** After ALTER LIVE: what a view stores can be changed, but neither its query nor its columns. */
export function parseAlterLiveView(cursor: Cursor, lookup: NameLookup): Change {
  cursor.expect('view');
  const view = parseAlteredObject(cursor, lookup, 'live view');
  const change = parseLiveViewAction(cursor, lookup, view);
  cursor.expectEnd();
  return change;
}

const LIVE_VIEW_VERBS = "'set', 'drop', 'convert', 'resume' or 'suspend'";

function parseLiveViewAction(cursor: Cursor, lookup: NameLookup, view: FoundObject): Change {
  const { name, object } = view;
  const verb = cursor.requireNoSemicolon(LIVE_VIEW_VERBS).toLowerCase();
  switch (verb) {
    case 'set': {
      const token = cursor.requireNoSemicolon("'ttl'");
      const property = findAlterSyntax('live view', `set ${token}`, lookup);
      if (!property) throw new RejectionError(cursor.at, "'ttl' expected");
      return { verb: 'alter', alters: [{ kind: 'live view', name, alteration: property(cursor, lookup, view) }] };
    }
    case 'drop':
    case 'convert':
      expectWord(cursor, 'partition');
      return { name, ...parsePartitions(cursor, object, `${verb} partition`) };
    case 'force':
      throw new RejectionError(cursor.at, 'FORCE DROP PARTITION is not supported on live views');
    case 'resume':
      return { verb: 'resume wal', name, skips: parseResumeWal(cursor, object) };
    case 'suspend':
      parseSuspendWal(cursor, lookup, object);
      return { verb: 'suspend wal', name };
    default:
      throw new RejectionError(cursor.at, `${LIVE_VIEW_VERBS} expected`);
  }
}

function parseAction(cursor: Cursor, lookup: NameLookup, view: FoundObject): Change {
  const { name, object } = view;
  const alter = (alteration: Alteration): Change => ({
    verb: 'alter',
    alters: [{ kind: 'materialized view', name, alteration }],
  });
  const verb = cursor.requireNoSemicolon("'alter' or 'resume' or 'suspend'");
  if (isWord(verb, 'alter')) {
    cursor.expect('column');
    return alter(parseColumnAlteration(cursor, lookup, view));
  }
  if (isWord(verb, 'suspend')) {
    parseSuspendWal(cursor, lookup, object);
    return { verb: 'suspend wal', name };
  }
  if (isWord(verb, 'resume')) return { verb: 'resume wal', name, skips: parseResumeWal(cursor, object) };
  if (lookup.has('rebase') && isWord(verb, 'rebase')) {
    parseRebaseWal(cursor, object);
    return { verb: 'rebase wal', name };
  }
  const dropExpiry = isWord(verb, 'drop') && findAlterSyntax('materialized view', 'drop expire', lookup);
  if (dropExpiry) {
    expectWord(cursor, 'expire');
    return alter(dropExpiry(cursor, lookup, view));
  }
  if (!isWord(verb, 'set')) throw new RejectionError(cursor.at, "'alter' or 'resume' or 'suspend' expected");
  const token = cursor.requireNoSemicolon("'ttl' or 'refresh'");
  if (isWord(token, 'refresh')) {
    if (isWord(cursor.next(), 'limit')) return { verb: 'set refresh limit', name, limit: parseAge(cursor).age };
    cursor.unread();
  }
  const property = findAlterSyntax('materialized view', `set ${token}`, lookup);
  if (property) return alter(property(cursor, lookup, view));
  if (lookup.enterprise !== false && isWord(token, 'storage'))
    throw new RejectionError(cursor.at, 'storage policy is not supported for materialized views');
  throw new RejectionError(cursor.at, "'ttl' or 'refresh' expected");
}
