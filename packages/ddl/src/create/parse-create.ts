import { type Defaults, type Definition, type PartitionUnit, SERVER_DEFAULTS } from '../definition.js';
import type { CreateContext, CreateStatement } from '../parser/clause-reader.js';
import { Cursor, isWord } from '../parser/cursor.js';
import { createPermissiveTraits } from '../parser/lookup.js';
import { MICROS, MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE } from '../parser/numbers.js';
import { resolveRefresh } from '../properties/refresh.js';
import { findSampling } from '../queries/query-columns.js';
import { parseCreateTable } from './create-table.js';
import { parseCreateLiveView, parseCreateMaterializedView, parseCreateView } from './create-views.js';

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
