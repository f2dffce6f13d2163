/*!
 * Plans and applies the changes of a pair with history on a real server, as a user does, and compares what the server
 * holds before and after. What is expected is asked of the server only, never of the code under test.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type HistoryPair, LAST_DAY } from './history-pairs.js';
import type { Run } from './reconcile.js';
import { random } from './seed.js';
import type { Server } from './server.js';

/** Something that was lost or broken without permission, or a plan that failed. */
export interface Finding {
  readonly what:
    | 'disappeared'
    | 'rows lost'
    | 'values changed'
    | 'column lost'
    | 'newly invalid'
    | 'plan rejected'
    | 'planner failed';
  /** The object, and the details. */
  readonly about: string;
}

/** The result of a pair. */
export interface HistoryResult {
  readonly findings: readonly Finding[];
  /** How many plans an assertion has stopped. */
  readonly stopped: number;
  /** Whether the plan without permissions left nothing out. */
  readonly isComplete: boolean;
  /** The plans that were applied, and the messages: what somebody needs to reproduce a finding. */
  readonly log: string;
}

/** What an object holds on one day: the number of rows, and for each column its sum, or the number of its values. */
type Day = ReadonlyMap<string, number>;

interface Holding {
  readonly kind: 'table' | 'materialized view' | 'view';
  readonly columns: ReadonlyMap<string, string>;
  readonly days: ReadonlyMap<string, Day>;
  /** For how many days rows are kept; 0 for ever. */
  readonly ttlDays: number;
  /** Why the object cannot be used: the server's reason. */
  readonly invalid: string | undefined;
}

type Snapshot = ReadonlyMap<string, Holding>;

/** Creates a pair with its rows, then applies a plan without permissions, and a plan with those of one left-out line. */
export async function checkHistory(server: Server, run: Run, pair: HistoryPair): Promise<HistoryResult> {
  await createPair(server, pair);
  await run(`cat > after.sql <<'END'\n${pair.after.join('\n')}\nEND`);
  const writer = pair.written && startWriter(server, pair.written);
  try {
    const first = await applyPlan(server, run, pair, [], async () => {
      for (const statement of pair.meanwhile) await changeRows(server, statement);
    });
    const line = first.leftOut[pair.seed % Math.max(1, first.leftOut.length)];
    const names = [...(line ?? '').matchAll(/--allow-loss (\S+?)(?=[\s;,]|$)/g)].map(([, name]) => String(name));
    const second = names.length > 0 ? await applyPlan(server, run, pair, names) : undefined;
    const both = [first, ...(second ? [second] : [])];
    return {
      findings: both.flatMap(each => each.findings),
      stopped: both.filter(each => each.isStopped).length,
      isComplete: first.isComplete,
      log: both.map(each => each.log).join('\n'),
    };
  } finally {
    await writer?.end();
  }
}

async function createPair(server: Server, pair: HistoryPair): Promise<void> {
  await server.dropAll();
  for (const statement of pair.tables) await mustExecute(server, statement);
  await settle(server);
  for (const statement of pair.views) {
    await mustExecute(server, statement);
    if (!statement.startsWith('CREATE VIEW')) await settle(server);
  }
  for (const statement of pair.erosion) await changeRows(server, statement);
  await settle(server);
}

/**
 * Runs a statement that changes rows, such as one that drops a partition, which may be gone already. Waits until the
 * server has invalidated the views over that table, which it does in the background.
 */
async function changeRows(server: Server, statement: string): Promise<void> {
  const { error } = await server.execute(statement);
  const table = /^ALTER TABLE (\S+) DROP PARTITION/.exec(statement)?.[1];
  if (error !== undefined || table === undefined) return;
  const valid = `SELECT count() FROM materialized_views() WHERE base_table_name = '${table}' AND view_status <> 'invalid' AND last_refresh_finish_timestamp IS NOT NULL`;
  const started = Date.now();
  while (Date.now() - started < INVALIDATION_LIMIT_MS && (await mustExecute(server, valid))[0]?.[0] !== 0)
    await pause(POLL_MS);
}

async function mustExecute(server: Server, statement: string): Promise<unknown[][]> {
  const { error, dataset } = await server.execute(statement.replace(/;$/, ''));
  if (error !== undefined) throw new Error(`${statement}: ${error}`);
  return dataset ?? [];
}

interface Applied {
  readonly findings: readonly Finding[];
  readonly leftOut: readonly string[];
  readonly isComplete: boolean;
  readonly isStopped: boolean;
  readonly log: string;
}

/** Makes a plan, lets something happen, applies the plan, and compares. */
async function applyPlan(
  server: Server,
  run: Run,
  pair: HistoryPair,
  allowed: readonly string[],
  meanwhile: () => Promise<void> = async () => {},
): Promise<Applied> {
  const options = [
    ...pair.renamed.map(each => `--renamed ${each}`),
    ...allowed.map(each => `--allow-loss ${each}`),
  ].join(' ');
  const planned = await run(`sqldiff --alter ${options} after.sql ${server.url} > plan 2> left; echo $?; cat left`);
  const [status, ...messages] = planned.stdout.toString().trimEnd().split('\n');
  const leftOut = messages.filter(each => each.includes('--allow-loss '));
  const permitted = allowed.length > 0 ? `with --allow-loss ${allowed}: ` : '';
  if (status !== '0' && status !== '1') {
    const about = `${permitted}status ${status}: ${messages.join(' ')}`;
    const findings: Finding[] = status === '65' && pair.isBroken ? [] : [{ what: 'planner failed', about }];
    return { findings, leftOut: [], isComplete: false, isStopped: false, log: about };
  }
  await meanwhile();
  await settle(server);
  const before = await takeSnapshot(server);
  const applied = await run(
    `sqlapply --allow-plan ${server.url} < plan > applied 2>&1; echo $?; cat applied; echo PLAN:; tr -d '\\0' < plan`,
  );
  await settle(server);
  const after = await takeSnapshot(server);
  await touch(server);
  const invalid = await takeSnapshot(server);
  const [applyStatus, ...lines] = applied.stdout.toString().trimEnd().split('\n');
  const rejection = applyStatus === '0' ? undefined : lines.slice(0, lines.indexOf('PLAN:')).join(' ');
  const isStopped = rejection?.includes('the assertion is not true') ?? false;
  const permissions = new Permissions(allowed);
  const lost = [...compareHoldings(before, after, pair, permissions), ...compareValidity(before, invalid)];
  const findings = lost.map(each => ({
    ...each,
    about: `${permitted}${each.about}`,
  }));
  if (rejection !== undefined && !isStopped)
    findings.push({ what: 'plan rejected', about: `${permitted}status ${applyStatus}: ${rejection}` });
  return {
    findings,
    leftOut,
    isComplete: status === '0' && !isStopped,
    isStopped,
    log: [`${permitted}left out:`, ...messages, ...lines].join('\n'),
  };
}

/** Adds a row to each table, since a view that cannot be refreshed any more is valid until then (observed on 9.3.4). */
async function touch(server: Server): Promise<void> {
  for (const table of ['j', 'b'])
    await server.execute(`INSERT INTO ${table} (ts, k) VALUES ('${LAST_DAY}T11:59', 'x')`);
  await settle(server);
}

const POLL_MS = 20;
const INVALIDATION_LIMIT_MS = 3_000;
const STABLE_LOOKS = 4;
const SETTLE_LIMIT_MS = 15_000;

/** Waits until everything sent is applied and no view is being refreshed, and that has stayed so for some looks. */
async function settle(server: Server): Promise<void> {
  const started = Date.now();
  let [last, looks] = ['', 0];
  while (Date.now() - started < SETTLE_LIMIT_MS && looks < STABLE_LOOKS) {
    const wal = await mustExecute(server, 'SELECT name, suspended, writerTxn >= sequencerTxn FROM wal_tables()');
    const columns = 'view_name, view_status, refresh_base_table_txn >= base_table_txn';
    const views = await mustExecute(server, `SELECT ${columns} FROM materialized_views()`);
    const isIdle =
      wal.every(([, isSuspended, isApplied]) => isSuspended || isApplied) &&
      views.every(([, viewStatus]) => viewStatus !== 'refreshing');
    const seen = JSON.stringify([wal, views]);
    looks = isIdle && seen === last ? looks + 1 : 0;
    last = seen;
    await pause(POLL_MS);
  }
}

/** The types whose sums are compared. Of columns of other types, the values that are not null are counted. */
const NUMERIC = /^(BYTE|SHORT|INT|LONG|FLOAT|DOUBLE|DECIMAL.*)$/;

async function takeSnapshot(server: Server): Promise<Snapshot> {
  const found = new Map<string, Holding>();
  const invalid = new Map<string, string>();
  const reasons = [
    `SELECT view_name, invalidation_reason FROM materialized_views() WHERE view_status = 'invalid'`,
    `SELECT name, 'suspended' FROM wal_tables() WHERE suspended`,
  ];
  for (const query of reasons)
    for (const [name, reason] of await mustExecute(server, query)) invalid.set(String(name), String(reason));
  const tables = await mustExecute(server, 'SELECT table_name, table_type, ttlValue, ttlUnit FROM tables()');
  for (const [name, type, ttl, unit] of tables as [string, string, number, string][]) {
    const list = (await mustExecute(server, `SELECT "column", type FROM table_columns('${name}')`)) as [
      string,
      string,
    ][];
    if (type === 'V') {
      const { error } = await server.execute(`SELECT * FROM '${name}' LIMIT 1`);
      found.set(name, { kind: 'view', columns: new Map(), days: new Map(), ttlDays: 0, invalid: error });
      continue;
    }
    const columns = new Map(list.filter(([column]) => column !== 'ts'));
    found.set(name, {
      kind: type === 'M' ? 'materialized view' : 'table',
      columns,
      days: await daysOf(server, name, columns),
      ttlDays: ttl * (DAYS[unit] ?? 0),
      invalid: invalid.get(name),
    });
  }
  return found;
}

const DAYS: Readonly<Record<string, number>> = { HOUR: 1 / 24, DAY: 1, WEEK: 7, MONTH: 31, YEAR: 366 };

async function daysOf(server: Server, name: string, columns: ReadonlyMap<string, string>): Promise<Map<string, Day>> {
  const sums = [...columns].map(([column, type]) =>
    NUMERIC.test(type) ? `sum("${column}"::double)` : `sum(CASE WHEN "${column}" IS NULL THEN 0 ELSE 1 END)`,
  );
  const list = [`timestamp_floor('d', ts) day`, 'count() rows', ...sums.map((sum, i) => `${sum} s${i}`)].join(', ');
  const rows = await mustExecute(server, `SELECT ${list} FROM '${name}' ORDER BY day`);
  return new Map(
    rows.map(([day, count, ...values]) => [
      String(day).slice(0, 10),
      new Map([['', Number(count)], ...[...columns.keys()].map((each, i) => [each, Number(values[i])] as const)]),
    ]),
  );
}

/** What names given to --allow-loss permit, with or without the kind of the loss before a colon. */
class Permissions {
  readonly #names: readonly { kind: string | undefined; object: string; column: string | undefined }[];

  constructor(names: readonly string[]) {
    this.#names = names.map(each => {
      const [, kind, object = '', column] =
        /^(?:([a-z-]+):)?([^.]+)(?:\.(.+))?$/.exec(each.replaceAll(/['"]/g, '')) ?? [];
      return { kind, object, column };
    });
  }

  #permits(object: string, column: string | undefined, ...kinds: string[]): boolean {
    return this.#names.some(
      each =>
        each.object === object && each.column === column && (each.kind === undefined || kinds.includes(each.kind)),
    );
  }

  mayDrop = (object: string): boolean => this.#permits(object, undefined, 'drop');
  mayLoseRows = (object: string): boolean => this.#permits(object, undefined, 'drop', 'history', 'ttl');
  mayLoseColumn = (object: string, column: string): boolean => this.#permits(object, column, 'drop');
  mayChangeValues = (object: string, column: string): boolean => this.#permits(object, column, 'drop', 'values');
}

/** Relative difference of sums that the order of additions can cause. */
const NOISE = 1e-5;

const isClose = (a: number, b: number): boolean => Math.abs(a - b) <= NOISE * Math.max(Math.abs(a), Math.abs(b));

function compareHoldings(before: Snapshot, after: Snapshot, pair: HistoryPair, permissions: Permissions): Finding[] {
  return [...before].flatMap(([name, then]): Finding[] => {
    const now = after.get(name);
    if (!now) return permissions.mayDrop(name) ? [] : [{ what: 'disappeared', about: `${then.kind} ${name}` }];
    return permissions.mayLoseRows(name) ? [] : compareDays(name, then, now, pair, permissions);
  });
}

/** Whether an object's own TTL, which the plan left as it was, has expired the rows of a day, as newer rows have come. */
function isExpired(day: string, then: Holding, now: Holding): boolean {
  if (now.ttlDays === 0 || now.ttlDays !== then.ttlDays) return false;
  const last = [...now.days.keys()].toSorted().at(-1) ?? day;
  return (Date.parse(last) - Date.parse(day)) / 86_400_000 > now.ttlDays;
}

const compareValidity = (before: Snapshot, after: Snapshot): Finding[] =>
  [...before].flatMap(([name, { kind, invalid }]): Finding[] => {
    const reason = after.get(name)?.invalid;
    const isNew = reason !== undefined && invalid === undefined;
    return isNew ? [{ what: 'newly invalid', about: `${kind} ${name}: ${reason}` }] : [];
  });

function compareDays(
  name: string,
  then: Holding,
  now: Holding,
  pair: HistoryPair,
  permissions: Permissions,
): Finding[] {
  const about = `${then.kind} ${name}`;
  // Another query may give other numbers of rows, but not for fewer days.
  const isRedefined = then.kind === 'materialized view' && pair.redefined.has(name);
  const lost = [...then.days].filter(([day, values]) => {
    if (isExpired(day, then, now)) return false;
    const rows = now.days.get(day)?.get('') ?? 0;
    return isRedefined ? rows === 0 : rows < (values.get('') ?? 0);
  });
  const findings: Finding[] = [];
  if (lost.length > 0) {
    const [count, left] = [then, now].map(({ days }) =>
      [...days.values()].reduce((sum, day) => sum + (day.get('') ?? 0), 0),
    );
    findings.push({ what: 'rows lost', about: `${about}: ${count} rows, now ${left}, on ${lost.map(([day]) => day)}` });
  }
  if (isRedefined) return findings;
  for (const column of then.columns.keys()) {
    const renamed = pair.renamed.find(each => each.startsWith(`${name}.${column}=`))?.split('=')[1];
    const current = [column, renamed ?? column].find(each => now.columns.has(each));
    if (current === undefined) {
      if (!permissions.mayLoseColumn(name, column))
        findings.push({ what: 'column lost', about: `${about}: ${column}` });
      continue;
    }
    if (permissions.mayChangeValues(name, column)) continue;
    const changed = [...then.days].filter(([day, values]) => {
      const value = now.days.get(day)?.get(current);
      return day < LAST_DAY && value !== undefined && !isClose(value, values.get(column) ?? 0);
    });
    if (changed.length > 0)
      findings.push({ what: 'values changed', about: `${about}: ${column} on ${changed.map(([day]) => day)}` });
  }
  return findings;
}

const ROWS_PER_INSERT = 10;
const INSERT_EVERY_MS = 50;
/** A writer that nobody has ended stops by itself. */
const WRITER_LIMIT_MS = 120_000;

/**
 * Inserts 200 rows a second into the last day of table `b`, one in ten of them up to six hours late. Inserts that the
 * server rejects, since a plan changes the table, are skipped.
 */
function startWriter(server: Server, columns: readonly string[]): { end(): Promise<void> } {
  let isEnded = false;
  const started = Date.now();
  let micros = Date.parse(`${LAST_DAY}T12:00:00Z`) * 1000;
  const row = (): string => {
    micros += 1_000_000;
    const late = random.chance(0.1) ? random.below(6 * 3600 * 1e6) : 0;
    return `(${[Math.round(micros - late), ...columns.map(name => (name === 'k' ? `'x'` : 7))].join(', ')})`;
  };
  const write = async (): Promise<void> => {
    while (!isEnded && Date.now() - started < WRITER_LIMIT_MS) {
      const rows = Array.from({ length: ROWS_PER_INSERT }, row).join(', ');
      await server.execute(`INSERT INTO b (${['ts', ...columns].join(', ')}) VALUES ${rows}`).catch(() => undefined);
      await pause(INSERT_EVERY_MS);
    }
  };
  const done = write();
  return {
    async end() {
      isEnded = true;
      await done;
    },
  };
}
