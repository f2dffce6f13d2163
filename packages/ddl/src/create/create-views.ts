/*! The checks are in the order of the server's parser, because only the first error is reported. */
import type { LiveViewDefinition, MaterializedViewDefinition, ViewDefinition } from '../definition.js';
import { expectEndOfBody, parseViewBody } from '../parser/body.js';
import { ClauseReader, type CreateContext, type CreateOf } from '../parser/clause-reader.js';
import { type Cursor, isWord } from '../parser/cursor.js';
import { parseCreatedName } from '../parser/names.js';
import { clausesOf } from '../properties/object-properties.js';
import { BASE, REFRESH } from '../properties/refresh.js';
import { NO_RETENTION, TTL } from '../properties/retention.js';
import { PARTITIONING } from '../properties/storage.js';
import { FLUSH, IN_MEMORY, START_FROM } from '../properties/views.js';

function readClausesAfterQuery(reader: ClauseReader): void {
  reader.advance();
  for (const property of clausesOf(reader.definition.kind).after) reader.read(property);
  reader.expectEnd();
}

export function parseCreateView(cursor: Cursor, orReplace: boolean, context: CreateContext): CreateOf<ViewDefinition> {
  const created = parseCreatedName(cursor, 'view name');
  if (!isWord(cursor.require("'as'"), 'as')) throw cursor.error("'as' expected");
  const body = parseViewBody(cursor, context.checkQuery);
  expectEndOfBody(cursor, body);
  const reader = new ClauseReader(cursor, context, 'view');
  if (body.isEnclosed) readClausesAfterQuery(reader);
  return { ...reader.toStatement('view', created, { ...reader.definition, body: body.text }), body, orReplace };
}

export function parseCreateMaterializedView(
  cursor: Cursor,
  context: CreateContext,
): CreateOf<MaterializedViewDefinition> {
  cursor.expect('view');
  const created = parseCreatedName(cursor, 'view name');
  const reader = new ClauseReader(cursor, context, 'materialized view');
  reader.expected = "'as' or 'with' or 'refresh'";
  reader.advance();
  reader.expected = "'as' or 'refresh'";
  reader.read(BASE);
  reader.read(REFRESH);
  if (!isWord(reader.token, 'as'))
    throw cursor.error(reader.spans.has(REFRESH.name) ? "'as' expected" : "'refresh' or 'as' expected");
  const body = parseViewBody(cursor, context.checkQuery);
  const { base: name = '' } = reader.definition;
  const span = reader.spans.get(BASE.name);
  const given = span && { name, start: span.position };
  const base = context.findBase ? context.findBase(body, given) : given;
  reader.definition = { ...reader.definition, base: base?.name };
  reader.expected = undefined;
  expectEndOfBody(cursor, body);
  if (body.isEnclosed) readClausesAfterQuery(reader);
  const refresh = { type: 'IMMEDIATE', deferred: false } as const;
  const stated = { ...NO_RETENTION, refresh, ...reader.definition, body: body.text };
  return { ...reader.toStatement('materialized view', created, stated), body, base };
}

/** The messages come from QuestDB 10's documentation and tests. A position that is unknown from there is that of the token. */
export function parseCreateLiveView(cursor: Cursor, context: CreateContext): CreateOf<LiveViewDefinition> {
  cursor.expect('view');
  const created = parseCreatedName(cursor, 'view name');
  const reader = new ClauseReader(cursor, context, 'live view');
  reader.expected = "'flush every <duration>'";
  reader.advance();
  reader.expected = "'as'";
  if (!reader.read(FLUSH)) throw cursor.error("'flush every <duration>' expected");
  const readNext = () =>
    LIVE_VIEW_CLAUSES.some(([property, clause]) =>
      reader.read(property, { duplicate: `live view ${clause} clause specified more than once`, isChecked: false }),
    );
  while (readNext());
  if (isWord(reader.token, 'backfill'))
    throw cursor.error('live view BACKFILL is not supported, use START FROM BEGINNING');
  if (!reader.spans.has(IN_MEMORY.name)) reader.check(FLUSH);
  if (!isWord(reader.token, 'as')) throw cursor.error("'as' expected");
  if (!reader.spans.has(START_FROM.name))
    throw cursor.error(
      "live view requires a START FROM clause, one of 'START FROM NOW', 'START FROM BEGINNING' or 'START FROM <timestamp>'",
    );
  reader.check(TTL);
  const body = parseViewBody(cursor, context.checkQuery, true);
  if (body.isEnclosed) expectEndOfBody(cursor, body);
  reader.expected = undefined;
  readClausesAfterQuery(reader);
  const { flush = '', inMemory = flush, start = '' } = reader.definition;
  const stated = { ...NO_RETENTION, ...reader.definition, flush, inMemory, start, body: body.text };
  return { ...reader.toStatement('live view', created, stated), body };
}

/** The clauses that follow FLUSH EVERY in any order, with their names in messages. */
const LIVE_VIEW_CLAUSES = [
  [IN_MEMORY, 'IN MEMORY'],
  [PARTITIONING, 'PARTITION BY'],
  [TTL, 'TTL'],
  [START_FROM, 'START FROM'],
] as const;
