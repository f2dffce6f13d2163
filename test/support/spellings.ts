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
import { unquoteToken } from '@sqlpipe/ddl/parser';

/** Writes a definition as a statement. An empty list of choices gives the simplest form; other lists give other forms. */
export function spell(definition: Definition, choices: readonly number[]): string {
  const speller = new Speller(choices);
  switch (definition.kind) {
    case 'table':
      return speller.write(speller.table(definition));
    case 'view':
      return speller.write(speller.view(definition));
    case 'materialized view':
      return speller.write(speller.materializedView(definition));
    default:
      return speller.write(speller.liveView(definition));
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

/** A token that is written as it is. Every other word is a keyword. */
const raw = (text: string): string => `\x01${text}\x02`;
const TOKEN = /\x01([^\x02]*)\x02|[(),;=]|[^\s(),;=\x01]+/g;

class Speller {
  #at = 0;
  constructor(private readonly choices: readonly number[]) {}

  /** Picks one of the alternatives by the next choice; the first one if no choice is left. */
  pick<T>(...alternatives: readonly [T, ...T[]]): T {
    return alternatives[(this.choices[this.#at++] ?? 0) % alternatives.length] as T;
  }

  /** Writes keywords in any case, and any gaps between tokens. Where no gap is needed, the choices decide whether there is one. */
  write(statement: string): string {
    const tokens = Array.from(statement.matchAll(TOKEN), ([token, as]) => as ?? this.keyword(token));
    let text = this.pick('', ...GAPS);
    tokens.forEach((token, i) => {
      const isFree = i === 0 || PUNCTUATION.test(token) || PUNCTUATION.test(tokens[i - 1] ?? '');
      if (i > 0) text += isFree ? this.pick('', ...GAPS) : this.pick(' ', ...GAPS.slice(1));
      text += token;
    });
    return text + this.pick(';', '', ' ;', '\n-- done\n;', '/* done */');
  }

  keyword(word: string): string {
    const mixed = Array.from(word, (char, i) => (i % 2 ? char.toLowerCase() : char.toUpperCase())).join('');
    return this.pick(word, word.toLowerCase(), mixed);
  }

  quoted(text: string, ...quotes: readonly string[]): string {
    return raw(this.pick(...(quotes.map(quote => quote + text + quote) as [string])));
  }

  anyOrder(items: readonly string[]): string {
    return this.pick(items, items.toReversed()).join();
  }

  objectName(name: string): string {
    const isBare = SIMPLE.test(name) && !needsQuotes(name) && !/^(if|public)$/i.test(name);
    const schema = this.pick('', this.pick('public .', `${raw('"Public"')} .`));
    return `${schema} ${this.quoted(name, "'", '"', ...(name.includes('`') ? [] : ['`']), ...(isBare ? [''] : []))}`;
  }

  columnName(name: string, ...quotes: readonly string[]): string {
    return this.quoted(name, needsQuotes(name) ? '"' : '', ...quotes);
  }

  /** A name where a literal is required: not in single quotes or backticks, and in any case. */
  literal(name: string): string {
    const isAscii = /^[\0-\x7f]*$/.test(name);
    return this.columnName(isAscii ? this.pick(name, name.toUpperCase(), name.toLowerCase()) : name, '"');
  }

  table(table: TableDefinition): string {
    const outOfLine: Column[] = [];
    const list = table.columns.map(column => this.column(column, table, outOfLine)).join();
    const indexes = outOfLine.map(({ name, index }) => this.indexOf(name, index?.capacity ?? 0)).join('');
    const head = `CREATE TABLE ${this.pick('', 'IF NOT EXISTS')} ${this.objectName(table.name)}`;
    if (table.like !== undefined) return `${head} (LIKE ${this.objectName(table.like)}) ${this.owner(table)}`;
    if (table.query !== undefined)
      return `${head} AS (${this.query(table.query)}) ${this.clauses(table)} ${this.owner(table)}`;
    return `${head} (${list}) ${indexes} ${this.clauses(table)} ${this.owner(table)}`;
  }

  column(column: Column, table: TableDefinition, outOfLine: Column[]): string {
    const { name, type, parquet = '' } = column;
    const head = `${this.columnName(name, '"', "'", '`')} ${this.pick(type, ...(SYNONYMS[type] ?? []))}`;
    if (type === 'SYMBOL') return `${head} ${this.symbol(column, table, outOfLine)} ${this.parquet(parquet)}`;
    // 9.3 accepts NULL only after a column that is not a symbol.
    const isLast = column === table.columns.at(-1);
    return `${head} ${this.parquet(parquet)} ${isLast ? '' : this.pick('', 'NOT NULL', 'NULL')}`;
  }

  symbol(column: Column, table: TableDefinition, outOfLine: Column[]): string {
    const { capacity, cached, index, parquet } = column;
    const size = capacity === undefined ? '' : `CAPACITY ${this.unrounded(capacity)}`;
    const cache = cached ? this.pick('', 'CACHE') : 'NOCACHE';
    const isApart = index?.capacity !== undefined && !parquet && this.pick(false, true);
    if (isApart) outOfLine.push(column);
    return `${size} ${cache} ${isApart ? '' : this.index(column, table)}`;
  }

  index({ index }: Column, { timestamp }: TableDefinition): string {
    if (!index) return '';
    if (index.capacity !== undefined) return `INDEX ${this.pick('', 'TYPE BITMAP')} ${this.capacity(index.capacity)}`;
    const isImplied = index.covered.length > 1 && index.covered.at(-1) === timestamp;
    const named = isImplied && this.pick(false, true) ? index.covered.slice(0, -1) : index.covered;
    const include = named.length > 0 ? `INCLUDE (${named.map(name => this.literal(name))})` : '';
    const isPlain = index.type === 'POSTING' && named.length > 0 && this.pick(false, true);
    return `INDEX ${isPlain ? '' : `TYPE ${index.type}`} ${include}`;
  }

  indexOf(column: string, capacity: number): string {
    return `, INDEX (${this.literal(column)} ${this.capacity(capacity)})`;
  }

  capacity(capacity: number): string {
    const said = `CAPACITY ${this.unrounded(capacity)}`;
    return capacity === 256 ? this.pick('', said) : said;
  }

  /** A number that the server rounds up to this one. */
  unrounded(power: number): string {
    return this.pick(String(power), String(power / 2 + 1), String(power - (power > 2 ? 1 : 0)));
  }

  parquet(parquet: string): string {
    if (!parquet) return this.pick('', 'PARQUET(default)');
    return `PARQUET(${parquet === 'bloom_filter' ? this.pick(parquet, 'default, bloom_filter') : parquet})`;
  }

  clauses(table: TableDefinition): string {
    const { timestamp, partitionBy, wal, columns, volume, isParquet } = table;
    const designated = this.timestamp(timestamp);
    const parameters = this.parameters(table);
    const comma = parameters && volume !== undefined ? this.pick('', ',') : '';
    const settings = `${parameters} ${comma} ${this.volume(volume)}`;
    if (partitionBy === 'NONE') {
      const none = timestamp === undefined ? '' : this.pick('', 'PARTITION BY NONE', 'PARTITION BY NONE BYPASS WAL');
      return `${designated} ${none} ${settings}`;
    }
    const format = isParquet ? 'FORMAT PARQUET' : this.pick('', 'FORMAT NATIVE');
    const [before, after] = this.pick([format, ''], ['', format]);
    const mode = wal ? this.pick('', 'WAL') : 'BYPASS WAL';
    const keys = columns.filter(({ dedup }) => dedup).map(({ name }) => this.literal(name));
    const dedup = keys.length ? `${this.pick('DEDUP', 'DEDUPLICATE')} UPSERT KEYS(${this.anyOrder(keys)})` : '';
    return `${designated} PARTITION BY ${partitionBy} ${this.timeToLive(table)} ${before} ${mode} ${settings} ${dedup} ${after}`;
  }

  timestamp(name: string | undefined): string {
    return name === undefined ? '' : `TIMESTAMP(${this.literal(name)})`;
  }

  timeToLive({ ttl, policy, partitionBy }: TableDefinition): string {
    if (!policy && (ttl === 0 || this.pick(true, false))) return this.ttl(ttl, partitionBy);
    if (policy?.disabled) return '';
    const stages = Object.entries(policy?.after ?? { 'DROP LOCAL': ttl });
    return `STORAGE POLICY(${this.anyOrder(stages.map(([stage, length]) => `${stage} ${this.length(length)}`))})`;
  }

  /** A TTL. No TTL may also be written as 0 hours, unless the partitions are months or years. */
  ttl(ttl: number, unit = ''): string {
    if (ttl === 0) return /MONTH|YEAR/.test(unit) ? '' : this.pick('', 'TTL 0 HOURS');
    return `TTL ${this.length(ttl)}`;
  }

  /** A TTL in one of its forms; `7M` means months in upper and lower case. */
  length(length: number): string {
    return this.pick(...(LENGTHS[length] as [string, ...string[]]));
  }

  parameters({ maxUncommittedRows, o3MaxLag }: TableDefinition): string {
    const rows = maxUncommittedRows === undefined ? [] : [`maxUncommittedRows=${maxUncommittedRows}`];
    const lags = o3MaxLag === undefined ? [] : [`${o3MaxLag}us`, ...(o3MaxLag % 1000 ? [] : [`${o3MaxLag / 1000}ms`])];
    const lag = lags.length ? [`o3MaxLag=${raw(this.pick(...(lags as [string])))}`] : [];
    return rows.length + lag.length ? `WITH ${this.anyOrder([...rows, ...lag])}` : '';
  }

  volume(volume: string | undefined): string {
    return volume === undefined ? '' : `IN VOLUME ${this.quoted(volume, '"', "'")}`;
  }

  owner({ owner }: { owner?: string | undefined }): string {
    if (owner === undefined) return '';
    return `OWNED BY ${this.quoted(owner, "'", '"', ...(SIMPLE.test(owner) ? [''] : []))}`;
  }

  view(view: ViewDefinition): string {
    const head = this.pick('CREATE VIEW', 'CREATE OR REPLACE VIEW', 'CREATE VIEW IF NOT EXISTS');
    return `${head} ${this.objectName(view.name)} AS ${this.body(view.body, this.owner(view))}`;
  }

  query(query: string): string {
    return queryTokens(query)
      .map(token => (/^[A-Z]{2,}$/.test(token) ? token : raw(token)))
      .join(' ');
  }

  /** EXPIRE ROWS. After KEEP, names are in any case, and those in quotes may lack them if they need none. */
  rule(rule: string | undefined): string {
    if (rule === undefined) return '';
    const [, keep = '', cleanup = ''] = /^(.*?)( CLEANUP EVERY \w+)?$/s.exec(rule) ?? [];
    const ends = cleanup.replace(/\w+$/, raw);
    if (!keep.startsWith('KEEP')) return `EXPIRE ROWS ${this.query(keep)} ${ends}`;
    const tokens = keep.match(/"[^"]*"|,|[^ ,]+/g) ?? [];
    const spelled = tokens.map(token => (/^(?:[A-Z]+|,|2)$/.test(token) ? token : this.literal(unquoteToken(token))));
    return `EXPIRE ROWS ${spelled.join(' ')} ${ends}`;
  }

  /** A query with the clauses after it. With clauses, the query must be in parentheses. */
  body(body: string, rest: string): string {
    const query = this.query(body);
    return rest.trim() === '' && this.pick(false, true) ? query : `(${query}) ${rest}`;
  }

  materializedView(view: MaterializedViewDefinition): string {
    const { name, base, refresh, body, partitionBy, ttl, timestamp, indexes, volume } = view;
    const head = `CREATE MATERIALIZED VIEW ${this.pick('', 'IF NOT EXISTS')} ${this.objectName(name)}`;
    const withBase = this.pick(`WITH BASE ${this.objectName(base ?? '')}`, '');
    const indexed = Array.from(indexes ?? [], ([column, capacity]) => this.indexOf(column, capacity));
    const sampling = samplingOf(body);
    const isInferred = sampling !== '' && partitionBy === defaultPartition(sampling);
    const partition = `PARTITION BY ${partitionBy}`;
    const rest = [
      this.pick(indexed, indexed.toReversed()).join(''),
      this.timestamp(timestamp),
      isInferred ? this.pick(partition, '') : partition,
      ...[this.ttl(ttl, partitionBy), this.rule(view.expire), this.volume(volume), this.owner(view)],
    ];
    return `${head} ${withBase} ${this.refresh(refresh, body)} AS ${this.body(body, rest.join(' '))}`;
  }

  refresh(refresh: Refresh, body: string): string {
    const { type, every = '', deferred, start, timeZone, period } = refresh;
    const isPlain = type === 'IMMEDIATE' && !deferred && !period;
    if (isPlain) return this.pick('REFRESH IMMEDIATE', '', 'REFRESH', 'REFRESH INCREMENTAL');
    const how = type === 'IMMEDIATE' ? this.pick('IMMEDIATE', '') : type;
    const interval = /^1.$/.test(every) ? this.pick(every, every.slice(1)) : every;
    const first = `REFRESH ${how} ${interval && raw(interval)} ${deferred ? 'DEFERRED' : ''}`;
    const zone = timeZone === undefined ? '' : `TIME ZONE ${this.quoted(timeZone, "'", '"')}`;
    if (period) return `${first} PERIOD (${this.period(refresh, body, zone)})`;
    if (start === undefined) return first;
    return `${first} START ${this.quoted(this.pick(start, ...(STARTS[start] ?? [])), "'")} ${zone}`;
  }

  period({ period, timeZone }: Refresh, body: string, zone: string): string {
    if (period === 'sample by interval') return 'SAMPLE BY INTERVAL';
    const isSampling = period?.length === samplingOf(body) && !period.delay && timeZone === zoneOf(body);
    if (isSampling && this.pick(false, true)) return 'SAMPLE BY INTERVAL';
    const delay = period?.delay === undefined ? '' : `DELAY ${raw(period.delay)}`;
    return `LENGTH ${raw(period?.length ?? '')} ${zone} ${delay}`;
  }

  liveView(view: LiveViewDefinition): string {
    const { name, flush, inMemory, partitionBy, ttl, start, body } = view;
    const clauses = [
      inMemory === flush && this.pick(false, true) ? '' : `IN MEMORY ${raw(inMemory)}`,
      partitionBy === undefined ? '' : `PARTITION BY ${partitionBy}`,
      this.ttl(ttl, partitionBy),
      `START FROM ${start.startsWith("'") ? raw(start) : start}`,
    ];
    const head = `CREATE LIVE VIEW ${this.pick('', 'IF NOT EXISTS')} ${this.objectName(name)} FLUSH EVERY ${raw(flush)}`;
    const [memory, ...others] = clauses;
    const ordered = this.pick(clauses, clauses.toReversed(), [...others, memory]).join(' ');
    return `${head} ${ordered} AS ${this.body(body, this.owner(view))}`;
  }
}

export const queryTokens = (body: string): string[] => body.match(/'[^']*'|"[^"]*"|[^ ]+/g) ?? [];

const samplingOf = (body: string): string =>
  / BY (\d+\w)|timestamp_floor \( '(\w+)'/i.exec(body)?.slice(1).find(Boolean) ?? '';

const zoneOf = (body: string): string | undefined => / TIME ZONE '([^']*)'/.exec(body)?.[1];
