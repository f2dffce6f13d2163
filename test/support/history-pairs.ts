/*!
 * Generates pairs of schemas whose materialized views hold rows that nothing can compute again: chains of materialized
 * views over tables that have lost rows, and the same schema after some changes. A seed always gives the same pair.
 */
import { columnsOf, EDITS, type MaterializedView, type Model, type Table, type View } from './history-edits.js';
import { type Randomness, randomness } from './schema-pairs.js';

/** A schema with rows, what it has lost, and the wanted schema. */
export interface HistoryPair {
  readonly seed: number;
  /** Creates and fills the tables. */
  readonly tables: string[];
  /** Creates the views, each followed by its refresh where it is not refreshed by itself. */
  readonly views: string[];
  /** Removes rows that the views hold. */
  readonly erosion: string[];
  /** The wanted schema. */
  readonly after: string[];
  /** Values of --renamed: OLD=NEW. */
  readonly renamed: string[];
  /** Sent between planning and applying. */
  readonly meanwhile: string[];
  /** What the pair has and what is changed, for messages. */
  readonly description: string;
  /** Objects that do not give what they gave before, since their definition or one below differs. */
  readonly redefined: ReadonlySet<string>;
  /** Whether a view of the wanted schema reads something that the wanted schema lacks. */
  readonly isBroken: boolean;
  /** The columns of table `b` that a writer fills while the plan is made and applied; undefined if there is no writer. */
  readonly written: readonly string[] | undefined;
}

/** The days for which there are rows: `2024-01-01` and so on. Rows of the last day end at noon. */
export const DAYS = 10;

/** The last day, into which a writer inserts and whose values therefore change. */
export const LAST_DAY = `2024-01-${DAYS}`;

const TYPES: Readonly<Record<string, string>> = { qty: 'INT', price: 'DOUBLE', cost: 'FLOAT', size: 'LONG' };
const VALUES: Readonly<Record<string, string>> = {
  k: `CASE WHEN x % 3 = 0 THEN 'x' WHEN x * 7 % 5 < 2 THEN 'y' ELSE 'z' END`,
  qty: '(4 + x * 31 % 87)::int',
  price: '(1 + x * 37 % 9001) / 8.0',
  cost: '((1 + x * 41 % 89) / 4.0)::float',
  size: '1 + x * 43 % 91',
  note: `concat('n', x)`,
  w: 'x::int',
};
const HALF_HOUR = 1_800_000_000;

/** Generates the pair of a seed. */
export function historyPair(seed: number): HistoryPair {
  const random = randomness(seed ^ 0x415);
  const model = newModel(random);
  const tables = model.tables.flatMap(table => [`${printTable(table)};`, fill(table)]);
  const views = printViews(model).flatMap(statement => [`${statement};`, ...refreshAfter(statement, random)]);
  const erosion = unique(Array.from({ length: random.pick([0, 1, 1, 2]) }, () => erode(model, random)));
  const changes: string[] = [];
  const count = 1 + random.below(3);
  for (let tries = 0; changes.length < count && tries < 50; tries++) {
    const done = random.pick(EDITS)(model, random);
    if (done !== undefined) changes.push(done);
  }
  const hasWriter = random.chance(1 / 3);
  const meanwhile = random.chance(0.25)
    ? [random.pick(hasWriter ? [dropDay(random)] : [dropDay(random), FAR_ROW])]
    : [];
  const notes = [...(hasWriter ? ['with a writer'] : []), ...meanwhile.map(each => `meanwhile ${each}`)];
  return {
    seed,
    tables,
    views,
    erosion,
    after: [...model.tables.map(printTable), ...printViews(model)].map(statement => `${statement};`),
    renamed: model.renamed,
    meanwhile,
    description: [
      `seed ${seed}: ${views.filter(each => each.startsWith('CREATE')).join(' ')}`,
      `lost: ${erosion.join('; ') || 'nothing'}`,
      `changed: ${changes.join('; ')}`,
      ...notes,
    ].join('\n  '),
    redefined: withReaders(model),
    isBroken: [...model.views, ...model.materialized].some(view => !resolves(model, view)),
    written: hasWriter ? ['k', ...unchangedColumns(model)] : undefined,
  };
}

const unique = (statements: readonly string[]): string[] => [...new Set(statements)];

function newModel(random: Randomness): Model {
  const b: Table = {
    name: 'b',
    columns: [
      { name: 'ts', type: 'TIMESTAMP' },
      { name: 'k', type: 'SYMBOL' },
      ...Object.entries(TYPES).map(([name, type]) => ({ name, type })),
      { name: 'note', type: 'VARCHAR' },
    ],
    ttl: 0,
    keys: random.chance(0.3) ? ['ts', 'k'] : [],
  };
  const j: Table = {
    name: 'j',
    columns: [
      { name: 'ts', type: 'TIMESTAMP' },
      { name: 'k', type: 'SYMBOL' },
      { name: 'w', type: 'INT' },
    ],
    ttl: 0,
    keys: [],
  };
  const model: Model = { tables: [b, j], views: [], materialized: [], redefined: new Set(), renamed: [] };
  if (random.chance(0.4))
    model.views.push({ name: 'v', from: 'b', columns: ['k', 'qty', 'price', 'size'], minimum: 5 });
  addChain(model, random);
  const top = random.pick(model.materialized) as MaterializedView;
  if (random.chance(0.5)) model.views.push({ name: 'top', from: top.name, columns: ['n', ...top.columns], minimum: 0 });
  if (random.chance(0.3)) model.materialized.push(newView('x', 'j', 'j', ['w'], '6h', random));
  return model;
}

/** Adds one to three materialized views, each over the one before. */
function addChain(model: Model, random: Randomness): void {
  const source = model.views.length > 0 && random.chance(0.6) ? 'v' : 'b';
  const first = newView('m0', 'b', source, ['qty', random.pick(['price', 'size'])], '1h', random);
  if (random.chance(0.35)) first.joined = 'w';
  model.materialized.push(first);
  const length = 1 + random.below(3);
  for (let i = 1; i < length; i++) {
    const below = model.materialized[i - 1] as MaterializedView;
    const columns = [...below.columns, ...(below.joined ? ['w'] : [])].filter(() => random.chance(0.8));
    const view = newView(`m${i}`, below.name, below.name, columns, i === 1 ? random.pick(['6h', '1d']) : '1d', random);
    model.materialized.push({ ...view, hasKey: view.hasKey && below.hasKey });
  }
}

const newView = (
  name: string,
  base: string,
  from: string,
  columns: string[],
  interval: string,
  random: Randomness,
): MaterializedView => ({
  name,
  base,
  from,
  columns,
  hasKey: random.chance(0.6),
  joined: undefined,
  aggregate: random.pick(['sum', 'sum', 'max']),
  interval,
  refresh: random.pick([
    'IMMEDIATE',
    'IMMEDIATE',
    'IMMEDIATE',
    'IMMEDIATE',
    'MANUAL',
    'MANUAL',
    'EVERY 1h',
    'EVERY 1h',
    'IMMEDIATE DEFERRED',
    'MANUAL DEFERRED',
  ]),
  ttl: 0,
});

const days = (ttl: number): string => (ttl === 0 ? '' : ` TTL ${ttl} DAYS`);

function printTable({ name, columns, ttl, keys }: Table): string {
  const list = columns.map(each => `${each.name} ${each.type}${each.isIndexed ? ' INDEX' : ''}`).join(', ');
  const dedup = keys.length > 0 ? ` DEDUP UPSERT KEYS(${keys.join(', ')})` : '';
  return `CREATE TABLE ${name} (${list}) TIMESTAMP(ts) PARTITION BY DAY${days(ttl)}${dedup}`;
}

/** Inserts a row every half hour, from the first day to the noon of the last one. */
function fill({ name, columns }: Table): string {
  const values = columns.map(each => VALUES[each.name] ?? `timestamp_sequence('2024-01-01', ${HALF_HOUR})`);
  return `INSERT INTO ${name} SELECT ${values.join(', ')} FROM long_sequence(${DAYS * 48 - 24});`;
}

/** The statements that create the views, each after what it reads. */
function printViews({ views, materialized }: Model): string[] {
  const isLow = ({ from }: View): boolean => from === 'b' || from === 'j';
  return [
    ...views.filter(isLow).map(printView),
    ...materialized.map(printMaterialized),
    ...views.filter(each => !isLow(each)).map(printView),
  ];
}

function printView({ name, from, columns, minimum }: View): string {
  const where = minimum > 0 ? ` WHERE qty >= ${minimum}` : '';
  return `CREATE VIEW ${name} AS (SELECT ${['ts', ...columns].join(', ')} FROM ${from}${where})`;
}

function printMaterialized(view: MaterializedView): string {
  const { name, base, from, columns, hasKey, joined, aggregate, interval, refresh, ttl } = view;
  const isFirst = base === 'b' || base === 'j';
  const selected = [
    `${from}.ts`,
    ...(hasKey ? [`${from}.k`] : []),
    ...columns.map(column => `${aggregate}(${from}.${column}) ${column}`),
    ...(joined ? [`last(j.${joined}) w`] : []),
    isFirst ? 'count() n' : `sum(${from}.n) n`,
  ];
  const join = joined ? ' ASOF JOIN j ON (k)' : '';
  const query = `SELECT ${selected.join(', ')} FROM ${from}${join} SAMPLE BY ${interval}`;
  return `CREATE MATERIALIZED VIEW ${name} WITH BASE ${base} REFRESH ${refresh} AS (${query}) PARTITION BY DAY${days(ttl)}`;
}

/** Views that do not refresh themselves are refreshed by hand; deferred ones in half of the cases. */
function refreshAfter(statement: string, random: Randomness): string[] {
  const name = /^CREATE MATERIALIZED VIEW (\S+)/.exec(statement)?.[1];
  if (name === undefined || statement.includes('REFRESH IMMEDIATE AS')) return [];
  if (statement.includes('DEFERRED') && random.chance(0.5)) return [];
  return [`REFRESH MATERIALIZED VIEW ${name} INCREMENTAL;`];
}

const dropDay = (random: Randomness): string =>
  `ALTER TABLE b DROP PARTITION LIST '2024-01-${String(random.pick([1, 2, 5, 6, 8, 9, DAYS])).padStart(2, '0')}'`;

/** A row by which a TTL expires all others. */
const FAR_ROW = `INSERT INTO b (ts, k) VALUES ('2024-02-10', 'x')`;

/** Chooses a statement by which a table or a materialized view loses rows that others were computed from. */
function erode(model: Model, random: Randomness): string {
  const [b, j] = model.tables as [Table, Table];
  const view = random.pick(model.materialized);
  return random.pick([
    () => setTtl(b, random),
    () => setTtl(b, random),
    () => setTtl(b, random),
    () => setTtl(j, random),
    () => setTtl(view, random),
    () => dropDay(random),
  ])();
}

function setTtl(object: Table | MaterializedView, random: Randomness): string {
  object.ttl ||= random.pick([2, 3, 5]);
  return `ALTER ${'base' in object ? 'MATERIALIZED VIEW' : 'TABLE'} ${object.name} SET TTL ${object.ttl} DAYS`;
}

/** Whether everything that a view reads is in the wanted schema. */
function resolves(model: Model, view: View | MaterializedView): boolean {
  const read = [...view.columns];
  if ('base' in view) {
    if (!columnsOf(model, view.base) || (view.joined && !columnsOf(model, 'j')?.includes(view.joined))) return false;
    if (view.hasKey || view.joined) read.push('k');
    if (view.base !== 'b' && view.base !== 'j') read.push('n');
  } else if (view.minimum > 0) read.push('qty');
  return read.every(column => columnsOf(model, view.from)?.includes(column));
}

/** Everything that is redefined, or reads something redefined. */
function withReaders({ views, materialized, redefined }: Model): Set<string> {
  const all = new Set(redefined);
  const readers = [
    ...views.map(({ name, from }) => ({ name, reads: [from] })),
    ...materialized.map(({ name, base, from, joined }) => ({ name, reads: [base, from, ...(joined ? ['j'] : [])] })),
  ];
  // Each is after what it reads, but for plain views, which are before the materialized views.
  for (let pass = 0; pass < 2; pass++)
    for (const { name, reads } of readers) if (reads.some(each => all.has(each))) all.add(name);
  return all;
}

/** The numeric columns of `b` that have the name and the type that they had. */
const unchangedColumns = ({ tables }: Model): string[] =>
  (tables[0]?.columns ?? []).filter(({ name, type }) => TYPES[name] === type).map(({ name }) => name);
