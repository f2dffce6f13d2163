/*! Writes one definition as a statement in different ways. All of these statements create the same object. */
import {
  type Column,
  type Definition,
  defaultPartition,
  type LiveViewDefinition,
  type MaterializedViewDefinition,
  needsQuotes,
  type Refresh,
  type TableDefinition,
  type ViewDefinition,
} from '@sqlpipe/ddl';

/**
 * Writes a definition as a statement. An empty list of choices gives the simplest form; other lists give other forms.
 */
export function spell(definition: Definition, choices: readonly number[]): string {
  const speller = new Speller(choices);
  switch (definition.kind) {
    case 'table':
      return speller.join(speller.table(definition));
    case 'view':
      return speller.join(speller.view(definition));
    case 'materialized view':
      return speller.join(speller.materializedView(definition));
    default:
      return speller.join(speller.liveView(definition));
  }
}

const SYNONYMS: Record<string, string[]> = {
  INT: ['INTEGER'],
  LONG: ['BIGINT'],
  SHORT: ['SMALLINT'],
  FLOAT: ['REAL'],
  DOUBLE: ['DOUBLE PRECISION'],
  STRING: ['TEXT', 'BYTEA'],
  'GEOHASH(5c)': ['GEOHASH(25b)', 'GEOHASH ( 5C )'],
  'DECIMAL(18,3)': ['DECIMAL', 'DECIMAL(18)', 'DECIMAL ( 18 , 3 )'],
  'DECIMAL(7,0)': ['DECIMAL(7)'],
};

/** TTLs, in hours or (negative) months, with the ways to write them. */
const LENGTHS: Record<number, string[]> = {
  25: ['25 HOURS', '25h', '25 HOUR'],
  [14 * 24]: ['2 WEEKS', '14 DAYS', '14d', '336h', '2W'],
  [3 * 168]: ['3 WEEKS', '21 DAYS', '3w', '504 h'],
  [-7]: ['7 MONTHS', '7M', '7 M'],
  [-12]: ['1 YEAR', '12 MONTHS', '1y', '12M'],
  [-24]: ['2 YEARS', '24 MONTHS', '24 M'],
  [-36]: ['3 YEARS', '36M'],
  [-48]: ['4 YEARS'],
};

const STARTS: Record<string, string[]> = {
  '2025-01-01T00:00:00.000000Z': ['2025-01-01', '2025', '2025-01-01T00:00:00Z', '2025-01-01T01:00:00+01:00'],
  '2025-06-30T12:30:01.500000Z': ['2025-06-30T12:30:01.5', '2025-06-30 12:30:01.500Z'],
};

const GAPS = [' ', '\n', '\t ', '\r\n', ' -- a comment; (\n', ' /* one /* in */ one */', ' /**/ ', ' --\r'];
/** Tokens that need no gap before and after them. */
const PUNCTUATION = /^[(),;=]$/;
const SIMPLE = /^[A-Za-z_]\w*$/;

class Speller {
  #at = 0;
  constructor(private readonly choices: readonly number[]) {}

  /** Picks one of the alternatives by the next choice; the first one if no choice is left. */
  pick<T>(...alternatives: readonly [T, ...T[]]): T {
    return alternatives[(this.choices[this.#at++] ?? 0) % alternatives.length] as T;
  }

  /** Joins tokens. Where no gap is needed, the choices decide whether there is one. */
  join(tokens: readonly string[]): string {
    let text = this.pick('', ...GAPS);
    tokens.forEach((token, i) => {
      const isFree = i === 0 || PUNCTUATION.test(token) || PUNCTUATION.test(tokens[i - 1] ?? '');
      if (i > 0) text += isFree ? this.pick('', ...GAPS) : this.pick(' ', ...GAPS.slice(1));
      text += token;
    });
    return text + this.pick(';', '', ' ;', '\n-- done\n;', '/* done */');
  }

  /** Keywords in any case. */
  words(text: string): string[] {
    return text
      .split(' ')
      .filter(Boolean)
      .map(word => this.keyword(word));
  }

  keyword(word: string): string {
    const mixed = Array.from(word, (char, i) => (i % 2 ? char.toLowerCase() : char.toUpperCase())).join('');
    return this.pick(word, word.toLowerCase(), mixed);
  }

  either(...alternatives: readonly [string, ...string[]]): string[] {
    return this.words(this.pick(...alternatives));
  }

  objectName(name: string): string[] {
    const quoted: [string, ...string[]] = [`'${name}'`, `"${name}"`];
    if (!name.includes('`')) quoted.push(`\`${name}\``);
    if (SIMPLE.test(name) && !needsQuotes(name) && !/^(if|public)$/i.test(name)) quoted.push(name);
    return [...this.pick([], [this.pick('public', '"Public"'), '.']), this.pick(...quoted)];
  }

  columnName(name: string, quotes: readonly string[] = ['"', "'", '`']): string {
    const quoted = quotes.map(quote => quote + name + quote);
    return this.pick(needsQuotes(name) ? `"${name}"` : name, ...quoted);
  }

  /** A name where a literal is required: not in single quotes or backticks, and in any case. */
  literal(name: string): string {
    const isAscii = /^[\0-\x7f]*$/.test(name);
    return this.columnName(isAscii ? this.pick(name, name.toUpperCase(), name.toLowerCase()) : name, ['"']);
  }

  table(table: TableDefinition): string[] {
    const { name, columns } = table;
    const outOfLine: Column[] = [];
    const list = columns.map(column => this.column(column, table, outOfLine));
    const indexes = outOfLine.flatMap(column => [
      ',',
      ...this.words('INDEX'),
      '(',
      this.literal(column.name),
      ...this.capacity(column),
      ')',
    ]);
    const ifNotExists = this.either('', 'IF NOT EXISTS');
    return [
      ...this.words('CREATE TABLE'),
      ...ifNotExists,
      ...this.objectName(name),
      '(',
      ...separated(list),
      ')',
      ...indexes,
      ...this.clauses(table),
      ...this.owner(table),
    ];
  }

  column(column: Column, table: TableDefinition, outOfLine: Column[]): string[] {
    const { name, type } = column;
    const tokens = [this.columnName(name), ...this.either(type, ...(SYNONYMS[type] ?? []))];
    if (type === 'SYMBOL') tokens.push(...this.symbol(column, table, outOfLine));
    const parquet = this.parquet(column.parquet ?? '');
    // 9.3 accepts NULL only after a column that is not a symbol.
    const nullable = type === 'SYMBOL' ? [] : this.either('', 'NOT NULL', 'NULL');
    const isLast = column === table.columns.at(-1);
    return [...tokens, ...parquet, ...(isLast ? [] : nullable)];
  }

  symbol(column: Column, table: TableDefinition, outOfLine: Column[]): string[] {
    const { capacity, cached, index, parquet } = column;
    const size = capacity === undefined ? [] : [...this.words('CAPACITY'), this.unrounded(capacity)];
    const cache = cached ? this.either('', 'CACHE') : this.words('NOCACHE');
    if (index?.capacity !== undefined && !parquet && this.pick(false, true)) {
      outOfLine.push(column);
      return [...size, ...cache];
    }
    return [...size, ...cache, ...this.index(column, table)];
  }

  index({ index, ...column }: Column, { timestamp }: TableDefinition): string[] {
    if (!index) return [];
    if (index.capacity !== undefined)
      return [
        ...this.words('INDEX'),
        ...(this.pick(false, true) ? this.words('TYPE BITMAP') : []),
        ...this.capacity({ index, ...column }),
      ];
    const isImplied = index.covered.length > 1 && index.covered.at(-1) === timestamp;
    const named = isImplied && this.pick(false, true) ? index.covered.slice(0, -1) : index.covered;
    const names = separated(named.map(name => [this.literal(name)]));
    const include = named.length ? [...this.words('INCLUDE'), '(', ...names, ')'] : [];
    const isPlain = index.type === 'POSTING' && include.length > 0 && this.pick(false, true);
    return [...this.words(isPlain ? 'INDEX' : `INDEX TYPE ${index.type}`), ...include];
  }

  capacity({ index }: Column): string[] {
    const capacity = index?.capacity ?? 0;
    const said = [...this.words('CAPACITY'), this.unrounded(capacity)];
    return capacity === 256 ? this.pick([], said) : said;
  }

  /** A number that the server rounds up to this one. */
  unrounded(power: number): string {
    return this.pick(String(power), String(power / 2 + 1), String(power - (power > 2 ? 1 : 0)));
  }

  parquet(parquet: string): string[] {
    if (!parquet) return this.pick([], [...this.words('PARQUET'), '(', ...this.words('default'), ')']);
    const given = parquet === 'bloom_filter' ? this.pick(parquet, 'default, bloom_filter') : parquet;
    const parts = given
      .split(/([(),]) ?/)
      .filter(Boolean)
      .map(part => (PUNCTUATION.test(part) ? part : this.keyword(part)));
    return [...this.words('PARQUET'), '(', ...parts, ')'];
  }

  clauses(table: TableDefinition): string[] {
    const { timestamp, partitionBy, wal, columns, volume } = table;
    const designated = timestamp === undefined ? [] : [...this.words('TIMESTAMP'), '(', this.literal(timestamp), ')'];
    const parameters = this.parameters(table);
    const comma = parameters.length && volume !== undefined ? this.pick([], [',']) : [];
    const keys = columns.filter(({ dedup }) => dedup).map(({ name }) => [this.literal(name)]);
    const list = separated(this.pick(keys, keys.toReversed()));
    const dedup = keys.length
      ? [...this.either('DEDUP UPSERT KEYS', 'DEDUPLICATE UPSERT KEYS'), '(', ...list, ')']
      : [];
    if (partitionBy === 'NONE') {
      const none = timestamp === undefined ? [] : this.either('', 'PARTITION BY NONE', 'PARTITION BY NONE BYPASS WAL');
      return [...designated, ...none, ...parameters, ...comma, ...this.volume(volume)];
    }
    const partition = [...this.words('PARTITION BY'), this.keyword(partitionBy)];
    const [before, after] = this.format(table.parquet);
    const mode = wal ? this.either('', 'WAL') : this.words('BYPASS WAL');
    return [
      ...designated,
      ...partition,
      ...this.timeToLive(table),
      ...before,
      ...mode,
      ...parameters,
      ...comma,
      ...this.volume(volume),
      ...dedup,
      ...after,
    ];
  }

  /** FORMAT, before or after the other clauses. */
  format(parquet: boolean): [string[], string[]] {
    const format = parquet ? this.words('FORMAT PARQUET') : this.either('', 'FORMAT NATIVE');
    return this.pick([format, []], [[], format]);
  }

  timeToLive({ ttl, policy, partitionBy }: TableDefinition): string[] {
    if (!policy && ttl !== 0 && this.pick(false, true)) return this.policy({ 'DROP LOCAL': ttl });
    if (!policy) return this.ttl(ttl, partitionBy);
    return this.policy(policy.after);
  }

  policy(after: Readonly<Record<string, number>>): string[] {
    const stages = Object.entries(after).map(([stage, length]) => [...this.words(stage), ...this.length(length)]);
    return [...this.words('STORAGE POLICY'), '(', ...separated(this.pick(stages, stages.toReversed())), ')'];
  }

  /** A TTL. No TTL may also be written as 0 hours, unless the partitions are months or years. */
  ttl(ttl: number, unit = ''): string[] {
    if (ttl === 0 && /MONTH|YEAR/.test(unit)) return [];
    return ttl === 0 ? this.pick([], this.words('TTL 0 HOURS')) : [...this.words('TTL'), ...this.length(ttl)];
  }

  /** A TTL in one of its forms; `7M` means months in upper and lower case. */
  length(length: number): string[] {
    return this.either(...(LENGTHS[length] as [string, ...string[]]));
  }

  parameters({ maxUncommittedRows, o3MaxLag }: TableDefinition): string[] {
    const rows =
      maxUncommittedRows === undefined ? [] : [[...this.words('maxUncommittedRows'), '=', String(maxUncommittedRows)]];
    const lags = o3MaxLag === undefined ? [] : [`${o3MaxLag}us`, ...(o3MaxLag % 1000 ? [] : [`${o3MaxLag / 1000}ms`])];
    const lag = lags.length ? [[...this.words('o3MaxLag'), '=', this.pick(...(lags as [string]))]] : [];
    const both = separated(this.pick([...rows, ...lag], [...lag, ...rows]));
    return both.length ? [...this.words('WITH'), ...both] : [];
  }

  volume(volume: string | undefined): string[] {
    return volume === undefined ? [] : [...this.words('IN VOLUME'), this.pick(`"${volume}"`, `'${volume}'`)];
  }

  owner({ owner }: { owner?: string | undefined }): string[] {
    const names = [`'${owner}'`, `"${owner}"`, ...(SIMPLE.test(owner ?? '') ? [owner] : [])];
    return owner === undefined ? [] : [...this.words('OWNED BY'), this.pick(...(names as [string]))];
  }

  view(view: ViewDefinition): string[] {
    const { name, body } = view;
    const head = this.pick(
      this.words('CREATE VIEW'),
      this.words('CREATE OR REPLACE VIEW'),
      this.words('CREATE VIEW IF NOT EXISTS'),
    );
    return [...head, ...this.objectName(name), ...this.words('AS'), ...this.body(body, this.owner(view))];
  }

  /** A query with the clauses after it. With clauses, the query must be in parentheses. */
  body(body: string, rest: string[]): string[] {
    const query = queryTokens(body).flatMap(token => (/^[A-Z]{2,}$/.test(token) ? this.words(token) : [token]));
    return rest.length === 0 && this.pick(false, true) ? query : ['(', ...query, ')', ...rest];
  }

  materializedView(view: MaterializedViewDefinition): string[] {
    const { name, base, refresh, body, partitionBy, ttl, timestamp, indexes, volume } = view;
    const ifNotExists = this.either('', 'IF NOT EXISTS');
    const withBase = [...this.words('WITH BASE'), ...this.objectName(base ?? '')];
    const indexed = [...(indexes ?? [])].map(([column, capacity]) => [
      ...[',', ...this.words('INDEX'), '(', this.literal(column)],
      ...[...this.capacity({ index: { type: 'BITMAP', capacity } } as Column), ')'],
    ]);
    const designated = timestamp === undefined ? [] : [...this.words('TIMESTAMP'), '(', this.literal(timestamp), ')'];
    const isInferred = partitionBy === defaultPartition(samplingOf(body));
    const partition = [...this.words('PARTITION BY'), this.keyword(partitionBy ?? '')];
    const rest = [
      ...this.pick(indexed, indexed.toReversed()).flat(),
      ...designated,
      ...(isInferred ? this.pick(partition, []) : partition),
      ...this.ttl(ttl, partitionBy),
      ...this.volume(volume),
      ...this.owner(view),
    ];
    return [
      ...[...this.words('CREATE MATERIALIZED VIEW'), ...ifNotExists, ...this.objectName(name)],
      ...[...this.pick(withBase, []), ...this.refresh(refresh, body), ...this.words('AS'), ...this.body(body, rest)],
    ];
  }

  refresh(refresh: Refresh, body: string): string[] {
    const { type, every, deferred, start, timeZone, period } = refresh;
    const isPlain = type === 'IMMEDIATE' && !deferred && !period;
    if (isPlain) return this.either('REFRESH IMMEDIATE', '', 'REFRESH', 'REFRESH INCREMENTAL');
    const how = type === 'IMMEDIATE' ? this.either('IMMEDIATE', '') : this.words(type);
    const interval =
      every === undefined
        ? []
        : [every.startsWith('1') && every.length === 2 ? this.pick(every, every.slice(1)) : every];
    const first = [...this.words('REFRESH'), ...how, ...interval, ...this.words(deferred ? 'DEFERRED' : '')];
    const zone =
      timeZone === undefined ? [] : [...this.words('TIME ZONE'), this.pick(`'${timeZone}'`, `"${timeZone}"`)];
    if (period) return [...first, ...this.words('PERIOD'), '(', ...this.period(refresh, body, zone), ')'];
    if (start === undefined) return first;
    return [...first, ...this.words('START'), `'${this.pick(start, ...(STARTS[start] ?? []))}'`, ...zone];
  }

  period({ period, timeZone }: Refresh, body: string, zone: string[]): string[] {
    const isSampling = period?.length === samplingOf(body) && !period.delay && timeZone === zoneOf(body);
    if (isSampling && this.pick(false, true)) return this.words('SAMPLE BY INTERVAL');
    const delay = period?.delay === undefined ? [] : [...this.words('DELAY'), period.delay];
    return [...this.words('LENGTH'), period?.length ?? '', ...zone, ...delay];
  }

  liveView(view: LiveViewDefinition): string[] {
    const { name, flush, inMemory, partitionBy, ttl, start, body } = view;
    const isDefault = inMemory === flush && this.pick(false, true);
    const memory = isDefault ? [] : [...this.words('IN MEMORY'), inMemory];
    const partition = partitionBy === undefined ? [] : [...this.words('PARTITION BY'), this.keyword(partitionBy)];
    const from = [...this.words('START FROM'), start.startsWith("'") ? start : this.keyword(start)];
    const keep = this.ttl(ttl, partitionBy);
    const clauses = this.pick(
      [memory, partition, keep, from],
      [from, keep, partition, memory],
      [partition, from, memory, keep],
    );
    return [
      ...[
        ...this.words('CREATE LIVE VIEW'),
        ...this.either('', 'IF NOT EXISTS'),
        ...this.objectName(name),
        ...this.words('FLUSH EVERY'),
        flush,
      ],
      ...[...clauses.flat(), ...this.words('AS'), ...this.body(body, this.owner(view))],
    ];
  }
}

/** The tokens of a query, which are separated by blanks. */
export const queryTokens = (body: string): string[] => body.match(/'[^']*'|"[^"]*"|[^ ]+/g) ?? [];

const separated = (items: readonly string[][]): string[] => items.flatMap((item, i) => (i ? [',', ...item] : item));

const samplingOf = (body: string): string =>
  / BY (\d+\w)|timestamp_floor \( '(\w+)'/i.exec(body)?.slice(1).find(Boolean) ?? '';

const zoneOf = (body: string): string | undefined => / TIME ZONE '([^']*)'/.exec(body)?.[1];
