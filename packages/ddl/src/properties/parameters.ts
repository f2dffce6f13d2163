/*! The parameters of a table, `maxUncommittedRows` and `o3MaxLag`, which share one action of ALTER; and the lag of an INSERT in batches. */
import type { TableDefinition } from '../definition.js';
import type { ClauseReader } from '../parser/clause-reader.js';
import { type Cursor, isWord, RejectionError, unexpectedTokenError } from '../parser/cursor.js';
import { MICROS, parseInt32, parseInt64, parseSigned } from '../parser/numbers.js';
import { defineProperty, type PrintOptions } from '../property.js';

type TableParameters = Pick<TableDefinition, 'maxUncommittedRows' | 'o3MaxLag'>;

const UNITS = { maxUncommittedRows: '', o3MaxLag: 'us' };

/** Parses `5s`, `250ms` or `10us` into microseconds. @throws RejectionError for anything else */
function parseLag(text: string, position: number): number {
  const digits = /^\d*/.exec(text)?.[0].length ?? 0;
  const qualifier = text.slice(digits);
  if (digits > 0 && parseInt64(text.slice(0, digits)) !== undefined) {
    const micros = MICROS.get(qualifier);
    if (micros !== undefined) return Math.floor(Number(text.slice(0, digits)) * micros);
    if (qualifier === '') throw new RejectionError(position + digits, `expected interval qualifier in ${text}`);
    if (qualifier.length > 2)
      throw new RejectionError(position + digits, `expected 1/2 letter interval qualifier in ${text}`);
  }
  throw new RejectionError(position + text.length, `invalid interval qualifier ${text}`);
}

/** Parses `n` or `n o3MaxLag x` after BATCH. @param next the word after both @returns whether there is a lag */
export function parseBatch(cursor: Cursor, next: 'table' | 'into'): boolean {
  if (parseSigned(cursor, 'long integer', parseInt64) <= 0n) throw cursor.error('batch size must be positive integer');
  const hasLag = isWord(cursor.require(`${next} or o3MaxLag`), 'o3maxlag');
  const position = cursor.reach;
  if (hasLag) parseLag(cursor.require('lag value'), position);
  else cursor.unread();
  return hasLag;
}

const defineParameter = <N extends keyof TableParameters>(name: N) =>
  defineProperty<TableParameters, { action: 'parameter'; name: keyof TableParameters; value: number }>()({
    name,
    value: ({ [name]: value }) => (value === undefined ? undefined : `${value}${UNITS[name]}`),
    isHidden: true,
    isOptional: true,
    alter: {
      actions: ['parameter'],
      sets: [name],
      syntax: { 'set param': parseParameter },
      print: altered => `SET PARAM ${altered.name} = ${altered.value}${UNITS[altered.name]}`,
      apply: (_, altered) => ({ [altered.name]: altered.value }),
      permissions: ['SET TABLE PARAM'],
      between({ [name]: value }, { [name]: current }) {
        const isOther = value !== undefined && current !== undefined && value !== current;
        return isOther ? { action: 'parameter', name, value } : undefined;
      },
    },
  });

function parseParameter(cursor: Cursor) {
  const position = cursor.reach;
  const name = cursor.requireNoSemicolon('param name');
  if (cursor.requireNoSemicolon("'='") !== '=') throw cursor.error("'=' expected");
  const text = cursor.next() ?? '';
  const { parameter, value } = parseValue(name, text, position);
  if (!parameter) throw new RejectionError(position, `unknown parameter '${name}'`);
  if (value === undefined) throw new RejectionError(position, `invalid value [value=${text},parameter=${name}]`);
  if (value < 0) throw new RejectionError(position, 'maxUncommittedRows must be non negative');
  return { action: 'parameter' as const, name: parameter, value };
}

/** Parses the value of a parameter. Empty if the name is unknown; without a value if the number of rows is not a number. */
function parseValue(name: string | undefined, text: string, position: number) {
  if (isWord(name, 'o3maxlag')) return { parameter: 'o3MaxLag' as const, value: parseLag(text, position) };
  if (isWord(name, 'maxuncommittedrows')) return { parameter: 'maxUncommittedRows' as const, value: parseInt32(text) };
  return {};
}

/** QuestDB 9.0 to 9.2 print both parameters. */
export const MAX_UNCOMMITTED_ROWS = {
  ...defineParameter('maxUncommittedRows'),
  words: ['with'],
  /** Parses `maxUncommittedRows=n, o3MaxLag=x`, and a comma before IN VOLUME. */
  parse({ cursor }: ClauseReader) {
    const parameters: TableParameters = {};
    for (;;) {
      Object.assign(parameters, parseGivenParameter(cursor));
      if (!cursor.accept(',')) return parameters;
      const next = cursor.next();
      if (next === undefined) throw unexpectedTokenError(cursor.start, ',');
      cursor.unread();
      if (isWord(next, 'in')) return parameters;
    }
  },
  print({ maxUncommittedRows, o3MaxLag }: TableParameters, { form }: PrintOptions) {
    const stated = [
      ...(maxUncommittedRows === undefined ? [] : [`maxUncommittedRows=${maxUncommittedRows}`]),
      // A table that was made LIKE a stored view has -1, which no statement sets.
      ...(o3MaxLag === undefined || o3MaxLag < 0 ? [] : [`o3MaxLag=${o3MaxLag}us`]),
    ];
    return form === '9.3' || stated.length < (form === '9.0' ? 2 : 1) ? '' : `\nWITH ${stated.join(', ')}`;
  },
};

export const O3_MAX_LAG = defineParameter('o3MaxLag');

function parseGivenParameter(cursor: Cursor): TableParameters {
  const name = cursor.next();
  if (cursor.next() !== '=') throw new RejectionError(cursor.reach, ' expected parameter after WITH');
  const equals = cursor.start;
  const text = cursor.next();
  if (text === undefined) throw new RejectionError(equals, "too few arguments for '=' [found=1,expected=2]");
  cursor.next();
  const position = cursor.reach;
  cursor.unread();
  const { parameter, value } = parseValue(name, text, position);
  if (!parameter) throw new RejectionError(position, ` unrecognized ${name} after WITH`);
  if (value !== undefined) return { [parameter]: value };
  throw new RejectionError(position, ` could not parse maxUncommittedRows value "${text}"`);
}
