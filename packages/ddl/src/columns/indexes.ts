import { foldCase, isSameName, type LocatedName } from '@sqlpipe/sql';
import type { Column, Index } from '../definition.js';
import type { CreateContext } from '../parser/clause-reader.js';
import { Cursor, isWord, RejectionError } from '../parser/cursor.js';
import { parseLiteral, quoteName } from '../parser/names.js';
import { parseInt32, parseIntToken, roundUpToPowerOf2 } from '../parser/numbers.js';
import { type AlteredColumn, type ColumnProperty, expectEndOfAlter, requireSymbol } from './column-property.js';

/** Two indexes are the same if they cover the same columns, in any order. */
export const INDEX: ColumnProperty<'add index' | 'drop index', { index?: Index }> = {
  suffix: ' index',
  value: ({ index }) => (index ? printIndex(index, names => names.map(foldCase).sort()).trim() : 'none'),
  print: ({ index }, { quoted }) => (index ? printIndex(index, names => (quoted ? names.map(quoteName) : names)) : ''),
  features: [
    {
      name: 'INDEX TYPE',
      pattern: /\b(?:type|include)\b/i,
      isIn: ({ index }) => index !== undefined && index.capacity === undefined,
      loss: 'its posting indexes become plain ones',
      without(clause) {
        const cursor = new Cursor(clause);
        const isSized = cursor.skipTo(token => isWord(token, 'capacity')) !== undefined;
        return isSized ? ` INDEX CAPACITY ${parseIndexCapacity(cursor)}` : ' INDEX';
      },
    },
  ],
  alter: {
    actions: ['add index', 'drop index'],
    worksOnViews: true,
    syntax: {
      add(cursor, lookup, altered) {
        cursor.expect('index');
        const parse = altered.object.kind === 'table' ? parseIndexOfTable : parseIndexOfView;
        return { action: 'add index', column: altered.name, index: parse(cursor, lookup, altered) };
      },
      drop(cursor, _, altered) {
        const { object, name, column, position } = altered;
        const isTable = object.kind === 'table';
        cursor.expect('index');
        expectEndOfAlter(cursor, altered, 'to drop index');
        if (isTable) requireSymbol(altered, 'indexes are');
        const problem = isTable ? `column is not indexed [column=${name}]` : `column '${name}' is not indexed`;
        if (column && !column.index && !(isTable && object.wal)) throw new RejectionError(position, problem);
        return { action: 'drop index', column: name };
      },
    },
    print: ({ index }) => (index ? `ADD${printIndex(index, names => names.map(quoteName))}` : 'DROP INDEX'),
    apply(column, alteration) {
      // If there is an index, the server reports success and changes nothing (observed on 9.3.4).
      if (alteration.index) return { ...column, index: column.index ?? alteration.index };
      const { index: _, ...rest } = column;
      return rest;
    },
    permissions: ['ADD INDEX', 'DROP INDEX'],
    permission: ({ action }) => action.toUpperCase(),
    between(wanted, current) {
      const { name: column, index } = wanted;
      if (INDEX.value(wanted) === INDEX.value(current)) return [];
      return [
        ...(current.index ? [{ action: 'drop index', column } as const] : []),
        ...(index ? [{ action: 'add index', column, index } as const] : []),
      ];
    },
  },
};

function printIndex(index: Index, printNames: (names: readonly string[]) => readonly string[]): string {
  if (index.capacity !== undefined) return ` INDEX CAPACITY ${index.capacity}`;
  const covered = printNames(index.covered).join(', ');
  return ` INDEX TYPE ${index.type}${covered ? ` INCLUDE (${covered})` : ''}`;
}

type IndexContext = Pick<CreateContext, 'defaults' | 'hasFeature'>;

/** Where the options of an index differ from those in CREATE TABLE. */
interface IndexSyntax {
  /** What the server's message expects if something other than an option or the end follows. */
  readonly expected?: string | undefined;
  readonly parseCapacity?: (cursor: Cursor) => number;
  /** Receives the columns after INCLUDE. */
  readonly covered?: LocatedName[];
}

/** Parses the options after INDEX. Servers without INDEX TYPE know only CAPACITY. @param token the next token, already read */
export function parseIndexOptions(
  cursor: Cursor,
  token: string | undefined,
  { defaults, hasFeature }: IndexContext,
  { expected, parseCapacity, covered = [] }: IndexSyntax = {},
): Index {
  const isTyped = hasFeature('INDEX TYPE');
  if (isTyped && isWord(token, 'include')) return parseCovering('POSTING', cursor, covered);
  if (isTyped && isWord(token, 'type')) return parseIndexType(cursor, defaults.indexCapacity, covered);
  if (expected !== undefined && !isWord(token, 'capacity')) throw cursor.error(`${expected} expected`);
  return { type: 'BITMAP', capacity: parseCapacityOption(cursor, token, defaults.indexCapacity, parseCapacity) };
}

/** Parses `CAPACITY n`, if it comes next. @param token the next token, already read @returns the capacity, or else the default */
export function parseCapacityOption(
  cursor: Cursor,
  token: string | undefined,
  defaultCapacity: number,
  parseCapacity = parseIndexCapacity,
): number {
  if (isWord(token, 'capacity')) return parseCapacity(cursor);
  cursor.unread();
  return defaultCapacity;
}

function parseIndexCapacity(cursor: Cursor): number {
  const [min, max] = [2, 2 ** 23];
  const position = cursor.reach;
  const capacity = parseIntToken(cursor);
  if (capacity < min) throw new RejectionError(position, `min index block capacity is ${min}`);
  if (capacity > max) throw new RejectionError(position, `max index block capacity is ${max}`);
  return roundUpToPowerOf2(capacity);
}

/** Makes a parser of the number after CAPACITY in ALTER, where the bounds of CREATE do not apply. */
export const createCapacityParser =
  (expected: string, problem: string, isValid = (_: number) => true) =>
  (cursor: Cursor) => {
    const capacity = parseInt32(cursor.requireNoSemicolon(expected));
    if (capacity === undefined || !isValid(capacity)) throw cursor.error(problem);
    return roundUpToPowerOf2(capacity);
  };

function parseIndexType(cursor: Cursor, defaultCapacity: number, covered: LocatedName[]): Index {
  const type = cursor.require('index type');
  if (isWord(type, 'bitmap')) {
    const capacity = parseCapacityOption(cursor, cursor.next(), defaultCapacity);
    if (cursor.accept('include')) throw cursor.error('INCLUDE is only supported for POSTING index type');
    return { type: 'BITMAP', capacity };
  }
  if (!isWord(type, 'posting')) throw cursor.error(`unknown index type: ${type}`);
  const flavour = [' DELTA', ' EF'].find(each => cursor.accept(each.trim().toLowerCase())) ?? '';
  if (cursor.accept('capacity')) throw cursor.error('CAPACITY is only supported for BITMAP index type');
  const posting = `POSTING${flavour}`;
  return cursor.accept('include') ? parseCovering(posting, cursor, covered) : { type: posting, covered: [] };
}

function parseCovering(type: string, cursor: Cursor, covered: LocatedName[]): Index {
  cursor.expect('(');
  let token = cursor.require("column name or ')'");
  if (token === ')') throw cursor.error('at least one column name expected in INCLUDE');
  for (;;) {
    cursor.unread();
    covered.push(parseLiteral(cursor));
    token = cursor.require("',' or ')'");
    if (token === ')') return { type, covered: covered.map(({ name }) => name) };
    cursor.expectToken(token, ',');
    token = cursor.require('column name');
  }
}

/** Requires that an index covers other columns of its table, each once. @param lacks how the message says that there is no such column */
export function rejectBadCoveredColumns(
  indexed: string,
  covered: readonly LocatedName[],
  columns: readonly Column[],
  lacks: "doesn't exist" | 'does not exist',
): void {
  for (const [i, { name, start }] of covered.entries()) {
    const rejection = (problem: string) => new RejectionError(start, `${problem} [column=${name}]`);
    if (!columns.some(column => isSameName(column.name, name))) throw rejection(`INCLUDE column ${lacks}`);
    if (isSameName(name, indexed)) throw rejection('INCLUDE must not contain the indexed column');
    if (covered.slice(0, i).some(other => isSameName(other.name, name))) throw rejection('duplicate column in INCLUDE');
  }
}

/** Adds the designated timestamp to the columns that a posting index covers, as the server does. */
export function addTimestampToIndex(column: Column, timestamp: string | undefined): Column {
  const { index } = column;
  if (!timestamp || !index || index.capacity !== undefined || index.covered.length === 0) return column;
  const covered = index.covered.some(name => isSameName(name, timestamp));
  return covered ? column : { ...column, index: { ...index, covered: [...index.covered, timestamp] } };
}

/** Renames a column in the INCLUDE of a posting index, which the server stores by number. */
export function renameInIndex(column: Column, from: string, to: string): Column {
  const { index } = column;
  if (!index || index.capacity !== undefined) return column;
  return { ...column, index: { ...index, covered: index.covered.map(name => (isSameName(name, from) ? to : name)) } };
}

const endsAlter = (token: string | undefined): boolean => token === undefined || token === ';';

function parseIndexOfTable(cursor: Cursor, lookup: IndexContext, altered: AlteredColumn): Index {
  const { object, name, column, objectPosition } = altered;
  const token = cursor.next();
  const problem = 'positive integer literal expected as index capacity';
  const covered: LocatedName[] = [];
  const index = parseIndexOptions(cursor, token, lookup, {
    covered,
    expected: endsAlter(token) ? undefined : "'capacity'",
    parseCapacity: createCapacityParser('capacity value', problem, capacity => capacity > 0),
  });
  requireSymbol(altered, 'indexes are');
  if (object.columns) rejectBadCoveredColumns(name, covered, object.columns, 'does not exist');
  // QuestDB alters a WAL table later. Then an existing index is no error.
  if (column?.index && !object.wal)
    throw new RejectionError(objectPosition, `column is already indexed [column=${name}]`);
  return index;
}

function parseIndexOfView(cursor: Cursor, { defaults }: IndexContext, altered: AlteredColumn): Index {
  const { name, column, position } = altered;
  const reject = (problem: string) => new RejectionError(position, `column '${name}' ${problem}`);
  if (column?.index) throw reject('already indexed');
  if (column && column.type !== 'SYMBOL')
    throw reject(`is of type '${column.type}'. Index supports column type 'SYMBOL' only.`);
  const token = cursor.next();
  if (!endsAlter(token) && !isWord(token, 'capacity')) throw cursor.error("'capacity' keyword expected");
  const parseCapacity = createCapacityParser('index capacity value', 'index capacity value must be numeric');
  return { type: 'BITMAP', capacity: parseCapacityOption(cursor, token, defaults.indexCapacity, parseCapacity) };
}
