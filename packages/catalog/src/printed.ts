/*! The very form in which the service prints an object (SERVICE.md 2.5 to 2.8), mended: what is in it comes back as it went. */
import { POSTING, TYPE } from './mend-table.js';
import { needsQuotes } from './quote.js';

const NAME = String.raw`(?:[^ \t\n"'(),]+|"[^"\n]+")`;
const OBJECT = String.raw`'[^'\n]+'`;
const UNIT = '(?:HOUR|DAY|WEEK|MONTH|YEAR)';
const TTL = String.raw`(?: TTL (?:1 ${UNIT}|(?!1 )\d+ ${UNIT}S))?`;
const PARTITION = ` PARTITION BY (?:NONE|${UNIT})${TTL}`;
/** What is not partitioned has no WAL. */
const NONE_WITH_WAL = ` PARTITION BY NONE(?![^]* BYPASS WAL)`;
const VOLUME = `(?: IN VOLUME ${NAME})?`;
const BODY = String.raw`\n[^]*\n\)`;
/** A length of time such as `10m`, a moment to the microsecond, a time zone. */
const LENGTH = String.raw`\d+[A-Za-z]+`;
const MOMENT = String.raw`'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z'`;
const ZONE = `(?: TIME ZONE ${OBJECT})?`;

const COLUMN = String.raw`\t${NAME} (?:${TYPE}|${POSTING})(?: PARQUET\([^\n]+\))?`;
const TABLE =
  String.raw`TABLE ${OBJECT} \( \n${COLUMN}(?:,\n${COLUMN})*\n\)` +
  String.raw`(?: timestamp\((?<timestamp>${NAME})\)(?!${NONE_WITH_WAL})${PARTITION}(?:\nSTORAGE POLICY\([^()\n]+\))?(?: FORMAT PARQUET)?(?: BYPASS WAL)?)?` +
  String.raw`${VOLUME}(?:\nDEDUP UPSERT KEYS\((?<keys>${NAME}(?:,${NAME})*)\))?`;

const VIEW = String.raw`VIEW ${OBJECT} AS \( ${BODY}`;

const PERIOD = String.raw` PERIOD \(LENGTH ${LENGTH}${ZONE}(?: DELAY ${LENGTH})?\)`;
const OFTEN = `EVERY ${LENGTH}(?: DEFERRED)?(?: START ${MOMENT}${ZONE}|${PERIOD})`;
const REFRESH = `(?:(?:IMMEDIATE|MANUAL)(?: DEFERRED)?(?:${PERIOD})?|${OFTEN})`;
const MATVIEW =
  String.raw`MATERIALIZED VIEW ${OBJECT} WITH BASE ${OBJECT} REFRESH ${REFRESH} AS \(${BODY}` +
  String.raw`(?:${PARTITION}| TTL \d+ MONTHS?)${VOLUME}`;

const LIVE_VIEW =
  String.raw`LIVE VIEW ${OBJECT}(?: FLUSH EVERY ${LENGTH})?(?: IN MEMORY ${LENGTH})?${PARTITION}` +
  String.raw` START FROM (?:NOW|BEGINNING|${OBJECT}) AS \(${BODY}`;

/** Where the enterprise edition prints an owner is known for tables only. */
const PRINTED = new RegExp(String.raw`^CREATE (?:${TABLE}|${VIEW}|${MATVIEW}|${LIVE_VIEW})(?:\s+OWNED BY [^\n]+)?;$`);

/** What is not printed as it was given: an index in powers of two, lengths of time and geohashes in the largest unit. */
const ROUNDED = /\bINDEX CAPACITY (\d+)|\bTTL (\d+) (HOUR|DAY|MONTH)|\bGEOHASH\((\d+)b\)/g;
const FILLS: Record<string, number> = { HOUR: 24, DAY: 7, MONTH: 12 };

/**
 * Whether a statement is in the form that the service prints, and so must come back as it went.
 * What is not may come back in other words and mean the same.
 */
export function isPrinted(statement: string): boolean {
  const { groups } = PRINTED.exec(statement) ?? {};
  if (!groups) return false;
  const isTable = statement.startsWith('CREATE TABLE');
  if (isTable && !isSpelledAsPrinted(statement, groups)) return false;
  const withoutBody = isTable ? statement : statement.replace(/ AS \([^]*\n\)/, '');
  return Array.from(withoutBody.matchAll(ROUNDED)).every(([, capacity, ttl, unit = '', bits]) => {
    if (capacity !== undefined) return Number.isInteger(Math.log2(Number(capacity)));
    return Number(ttl ?? bits) % (FILLS[unit] ?? 5) !== 0;
  });
}

const NAMES = new RegExp(NAME, 'g');
const COLUMN_NAMES = new RegExp(String.raw`^\t(${NAME}) `, 'gm');

/** Whether columns are called as they are in the list, keys in its order, and quotes are where they must be. */
function isSpelledAsPrinted(table: string, { timestamp, keys = '' }: Record<string, string | undefined>): boolean {
  const columns = Array.from(table.matchAll(COLUMN_NAMES), ([, name = '']) => name);
  const order = Array.from(keys.matchAll(NAMES), ([name]) => columns.indexOf(name));
  return (
    (timestamp === undefined || columns.includes(timestamp)) &&
    order.every((at, i) => at > (order[i - 1] ?? -1)) &&
    columns.every(name => !name.startsWith('"') || needsQuotes(name.slice(1, -1)))
  );
}
