/*! Parses CREATE. The checks are in the order of the server's parser, because only the first error is reported. */
import { type Defaults, type Definition, type PartitionUnit, SERVER_DEFAULTS } from '../definition.js';
import { expectEndOfBody, parseViewBody } from '../parser/body.js';
import { ClauseReader, type CreateContext, type CreateStatement } from '../parser/clause-reader.js';
import { Cursor, isWord } from '../parser/cursor.js';
import { createPermissiveTraits } from '../parser/lookup.js';
import { parseCreatedName } from '../parser/names.js';
import { MICROS, MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE } from '../parser/numbers.js';
import { clausesOf } from '../properties/object-properties.js';
import { BASE, REFRESH, resolveRefresh } from '../properties/refresh.js';
import { NO_RETENTION, TTL } from '../properties/retention.js';
import { PARTITIONING } from '../properties/storage.js';
import { FLUSH, IN_MEMORY, START_FROM } from '../properties/views.js';
import { findSampling } from '../queries/query-columns.js';
import { parseCreateTable } from './create-table.js';

/** What must follow CREATE, in the wording of the server's message. */
export const AFTER_CREATE = "'atomic' or 'table' or 'batch' or 'materialized' or 'view' or 'or replace'";

/** Parses the text after CREATE. @param first the token after CREATE, already read @throws RejectionError with the server's message */
export function parseAfterCreate(cursor: Cursor, first: string, context: CreateContext): CreateStatement {
  let token = first;
  const orReplace = isWord(token, 'or');
  if (orReplace) {
    cursor.expect('replace');
    token = cursor.require("'view'");
    cursor.expectToken(token, 'view');
  }
  if (isWord(token, 'view')) return parseCreateView(cursor, orReplace, context);
  if (isWord(token, 'materialized')) return parseCreateMaterializedView(cursor, context);
  if (context.hasFeature('live views') && isWord(token, 'live')) return parseCreateLiveView(cursor, context);
  return parseCreateTable(cursor, token, context);
}

/** Parses the CREATE of a table or any view, of any edition and version. @throws RejectionError with the server's message and position */
export function parseCreateStatement(statement: string, defaults: Defaults = SERVER_DEFAULTS): CreateStatement {
  const cursor = new Cursor(statement);
  cursor.expect('create');
  return parseAfterCreate(cursor, cursor.require(AFTER_CREATE), createPermissiveTraits(defaults));
}

/** The definition in a CREATE statement of any edition. @throws as `parseCreateStatement` */
export function parseDefinition(statement: string, defaults: Defaults = SERVER_DEFAULTS): Definition {
  const { definition } = parseCreateStatement(statement, defaults);
  if (definition.kind !== 'materialized view') return definition;
  const { body, partitionBy } = definition;
  const sampling = partitionBy ? undefined : findSampling(body);
  return {
    ...definition,
    refresh: resolveRefresh(definition.refresh, body),
    partitionBy: partitionBy ?? (sampling && defaultPartition(sampling.interval)),
  };
}

const SHORT_UNITS: Readonly<Record<string, string>> = { n: 'ns', U: 'us', T: 'ms' };

/** The partitioning of a materialized view without PARTITION BY, from its sampling interval (source: CreateMatViewOperationImpl). */
export function defaultPartition(interval: string): PartitionUnit {
  const unit = interval.slice(-1);
  const micros = (Number.parseInt(interval, 10) || 1) * (MICROS.get(SHORT_UNITS[unit] ?? unit) ?? MICROS_PER_DAY);
  return micros > MICROS_PER_HOUR ? 'YEAR' : micros > MICROS_PER_MINUTE ? 'MONTH' : 'DAY';
}

function readClausesAfterQuery(reader: ClauseReader): void {
  reader.advance();
  for (const property of clausesOf(reader.definition.kind).after) reader.accept(property);
  reader.expectEnd();
}

function parseCreateView(cursor: Cursor, orReplace: boolean, context: CreateContext): CreateStatement {
  const created = parseCreatedName(cursor, 'view name');
  if (!isWord(cursor.require("'as'"), 'as')) throw cursor.error("'as' expected");
  const body = parseViewBody(cursor, context.checkQuery);
  expectEndOfBody(cursor, body);
  const reader = new ClauseReader(cursor, context, 'view');
  if (body.isEnclosed) readClausesAfterQuery(reader);
  return { ...reader.toStatement('view', created, { ...reader.definition, body: body.text }), body, orReplace };
}

function parseCreateMaterializedView(cursor: Cursor, context: CreateContext): CreateStatement {
  cursor.expect('view');
  const created = parseCreatedName(cursor, 'view name');
  const reader = new ClauseReader(cursor, context, 'materialized view');
  reader.expected = "'as' or 'with' or 'refresh'";
  reader.advance();
  reader.expected = "'as' or 'refresh'";
  reader.accept(BASE);
  reader.accept(REFRESH);
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
function parseCreateLiveView(cursor: Cursor, context: CreateContext): CreateStatement {
  cursor.expect('view');
  const created = parseCreatedName(cursor, 'view name');
  const reader = new ClauseReader(cursor, context, 'live view');
  reader.expected = "'flush every <duration>'";
  reader.advance();
  reader.expected = "'as'";
  if (!reader.accept(FLUSH)) throw cursor.error("'flush every <duration>' expected");
  const readNext = () =>
    LIVE_VIEW_CLAUSES.some(([property, clause]) =>
      reader.accept(property, `live view ${clause} clause specified more than once`),
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
