/*! The draft of a generated stream: what it has created so far, and random statements that create more. */
import type { Randomness } from './schema-pairs.js';

/** An object as the generator remembers it: enough to write statements that are mostly accepted. */
export interface Sketch {
  readonly kind: 'table' | 'view' | 'materialized view';
  name: string;
  columns: { name: string; type: string }[];
  /** What a view reads from. */
  readonly from?: string;
  /** Whether a materialized view can be based on it. */
  readonly isBase: boolean;
}

/** The statements so far, and the objects that they lead to. */
export interface Draft {
  readonly random: Randomness;
  readonly statements: string[];
  objects: Sketch[];
  serial: number;
}

/** Writes a statement and notes its effect; undefined if there is no suitable object. */
export type Step = (draft: Draft) => string | undefined;

/** Types of columns. */
export const TYPES = 'INT LONG DOUBLE SHORT SYMBOL VARCHAR STRING BOOLEAN UUID DECIMAL(10,2)'.split(' ');
const COLUMNS = ['a', 'b', 'qty', 'price', 'my col', 'select', 'größe'];
const NAMES = ['trades', 'my table', 'a.b', 'Quotes', 'über'];

/** Quotes the name of a column, or of an object in a query. */
export const q = (name: string): string => `"${name}"`;

/** One of the objects, of a kind or of any. */
export function pickObject({ random, objects }: Draft, kind?: Sketch['kind']): Sketch | undefined {
  return random.pick(objects.filter(each => kind === undefined || each.kind === kind));
}

/** One of the columns but the timestamp. */
export function pickColumn({ random }: Draft, { columns }: Sketch, isWanted = (_type: string) => true) {
  return random.pick(columns.filter(({ name, type }) => name !== 'ts' && isWanted(type)));
}

/** A name that no object has. */
export function newName(draft: Draft, prefix: string): string {
  const free = NAMES.filter(name => !draft.objects.some(each => each.name === name));
  const [first] = prefix === 't' ? free : [];
  return first ?? `${prefix}${draft.serial++}`;
}

/** CREATE TABLE of a random table. */
export function createTable({ random, objects }: Draft, name: string, head = 'CREATE TABLE'): string {
  const columns = COLUMNS.filter(() => random.chance(0.5)).map(each => ({ name: each, type: random.pick(TYPES) }));
  const isPartitioned = random.chance(0.85);
  const isWal = isPartitioned && random.chance(0.9);
  objects.push({
    kind: 'table',
    name,
    columns: [{ name: 'ts', type: 'TIMESTAMP' }, ...columns],
    isBase: isWal,
  });
  const options = (type: string) =>
    type === 'SYMBOL' ? random.pick(['', ' NOCACHE', ' INDEX', ' CAPACITY 1024', ' INDEX CAPACITY 64']) : '';
  const list = ['ts TIMESTAMP', ...columns.map(each => `${q(each.name)} ${each.type}${options(each.type)}`)];
  if (!isPartitioned) return `${head} '${name}' (${list.join(', ')})${random.pick(['', ' TIMESTAMP(ts)'])}`;
  const unit = random.pick(['DAY', 'DAY', 'HOUR', 'MONTH']);
  const ttl = random.pick(['', '', unit === 'MONTH' ? ' TTL 12 MONTHS' : ' TTL 2 WEEKS']);
  const keys = columns.filter(() => random.chance(0.3)).map(each => `, ${q(each.name)}`);
  const dedup = isWal && random.chance(0.3) ? ` DEDUP UPSERT KEYS(ts${keys.join('')})` : '';
  const wal = isWal ? random.pick(['', ' WAL']) : ' BYPASS WAL';
  return `${head} '${name}' (${list.join(', ')}) TIMESTAMP(ts) PARTITION BY ${unit}${ttl}${wal}${dedup}`;
}

/** CREATE VIEW over a random object. */
export function createView(draft: Draft, name: string, head = 'CREATE VIEW'): string | undefined {
  const query = newQuery(draft);
  if (!query) return undefined;
  draft.objects.push({ kind: 'view', name, columns: query.columns, from: query.from, isBase: false });
  return `${head} '${name}' AS (${query.text})`;
}

/** A query of a random object; undefined if there is none. */
export function newQuery(draft: Draft): { text: string; columns: Sketch['columns']; from: string } | undefined {
  const { random } = draft;
  const [from, other] = [pickObject(draft), pickObject(draft)];
  if (!from || !other) return undefined;
  const chosen = from.columns.filter((_, i) => i === 0 || random.chance(0.5));
  const list = chosen.map(({ name }) => q(name)).join(', ');
  const star = { text: `select * from '${from.name}'`, columns: from.columns, from: from.name };
  return random.pick([
    star,
    { ...star, text: `select ${list} from ${q(from.name)}`, columns: chosen },
    {
      ...star,
      text: `select ${list} from '${from.name}' where ${q(chosen[0]?.name ?? 'ts')} is not null`,
      columns: chosen,
    },
    { ...star, text: `with x as (select ${list} from '${from.name}') select * from x`, columns: chosen },
    {
      ...star,
      text: `select x.${q(chosen[0]?.name ?? 'ts')} from '${from.name}' x cross join '${other.name}' y`,
      columns: chosen.slice(0, 1),
    },
    {
      ...star,
      text: `select ${q(chosen[0]?.name ?? 'ts')}, count() n from '${from.name}'`,
      columns: [...chosen.slice(0, 1), { name: 'n', type: 'LONG' }],
    },
  ]);
}

/** CREATE MATERIALIZED VIEW over a random base; undefined if there is none. */
export function createMaterializedView(
  draft: Draft,
  name: string,
  head = 'CREATE MATERIALIZED VIEW',
): string | undefined {
  const { random, objects } = draft;
  const base = random.pick(objects.filter(({ isBase }) => isBase));
  if (!base) return undefined;
  const column = pickColumn(draft, base, type => ['INT', 'LONG', 'DOUBLE', 'SHORT'].includes(type));
  const sum = column ? `sum(${q(column.name)}) n` : 'count() n';
  const refresh = random.pick([
    '',
    ' REFRESH MANUAL',
    ' REFRESH IMMEDIATE',
    " REFRESH EVERY 1h START '2030-01-01T00:00:00.000000Z'",
  ]);
  const tail = random.pick([
    '',
    ' PARTITION BY DAY',
    ' PARTITION BY MONTH TTL 12 MONTHS',
    ' PARTITION BY DAY TTL 2 WEEKS',
  ]);
  const columns = [
    { name: 'ts', type: 'TIMESTAMP' },
    { name: 'n', type: 'LONG' },
  ];
  objects.push({ kind: 'materialized view', name, columns, from: base.name, isBase: true });
  const withBase = random.chance(0.5) ? ` WITH BASE '${base.name}'` : '';
  return `${head} '${name}'${withBase}${refresh} AS (select ts, ${sum} from '${base.name}' sample by ${random.pick(['1h', '1d'])})${tail}`;
}
