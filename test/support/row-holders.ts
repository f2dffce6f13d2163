/*!
 * The holders of rows of a server (tables, columns of tables, materialized views), and what of them is gone later. All of it is asked
 * of the server; nothing here knows of plans.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { fetchBroken } from './background.js';
import type { Named } from './named-losses.js';
import { find, printRelation, type Relation, readsOf, type Schema } from './row-schemas.js';
import { execute, type Server } from './server.js';

/** What a table or a view holds: its cells as text, by the name of the column. */
export interface Holder {
  readonly kind: Relation['kind'];
  readonly rows: readonly ReadonlyMap<string, string | null>[];
  readonly error: string | undefined;
  /** Why it is no longer maintained: an invalid view, a suspended table. */
  readonly broken: string | undefined;
}

export type Holders = ReadonlyMap<string, Holder>;

export interface Finding {
  readonly what: string;
  readonly about: string;
}

const KINDS: Readonly<Record<string, Relation['kind']>> = { T: 'table', M: 'materialized view', V: 'view' };

export async function resumeAll(server: Server): Promise<void> {
  for (const [name] of await execute(server, 'SELECT name FROM wal_tables() WHERE suspended'))
    await server.execute(`ALTER TABLE '${name}' RESUME WAL`);
}

export async function takeHolders(server: Server): Promise<Holders> {
  const broken = await fetchBroken(server);
  const found = new Map<string, Holder>();
  for (const [name, type] of (await execute(server, 'SELECT table_name, table_type FROM tables()')) as [
    string,
    string,
  ][]) {
    const kind = KINDS[type] ?? 'table';
    const columns = (await execute(server, `SELECT "column" FROM table_columns('${name}')`)).map(([column]) =>
      String(column),
    );
    const list = kind === 'view' ? '*' : columns.map(column => `"${column}"::string`).join(', ');
    const { error, dataset } = await server.execute(
      `SELECT ${list} FROM '${name}'${kind === 'view' ? ' LIMIT 1' : ''}`,
    );
    const rows = kind === 'view' ? [] : (dataset ?? []);
    found.set(name, {
      kind,
      rows: rows.map(row => new Map(columns.map((column, i) => [column, row[i] as string | null]))),
      error,
      broken: broken.get(name),
    });
  }
  return found;
}

const POLL_MS = 10;
const LIMIT_MS = 6_000;
const STABLE_LOOKS = 3;
/** A view that was only ever refreshed for a range is behind its base, and `refreshing`, until somebody refreshes it. */
const STABLE_LOOKS_BEHIND = 12;

/** Waits until a server has applied everything, and refreshes no view any more. */
export async function settle(server: Server): Promise<void> {
  const started = Date.now();
  let [last, looks, enough] = ['', 0, STABLE_LOOKS];
  while (looks < enough && Date.now() - started < LIMIT_MS) {
    const wal = await execute(
      server,
      'SELECT name, suspended, writerTxn >= sequencerTxn, sequencerTxn FROM wal_tables()',
    );
    const views = await execute(
      server,
      `SELECT view_name, view_status, refresh_type = 'immediate' AND refresh_base_table_txn >= 0
       AND refresh_base_table_txn < base_table_txn, last_refresh_finish_timestamp FROM materialized_views()`,
    );
    const isIdle = wal.every(([, isSuspended, isApplied]) => isSuspended || isApplied);
    const isBehind = views.some(([, status, behind]) => status === 'refreshing' || (status === 'valid' && behind));
    enough = isBehind ? STABLE_LOOKS_BEHIND : STABLE_LOOKS;
    const seen = JSON.stringify([wal, views]);
    looks = isIdle && seen === last ? looks + 1 : 0;
    last = seen;
    await pause(POLL_MS);
  }
}

/** The rows of a table's or a view's designated timestamp, in milliseconds. */
const timesOf = (rows: Holder['rows'], column: string): number[] =>
  rows.map(row => Date.parse(row.get(column)?.replace(/(\.\d{3})\d*Z?$/, '$1Z') ?? ''));

const UNITS: Readonly<Record<string, number>> = { HOUR: 1, DAY: 24, WEEK: 168, MONTH: 24 * 28, YEAR: 24 * 365 };

function ttlMillis(ttl: string): number {
  const [, count, unit = ''] = /^(\d+) ([A-Z]+?)S?$/.exec(ttl) ?? [];
  return count === undefined ? Number.POSITIVE_INFINITY : Number(count) * (UNITS[unit] ?? 0) * 3_600_000;
}

/** A value in a form that conversions of types leave as it is, unless they lose something. */
function canonical(text: string): string {
  const bare = text.replace(/^[vs](?=\d)/, '');
  if (/^-?\d+(\.\d+)?(E-?\d+)?$/.test(bare)) return String(Number(bare));
  if (text === 'true' || text === 'false') return text === 'true' ? '1' : '0';
  const [, seconds, fraction = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.?(\d*)Z$/.exec(text) ?? [];
  if (seconds !== undefined)
    return String(Date.parse(`${seconds}Z`) * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6)));
  return text;
}

const isSameValue = (one: string, other: string | null | undefined): boolean => {
  if (other === null || other === undefined) return false;
  const [a, b] = [canonical(one), canonical(other)];
  // A number becomes as many milliseconds of a DATE, or microseconds of a TIMESTAMP.
  return a === b || (isTime(one) !== isTime(other) && (`${a}000` === b || a === `${b}000`));
};

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT/.test(text);

const namesOf = (...items: readonly ({ name: string } | undefined)[]): string[] => [
  ...new Set(items.flatMap(each => (each ? [each.name] : []))),
];

/** The id of a row of a table, whatever type its column has. */
function idOf(row: ReadonlyMap<string, string | null>): string {
  const column = [...row.keys()].find(name => /^id(?: \d+)?$/.test(name)) ?? '';
  return canonical(row.get(column) ?? '');
}

/** The ids that a row of a view was computed from. */
const idsOf = (row: ReadonlyMap<string, string | null>): string[] =>
  [...row].flatMap(([name, text]) =>
    /^ids|^joined ids/.test(name) && text
      ? text
          .split(',')
          .map(Number)
          .map(id => `${name.startsWith('joined') ? 'joined ' : ''}${id}`)
      : [],
  );

type Found = Map<string, { object: string; row: ReadonlyMap<string, string | null> }[]>;

function rowsById(holders: Holders): Found {
  const found: Found = new Map();
  for (const [object, { kind, rows }] of holders)
    if (kind === 'table')
      for (const row of rows) {
        const id = idOf(row);
        const list = found.get(id);
        if (list) list.push({ object, row });
        else found.set(id, [{ object, row }]);
      }
  return found;
}

/** The schema before and the wanted one, with the same numbers for the same objects. */
export interface Change {
  readonly before: Schema;
  readonly after: Schema;
  /** The objects and columns whose new name is that of another one, since nobody states the rename, or it has to be refused. */
  readonly unstated: ReadonlySet<number>;
}

const summarize = (ids: readonly string[]): string =>
  `${ids.length} (${ids.slice(0, 30).join(' ')}${ids.length > 30 ? ' …' : ''})`;

/** Finds what was held before and is not held any more, nor can be computed, nor was named. */
export async function findLost(
  server: Server,
  then: Holders,
  now: Holders,
  change: Change,
  named: Named,
): Promise<Finding[]> {
  const found = rowsById(now);
  const findings: Finding[] = [];
  for (const relation of change.before.relations) {
    const holder = then.get(relation.name);
    if (!holder) continue;
    const later = find(change.after, relation.uid);
    if (relation.kind === 'table')
      findings.push(...lostOfTable(relation, holder, later, found, now, named, change.unstated.has(relation.uid)));
    if (relation.kind === 'materialized view')
      findings.push(...(await lostOfView(server, relation, holder, later, found, now, change, named)));
    findings.push(...brokenOf(relation, holder, later, now));
  }
  // A view of somebody else, which the plan does not know.
  for (const [name, { kind, error }] of then)
    if (
      kind === 'view' &&
      error === undefined &&
      change.before.relations.every(each => each.name !== name) &&
      now.get(name)?.error !== undefined
    )
      findings.push({ what: 'view of somebody else', about: name });
  return findings;
}

function brokenOf(relation: Relation, holder: Holder, later: Relation | undefined, now: Holders): Finding[] {
  // Another object may have one of the names.
  const current = namesOf(relation, later)
    .flatMap(name => now.get(name) ?? [])
    .find(({ kind }) => kind === relation.kind);
  if (!current) return [];
  const about = `${current.kind} '${relation.name}'`;
  if (current.error !== undefined && holder.error === undefined)
    return [{ what: `${current.kind} cannot be queried`, about: `${about}: ${current.error}` }];
  if (current.broken !== undefined && holder.broken === undefined)
    return [
      { what: current.kind === 'table' ? 'table suspended' : 'view invalid', about: `${about}: ${current.broken}` },
    ];
  return [];
}

const isExpired = (relation: Relation, row: ReadonlyMap<string, string | null>, newest: number): boolean => {
  const ts = relation.columns.find(({ role }) => role === 'ts')?.name ?? '';
  return 'ttl' in relation && (timesOf([row], ts)[0] ?? 0) < newest - ttlMillis(relation.ttl);
};

function newestOf(relation: Relation, names: readonly string[], now: Holders, then: Holder): number {
  const ts = relation.columns.find(({ role }) => role === 'ts')?.name ?? '';
  return Math.max(
    0,
    ...names.flatMap(name => timesOf(now.get(name)?.rows ?? [], ts)).filter(Number.isFinite),
    ...timesOf(then.rows, ts).filter(Number.isFinite),
  );
}

function lostOfTable(
  relation: Extract<Relation, { kind: 'table' }>,
  then: Holder,
  later: Relation | undefined,
  found: Found,
  now: Holders,
  named: Named,
  isOther: boolean,
): Finding[] {
  const objects = namesOf(relation, later);
  const newest = newestOf(relation, objects, now, then);
  const gone: string[] = [];
  const values = new Map<string, string[]>();
  for (const row of then.rows) {
    const id = idOf(row);
    const candidates = found.get(id);
    if (!candidates) {
      if (!isExpired(relation, row, newest)) gone.push(id);
      continue;
    }
    for (const column of relation.columns) {
      const value = row.get(column.name);
      if (column.role === 'id' || value === null || value === undefined) continue;
      // Rows that are older than a column of a type without NULL read so, without storing it.
      if (/^(?:0|false)$/.test(value) && !later?.columns.some(each => each.uid === column.uid)) continue;
      const names = namesOf(
        column,
        later?.columns.find(each => each.uid === column.uid),
      );
      if (candidates.some(each => names.some(name => isSameValue(value, each.row.get(name))))) continue;
      const isElsewhere =
        column.type !== 'BOOLEAN' &&
        candidates.some(each => [...each.row.values()].some(other => isSameValue(value, other)));
      // The columns of another table that gets its name may have other names too.
      if (isElsewhere && isOther) continue;
      const current = names.flatMap(name => candidates.flatMap(each => each.row.get(name) ?? []))[0];
      const key = `${column.name} ${column.type}${isElsewhere ? ' (elsewhere)' : ''}`;
      values.set(key, [...(values.get(key) ?? []), `${id}: ${value} now ${current ?? null}`]);
    }
  }
  const findings: Finding[] = [];
  const about = `table '${relation.name}'${later && later.name !== relation.name ? ` (wanted: '${later.name}')` : ''}`;
  if (gone.length > 0 && !named.permit(['drop', 'ttl', 'keys'], objects))
    findings.push({ what: 'rows of a table', about: `${about}: ids ${summarize(gone)}` });
  for (const [key, list] of values) {
    const column = relation.columns.find(({ name, type }) => key.startsWith(`${name} ${type}`));
    const names = namesOf(
      column,
      later?.columns.find(each => each.uid === column?.uid),
    );
    const isNamed = named.permit(['drop', 'values'], objects, names) || named.permit(['drop'], objects);
    const isElsewhere = key.endsWith('(elsewhere)');
    if (!isNamed || isElsewhere)
      findings.push({
        what: isElsewhere ? 'values in another column' : 'values of a column',
        about: `${about}: ${key}: ${summarize(list)}`,
      });
  }
  return findings;
}

/** Whether a view gives other rows by its definition: its own query, or that of a view that it reads. */
function isRedefined(change: Change, uid: number): boolean {
  const { before, after, unstated } = change;
  const relation = find(before, uid);
  if (!relation || relation.kind === 'table') return false;
  if (printByNumber(before, uid) !== printByNumber(after, uid)) return true;
  if ([...readsOf(relation), ...relation.source.values()].some(each => unstated.has(each))) return true;
  return readsOf(relation).some(each => isRedefined(change, each));
}

/** A view with numbers instead of names and without its other clauses. */
function printByNumber(schema: Schema, uid: number): string | undefined {
  const relations = schema.relations.map(each => ({
    ...each,
    name: String(each.uid),
    columns: each.columns.map(column => ({ ...column, name: String(column.uid) })),
    ...(each.kind === 'materialized view' && { ttl: '', refresh: '' }),
  })) as Relation[];
  const relation = relations.find(each => each.uid === uid);
  return relation && relation.kind !== 'table' ? printRelation({ relations }, relation) : undefined;
}

async function lostOfView(
  server: Server,
  relation: Extract<Relation, { kind: 'materialized view' }>,
  then: Holder,
  later: Relation | undefined,
  found: Found,
  now: Holders,
  change: Change,
  named: Named,
): Promise<Finding[]> {
  const objects = namesOf(relation, later);
  const newest = newestOf(relation, objects, now, then);
  const current = objects.map(name => now.get(name)).filter(each => each?.kind === 'materialized view') as Holder[];
  const heldIds = new Set(current.flatMap(({ rows }) => rows.flatMap(idsOf)));
  const missing = new Set(
    then.rows
      .filter(row => !isExpired(relation, row, newest))
      .flatMap(idsOf)
      .filter(id => !heldIds.has(id)),
  );
  if (missing.size === 0) return [];
  // If another view gets its name, that is another query for this name.
  const { relations } = change.after;
  const redefined = later ? isRedefined(change, relation.uid) : relations.some(({ name }) => name === relation.name);
  const isInTables = (id: string): boolean => found.has(id.replace('joined ', ''));
  // Another view may still hold what the old query of this one reads.
  const inViews = new Set(
    [...now.values()].flatMap(({ kind, rows }) => (kind === 'materialized view' ? rows.flatMap(idsOf) : [])),
  );
  const given = new Set<string>();
  let isRefreshable = true;
  // If its rename was refused, the view of the other name is another one.
  for (const name of change.unstated.has(relation.uid) ? [relation.name] : objects) {
    if (now.get(name)?.kind !== 'materialized view') continue;
    const [[query, base] = []] = await execute(
      server,
      `SELECT view_sql, base_table_name FROM materialized_views() WHERE view_name = '${name}'`,
    );
    if (now.get(String(base))?.broken !== undefined) isRefreshable = false;
    const { dataset, error } = await server.execute(`SELECT * FROM (${query})`);
    if (error !== undefined) continue;
    const columns = (await execute(server, `SELECT "column" FROM table_columns('${name}')`)).map(([column]) =>
      String(column),
    );
    for (const row of dataset ?? [])
      for (const id of idsOf(new Map(columns.map((column, i) => [column, String(row[i] ?? '')])))) given.add(id);
  }
  const about = `materialized view '${relation.name}'${later && later.name !== relation.name ? ` (wanted: '${later.name}')` : ''}${redefined ? ', redefined' : ''}, REFRESH ${relation.refresh}`;
  const computable = [...missing].filter(id => given.has(id));
  const lost = [...missing].filter(id => !given.has(id) && !(redefined && (isInTables(id) || inViews.has(id))));
  const findings: Finding[] = [];
  if (current.length === 0) {
    if (!named.permit(['drop'], objects))
      findings.push({ what: 'materialized view gone', about: `${about}: ids ${summarize([...missing])}` });
    return findings;
  }
  if (lost.length > 0 && !named.permit(['history', 'drop', 'ttl'], objects))
    findings.push({
      what: 'history of a view',
      about: `${about}: ids ${summarize(lost)}, ${lost.filter(isInTables).length} of them in tables`,
    });
  // An ignored view that others need is created again, but not filled, if its `history` says that.
  const isFilled = isRefreshable && !objects.some(name => named.emptied.has(name));
  if (computable.length > 0 && !named.permit(['ttl', 'drop', ...(isFilled ? [] : ['history'])], objects))
    findings.push({ what: 'view not filled again', about: `${about}: ids ${summarize(computable)}` });
  return findings;
}
