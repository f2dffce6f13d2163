/*! Changes one property of a definition, and names the property. */
import type { Column, Definition, MaterializedViewDefinition, TableDefinition } from '@sqlpipe/ddl';
import { NameMap } from '@sqlpipe/sql';
import { queryTokens } from './spellings.js';

/** A definition in which one property is changed, and the name of the property. */
export interface Change {
  readonly property: string;
  readonly changed: Definition;
}

export function changesOf(definition: Definition): Change[] {
  const owner = definition.owner === 'bob' ? 'eve' : 'bob';
  const common: Change[] = [
    { property: 'name', changed: { ...definition, name: `${definition.name}x` } },
    { property: 'owner', changed: { ...definition, owner } },
  ];
  // If a definition names no owner, the server decides.
  return [...(definition.owner === undefined ? common.slice(0, 1) : common), ...changesByKind(definition)];
}

function changesByKind(definition: Definition): Change[] {
  switch (definition.kind) {
    case 'table':
      return [
        ...definition.columns.flatMap(column => changesOfColumn(definition, column)),
        ...changesOfTable(definition),
      ];
    case 'view':
      return changesOfBody(definition);
    case 'materialized view':
      return [...changesOfBody(definition), ...changesOfMaterializedView(definition)];
    default:
      return [
        ...changesOfBody(definition),
        { property: 'flush interval', changed: { ...definition, flush: '110ms' } },
        {
          property: 'time in memory',
          changed: { ...definition, inMemory: definition.inMemory === '9m' ? '1h' : '9m' },
        },
        { property: 'start', changed: { ...definition, start: definition.start === 'NOW' ? "'2024'" : 'NOW' } },
        { property: 'TTL', changed: { ...definition, ttl: definition.ttl === -48 ? -36 : -48 } },
        ...(definition.ttl === 0
          ? [{ property: 'partitioning', changed: { ...definition, partitionBy: 'MONTH' as const } }]
          : []),
      ];
  }
}

/** Changes one token of the body: the case of each word that is not a keyword, and each token except intervals. */
function changesOfBody<T extends Extract<Definition, { body: string }>>(definition: T): Change[] {
  const tokens = queryTokens(definition.body);
  const changed = (at: number, token: string): Change => ({
    property: 'query',
    changed: { ...definition, body: tokens.with(at, token).join(' ') },
  });
  return tokens.flatMap((token, at) => [
    ...(/^[a-z]/.test(token) ? [changed(at, token.charAt(0).toUpperCase() + token.slice(1))] : []),
    ...(/^(?:[\w@]*[A-Za-z_@]|\d+)$/.test(token) && !/^\d+[a-z]$/.test(token) ? [changed(at, `${token}0`)] : []),
  ]);
}

function changesOfColumn(table: TableDefinition, column: Column): Change[] {
  const { name, type, cached, capacity, index, parquet } = column;
  const property = (what: string) => `column '${name}'${what}`;
  const change = (what: string, other: Partial<Column>): Change => ({
    property: property(what),
    changed: { ...table, columns: table.columns.map(each => (each === column ? { ...column, ...other } : each)) },
  });
  const isNamed = table.timestamp === name || table.columns.some(({ index }) => covers(index, name));
  const changes: Change[] = [];
  if (!isNamed && !column.dedup && table.columns.length > 1) {
    const without = table.columns.filter(each => each !== column);
    changes.push({ property: property(''), changed: { ...table, columns: without } });
    const { capacity: _, index: __, ...rest } = column;
    const other = { ...rest, ...PLAIN, type: type === 'UUID' ? 'INT' : 'UUID' };
    changes.push({
      property: property(''),
      changed: { ...table, columns: table.columns.map(each => (each === column ? other : each)) },
    });
  }
  if (/^[a-z]+$/.test(name)) changes.push(change(' name', { name: name.toUpperCase() }));
  if (type !== 'SYMBOL') changes.push(change(' Parquet settings', { parquet: parquet ? '' : 'default, brotli(3)' }));
  else {
    changes.push(change(' cache', { cached: !cached }));
    if (capacity !== undefined) changes.push(change(' capacity', { capacity: capacity * 2 }));
    changes.push(change(' index', { index: index?.capacity === 256 ? { ...index, capacity: 512 } : BITMAP }));
    if (index) changes.push(change(' index', { index: { type: 'POSTING', covered: [] } }));
  }
  const isBarePosting = index?.type === 'POSTING' && index.capacity === undefined && index.covered.length === 0;
  return isBarePosting ? changes.filter(({ changed }) => JSON.stringify(changed) !== JSON.stringify(table)) : changes;
}

const BITMAP = { type: 'BITMAP', capacity: 256 } as const;
const PLAIN = { cached: true, parquet: '' };

const covers = (index: Column['index'], name: string): boolean =>
  index !== undefined && index.capacity === undefined && index.covered.includes(name);

function changesOfTable(table: TableDefinition): Change[] {
  const { columns, timestamp, partitionBy, ttl, policy, wal, isParquet, volume, maxUncommittedRows, o3MaxLag } = table;
  if (table.like !== undefined) return [];
  const [first, second, ...others] = columns as [Column, Column?];
  const isDeduplicated = columns.some(({ dedup }) => dedup);
  const change = (property: string, other: Partial<TableDefinition>): Change => ({
    property,
    changed: { ...table, ...other },
  });
  const ofColumns = [
    ...(second ? [change('column order', { columns: [second, first, ...others] })] : []),
    change("column 'a brand new one'", {
      columns: [...columns, { ...PLAIN, name: 'a brand new one', type: 'INT', dedup: false } as Column],
    }),
  ];
  const changes = [
    ...(table.query === undefined ? ofColumns : []),
    change('volume', { volume: volume === 'x' ? undefined : 'x' }),
  ];
  if (maxUncommittedRows !== undefined)
    changes.push(change('maxUncommittedRows', { maxUncommittedRows: maxUncommittedRows === 0 ? 1 : 0 }));
  if (o3MaxLag !== undefined) changes.push(change('o3MaxLag', { o3MaxLag: o3MaxLag + 1 }));
  if (partitionBy === 'NONE') return changes;
  changes.push(
    change('storage policy', { ttl: 0, policy: policy && ttl === 0 ? { after: { 'TO PARQUET': -48 } } : undefined }),
  );
  if (!policy) changes.push(change('TTL', { ttl: ttl === -48 ? -36 : -48 }));
  if (wal) changes.push(change('format', { isParquet: !isParquet }));
  if (wal ? !isParquet && !isDeduplicated : true) changes.push(change('WAL', { wal: !wal }));
  if (!policy && ttl === 0)
    changes.push(change('partitioning', { partitionBy: partitionBy === 'DAY' ? 'HOUR' : 'DAY' }));
  const other = columns.find(({ name, type }) => type.startsWith('TIMESTAMP') && name !== timestamp);
  const isCovered = columns.some(({ index }) => index && index.capacity === undefined && index.covered.length > 0);
  if (other && !isDeduplicated && !isCovered) changes.push(change('designated timestamp', { timestamp: other.name }));
  if (wal) changes.push(...changesOfKeys(table, change));
  return changes.filter(({ property, changed }) => property !== 'storage policy' || (policy && changed !== table));
}

function changesOfKeys(
  table: TableDefinition,
  change: (property: string, other: Partial<TableDefinition>) => Change,
): Change[] {
  const { columns, timestamp } = table;
  const withKeys = (isKey: (column: Column) => boolean): Change =>
    change('dedup keys', { columns: columns.map(column => ({ ...column, dedup: isKey(column) })) });
  const keys = columns.filter(({ dedup }) => dedup);
  if (keys.length === 0) return [withKeys(({ name }) => name === timestamp)];
  const others = columns.filter(({ dedup, type }) => !dedup && !type.endsWith('[]'));
  const dropped = keys.filter(({ name }) => name !== timestamp);
  return [
    withKeys(() => false),
    ...others.map(other => withKeys(column => column.dedup || column === other)),
    ...dropped.map(other => withKeys(column => column.dedup && column !== other)),
  ];
}

function changesOfMaterializedView(view: MaterializedViewDefinition): Change[] {
  const { base, refresh, partitionBy, ttl, timestamp, indexes, volume, expire } = view;
  const { type, every, deferred, start, timeZone, period } = refresh;
  const change = (property: string, other: Partial<MaterializedViewDefinition>): Change => ({
    property,
    changed: { ...view, ...other },
  });
  const changes = [
    change('base', { base: `${base}s` }),
    change('refresh', { refresh: { ...refresh, deferred: !deferred } }),
    change('TTL', { ttl: ttl === -48 ? -36 : -48 }),
    change('volume', { volume: volume === 'x' ? undefined : 'x' }),
    change('expiry of rows', { expire: expire === undefined ? 'WHEN c < 0' : undefined }),
    ...(expire === undefined ? [] : changesOfRule(expire).map(other => change('expiry of rows', { expire: other }))),
  ];
  if (type !== 'EVERY')
    changes.push(change('refresh', { refresh: { ...refresh, type: type === 'MANUAL' ? 'IMMEDIATE' : 'MANUAL' } }));
  else changes.push(change('refresh', { refresh: { ...refresh, every: every === '7d' ? '8d' : '7d' } }));
  if (start !== undefined)
    changes.push(change('refresh start', { refresh: { ...refresh, start: '2020-01-01T00:00:00.000000Z' } }));
  const hasPeriod = typeof period === 'object';
  if (start !== undefined || hasPeriod)
    changes.push(
      change('refresh time zone', { refresh: { ...refresh, timeZone: timeZone === 'UTC' ? undefined : 'UTC' } }),
    );
  if (hasPeriod) {
    changes.push(change('refresh period', { refresh: { ...refresh, period: { ...period, length: '23h' } } }));
    changes.push(change('refresh period', { refresh: { ...refresh, period: { ...period, delay: '7s' } } }));
  }
  if (ttl === 0) changes.push(change('partitioning', { partitionBy: partitionBy === 'DAY' ? 'MONTH' : 'DAY' }));
  if (timestamp !== undefined) changes.push(change('designated timestamp', { timestamp: `${timestamp}2` }));
  if (indexes?.size) changes.push(change('indexes', { indexes: new NameMap([['pair', 128]]) }));
  return changes;
}

/** Another interval, month in place of minute, another word. */
const changesOfRule = (rule: string): string[] =>
  [
    / CLEANUP /.test(rule) ? `${rule}2` : `${rule} CLEANUP EVERY 7d`,
    rule.replace(/(?<=EVERY 1)M$/, 'm'),
    rule.replace('HIGHEST', 'LOWEST'),
    rule.replace('c < 0', 'c < 00'),
  ].filter(other => other !== rule);
