import { foldCase, isSameName, type LocatedName, NameSet } from '@sqlpipe/sql';
import type { TableDefinition } from '../definition.js';
import { type Cursor, isWord, RejectionError } from '../parser/cursor.js';
import type { FoundObject } from '../parser/lookup.js';
import { quoteColumn, quoteName, rejectNonLiteral, unquoteToken } from '../parser/names.js';
import { isArray } from '../parser/types.js';
import { defineProperty } from '../property.js';

type KeyedTable = Pick<TableDefinition, 'columns' | 'wal' | 'timestamp'>;

const keysOf = ({ columns }: KeyedTable): string[] => columns.filter(({ dedup }) => dedup).map(({ name }) => name);

const formatKeySet = (names: readonly string[]): string => names.map(foldCase).sort().join(', ');

/** The keys are compared sorted, because servers print them in column order. */
export const DEDUP_KEYS = defineProperty<KeyedTable, { action: 'dedup keys'; keys: readonly string[] }>()({
  name: 'dedup keys',
  value: table => formatKeySet(keysOf(table)) || 'none',
  words: ['dedup', 'deduplicate'],
  parse(reader) {
    const { cursor, columns, clauseNames, isQuery } = reader;
    const { wal, timestamp = '' } = reader.definition;
    if (!wal) throw new RejectionError(cursor.reach, 'deduplication is possible only on WAL tables');
    if (!isWord(cursor.next(), 'upsert')) throw cursor.error("expected 'upsert'");
    const { keys, position } = parseDedupKeys(cursor, 'column list', key => {
      const { name, start } = key;
      const column = columns.get(name);
      const reject = (problem: string): RejectionError => new RejectionError(start, problem);
      if (isQuery) clauseNames.dedup.push(key);
      else if (!column) throw reject(`deduplicate key column not found [column=${name}]`);
      else if (column.dedup) throw reject(`duplicate dedup column [column=${name}]`);
      if (column && isArray(column.type))
        throw reject(`dedup key columns cannot include ARRAY [column=${name}, type=${column.type}]`);
      (column ?? columns.addOfQuery(name)).dedup = true;
    });
    if (!isQuery && !keys.some(name => isSameName(name, timestamp))) throw new RejectionError(position, NO_TIMESTAMP);
    return {}; // the columns are marked
  },
  print(table, { quoted }) {
    const keys = keysOf(table).map(name => (quoted ? quoteName(name) : name));
    return keys.length > 0 ? `\nDEDUP UPSERT KEYS(${keys.join(',')})` : '';
  },
  alter: {
    actions: ['dedup keys'],
    sets: ['dedup keys'],
    syntax: { dedup: parseDedupChange, deduplicate: parseDedupChange },
    print: ({ keys }) =>
      keys.length > 0 ? `DEDUP ENABLE UPSERT KEYS(${keys.map(quoteColumn).join(',')})` : 'DEDUP DISABLE',
    apply(table, { keys }) {
      const set = new NameSet(keys);
      return { columns: table.columns.map(each => ({ ...each, dedup: set.has(each.name) })) };
    },
    permissions: ['DEDUP ENABLE', 'DEDUP DISABLE'],
    permission: ({ keys }) => (keys.length > 0 ? 'DEDUP ENABLE' : 'DEDUP DISABLE'),
    // All wanted keys are set, even if the column of a key cannot be added. With fewer keys, rows would overwrite each other.
    between(wanted, current) {
      const keys = keysOf(wanted);
      const hasTimestamp = keys.some(key => isSameName(key, current.timestamp ?? ''));
      const isPossible = current.wal && (keys.length === 0 || hasTimestamp);
      return isPossible && formatKeySet(keys) !== formatKeySet(keysOf(current))
        ? { action: 'dedup keys', keys }
        : undefined;
    },
  },
  unalterable: { reason: 'only a WAL table has dedup keys, which include the designated timestamp' },
});

const NO_TIMESTAMP = 'deduplicate key list must include dedicated timestamp column';

function parseDedupKeys(cursor: Cursor, expected: string, check: (key: LocatedName) => void) {
  if (!isWord(cursor.next(), 'keys')) throw cursor.error("expected 'keys'");
  if (cursor.next() !== '(') throw new RejectionError(cursor.reach, `${expected} expected`);
  const keys: string[] = [];
  let token = cursor.next();
  const position = cursor.start;
  while (token !== undefined && token !== ')') {
    rejectNonLiteral(token, cursor.start);
    const key = { name: unquoteToken(token), start: cursor.start };
    check(key);
    keys.push(key.name);
    token = cursor.next();
    if (token === ',') token = cursor.next();
  }
  return { keys, position, isClosed: token === ')' };
}

function parseDedupChange(cursor: Cursor, _: unknown, { object, position }: FoundObject) {
  const { columns, timestamp = '', wal } = object;
  const token = cursor.requireNoSemicolon("'dedup columns'");
  if (isWord(token, 'disable')) return { action: 'dedup keys', keys: [] } as const;
  if (wal === false) throw new RejectionError(position, 'deduplication is only supported for WAL tables');
  const upsert = isWord(token, 'enable') ? cursor.next() : token;
  if (!isWord(upsert, 'upsert')) throw cursor.error("expected 'upsert'");
  const parsed = parseDedupKeys(cursor, 'deduplicate key column list', ({ name, start }) => {
    if (columns && !columns.some(column => isSameName(column.name, name)))
      throw new RejectionError(start, `deduplicate key column not found [column=${name}]`);
  });
  if (!parsed.isClosed) throw new RejectionError(cursor.reach, "')' expected");
  if (!parsed.keys.some(key => !columns || isSameName(key, timestamp)))
    throw new RejectionError(parsed.position, NO_TIMESTAMP);
  return { action: 'dedup keys', keys: parsed.keys } as const;
}
