/*! PARQUET(encoding, codec(level), BLOOM_FILTER) of a column. The encodings of a type are known from messages of 9.3.4 and later. */

import type { HasFeature } from '../features.js';
import { type Cursor, isWord } from '../parser/cursor.js';
import { parseInt32 } from '../parser/numbers.js';
import { isArray } from '../parser/types.js';
import { type ColumnProperty, expectEndOfAlter } from './column-property.js';

export const PARQUET: ColumnProperty<'parquet settings', { parquet: string }> = {
  suffix: ' Parquet settings',
  value: ({ parquet }) => parquet || 'none',
  print: ({ parquet }) => (parquet ? ` PARQUET(${parquet})` : ''),
  features: [
    { name: 'PARQUET(…)', pattern: /parquet/i, isIn: ({ parquet }) => Boolean(parquet), without: () => '' },
    {
      name: 'BLOOM_FILTER',
      pattern: /bloom_filter/i,
      isIn: ({ parquet }) => /bloom_filter$/.test(parquet ?? ''),
      without: clause => (/\(\s*bloom_filter/i.test(clause) ? '' : clause.replace(/\s*,\s*bloom_filter/i, '')),
    },
  ],
  alter: {
    actions: ['parquet settings'],
    syntax: {
      set(cursor, { hasFeature }, altered) {
        cursor.expect('parquet');
        const parquet = parseParquet(cursor, altered.column?.type, hasFeature, true);
        expectEndOfAlter(cursor, altered, 'to set parquet encoding');
        return { action: 'parquet settings', column: altered.name, parquet };
      },
    },
    print: ({ parquet }) => `SET PARQUET(${parquet || 'default'})`,
    apply: (column, { parquet }) => ({ ...column, parquet }),
    permissions: ['SET PARQUET SETTINGS'],
    between: ({ name, parquet = '' }, current) =>
      (current.parquet ?? '') === parquet ? [] : [{ action: 'parquet settings', column: name, parquet }],
  },
};

const INTEGER_TYPES = new Set(['BYTE', 'SHORT', 'CHAR', 'INT', 'LONG', 'DATE', 'TIMESTAMP', 'TIMESTAMP_NS', 'IPv4']);

const ENCODINGS = new Map<string, (type: string) => boolean>([
  ['plain', type => type !== 'SYMBOL' && type !== 'VARCHAR'],
  ['rle_dictionary', type => type !== 'BOOLEAN' && !isArray(type)],
  ['delta_length_byte_array', type => ['STRING', 'VARCHAR', 'BINARY'].includes(type)],
  ['delta_binary_packed', type => INTEGER_TYPES.has(type) || type.startsWith('GEOHASH')],
  ['byte_stream_split', () => false],
]);

/** With the name in a message and the bounds of their levels; those without bounds accept any level. */
const CODECS = new Map<string, readonly [label: string, min: number, max: number] | undefined>([
  ['uncompressed', undefined],
  ['snappy', undefined],
  ['gzip', ['GZIP', 0, 9]],
  ['brotli', ['Brotli', 0, 11]],
  ['zstd', ['ZSTD', 1, 22]],
  ['lz4_raw', undefined],
]);

/** Parses the parentheses after PARQUET. @returns the printed form; '' for `(default)`, which has no effect (but 9.3.4 prints it) */
export function parseParquet(cursor: Cursor, type: string | undefined, hasFeature: HasFeature, alters = false): string {
  const isBloomFilter = (word: string) => hasFeature('BLOOM_FILTER') && isWord(word, 'bloom_filter');
  cursor.expect('(');
  let [encoding, codec] = ['', ''];
  let token = cursor.require('encoding name or BLOOM_FILTER');
  if (!isBloomFilter(token)) {
    encoding = parseEncoding(cursor, token, type);
    token = cursor.require("',' or ')'");
  }
  if (token === ',') {
    token = cursor.require('compression codec name or BLOOM_FILTER');
    if (!isBloomFilter(token)) {
      codec = parseCompression(cursor, token, alters || hasFeature('BLOOM_FILTER'));
      token = cursor.require("',' or ')'");
    }
  }
  if (token === ',' && hasFeature('BLOOM_FILTER')) token = cursor.require('BLOOM_FILTER');
  const filter = isBloomFilter(token) ? 'bloom_filter' : '';
  cursor.expectToken(filter ? cursor.require("')'") : token, ')');
  if (encoding === 'default' && !codec) return filter;
  return [encoding, codec, filter].filter(Boolean).join(', ');
}

function parseEncoding(cursor: Cursor, token: string, type: string | undefined): string {
  const name = token.toLowerCase();
  if (name === 'default') return name;
  const types = type === undefined ? ['INT', 'STRING'] : [type]; // each encoding fits one of the two, if it fits any type
  const valid = [...ENCODINGS].filter(([, fits]) => types.some(fits)).map(([encoding]) => encoding);
  if (!ENCODINGS.has(name))
    throw cursor.error(`invalid parquet encoding '${token}', supported values: ${valid.join(', ')}`);
  if (!valid.includes(name))
    throw cursor.error(
      `encoding '${token}' is not valid for column type ${type}, supported encodings for this type: ${valid.join(', ')}`,
    );
  return name;
}

/** @param listsCodecs whether the server lists the codecs if it rejects one */
function parseCompression(cursor: Cursor, token: string, listsCodecs: boolean): string {
  const name = token.toLowerCase();
  if (!CODECS.has(name)) {
    const list = `'${token}', supported values: ${[...CODECS.keys()].join(', ')}`;
    throw cursor.error(`invalid parquet compression codec${listsCodecs ? ` ${list}` : `: ${token}`}`);
  }
  if (cursor.require("'(' or ')'") !== '(') {
    cursor.unread();
    return name;
  }
  const level = parseInt32(cursor.require('compression level'));
  if (level === undefined) throw cursor.error('compression level must be a number');
  const [label, min = level, max = level] = CODECS.get(name) ?? [];
  if (level < min || level > max) throw cursor.error(`${label} compression level must be between ${min} and ${max}`);
  cursor.expect(')');
  return `${name}(${level})`;
}
