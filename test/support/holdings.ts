/*!
 * What the objects of a real server hold, asked of the server alone: a plan that lost something without permission shows here,
 * whatever the planner takes for a loss.
 */
import { fetchBroken, waitUntilNone } from './background.js';
import { execute, type Server } from './server.js';

export interface Holding {
  readonly kind: 'table' | 'materialized view' | 'view';
  readonly rows: number;
  readonly first: string | undefined;
  readonly last: string | undefined;
  readonly columns: ReadonlyMap<string, Values>;
  readonly invalid: string | undefined;
}

/** The values of a column: how many are not null (of arrays, how many elements they have) and, of numbers, their sum. */
interface Values {
  readonly count: number;
  readonly sum: number | undefined;
}

export type Holdings = ReadonlyMap<string, Holding>;

const KINDS: Readonly<Record<string, Holding['kind']>> = { T: 'table', M: 'materialized view', V: 'view' };
const NUMBERS = /^(?:BYTE|SHORT|INT|LONG|FLOAT|DOUBLE|DECIMAL.*)$/;

export async function takeHoldings(server: Server): Promise<Holdings> {
  const invalid = await fetchBroken(server);
  const found = new Map<string, Holding>();
  const tables = await execute(server, 'SELECT table_name, table_type, designatedTimestamp FROM tables()');
  for (const [name, type, timestamp] of tables as [string, string, string | null][]) {
    const kind = KINDS[type];
    if (!kind) throw new Error(`'${name}' is of an unknown kind: ${type}`);
    found.set(name, await takeHolding(server, { name, kind, timestamp }, invalid.get(name)));
  }
  return found;
}

async function takeHolding(
  server: Server,
  { name, kind, timestamp }: { name: string; kind: Holding['kind']; timestamp: string | null },
  invalid: string | undefined,
): Promise<Holding> {
  const columns = (await execute(server, `SELECT "column", type FROM table_columns('${name}')`)) as [string, string][];
  const values = columns.flatMap(([column, type]) => [
    type.endsWith('[]') ? `sum(array_count("${column}"))` : `sum(("${column}" IS NOT NULL)::int)`,
    NUMBERS.test(type) ? `sum("${column}"::double)` : 'null',
  ]);
  // After ALTER VIEW, tables() of 9.3.4 still has the timestamp of the former query.
  const times =
    timestamp && kind !== 'view' ? [`min("${timestamp}")::varchar`, `max("${timestamp}")::varchar`] : ['null', 'null'];
  const { error, dataset } = await server.execute(
    `SELECT ${['count()', ...times, ...values].join(', ')} FROM '${name}'`,
  );
  const [count, first, last, ...cells] = dataset?.[0] ?? [];
  if (error !== undefined && kind !== 'view') throw new Error(`'${name}': ${error}`);
  const valuesAt = (i: number): Values => ({
    count: Number(cells[2 * i] ?? 0),
    sum: NUMBERS.test(columns[i]?.[1] ?? '') ? Number(cells[2 * i + 1] ?? 0) : undefined,
  });
  return {
    kind,
    rows: Number(count ?? 0),
    first: (first as string | null) ?? undefined,
    last: (last as string | null) ?? undefined,
    columns: new Map(columns.map(([column], i) => [column, valuesAt(i)])),
    invalid: invalid ?? error,
  };
}

export interface NewNames {
  object(name: string): string | undefined;
  column(object: string, column: string): string | undefined;
  /** Whether a materialized view has another query, which gives other rows. */
  isRedefined(view: string): boolean;
}

const SAME_NAMES: NewNames = { object: () => undefined, column: () => undefined, isRedefined: () => false };

/**
 * What was there before and no longer is, one line each. More rows are no loss: a view may have been filled. A rebuild may have kept
 * the rows in the old table.
 */
export function findMissing(before: Holdings, after: Holdings, names: NewNames = SAME_NAMES): string[] {
  return [...before].flatMap(([name, then]) => {
    const kept = [...after.keys()].find(each => each.startsWith(`${name}_before_`)) ?? name;
    const places = [name, names.object(name) ?? name, kept].map(each => after.get(each));
    const missing = places
      .filter(each => each?.kind === then.kind)
      .map(now => findMissingOf(name, then, now as Holding, names));
    return missing.sort((a, b) => a.length - b.length)[0] ?? [`${then.kind} '${name}' is gone`];
  });
}

function findMissingOf(name: string, then: Holding, now: Holding, names: NewNames): string[] {
  const broken = then.invalid === undefined && now.invalid !== undefined ? [`is invalid: ${now.invalid}`] : [];
  const isOther = then.kind === 'view' || names.isRedefined(name);
  const lost = isOther ? [] : findLost(then, now, column => names.column(name, column) ?? column);
  const emptied = then.kind !== 'view' && isOther && then.rows > 0 && now.rows === 0 ? ['is empty'] : [];
  return [...broken, ...lost, ...emptied].map(what => `${then.kind} '${name}' ${what}`);
}

function findLost(then: Holding, now: Holding, newName: (column: string) => string): string[] {
  const isFilled = then.kind === 'materialized view' && then.rows === 0;
  if (isFilled) return [];
  const differ = (['rows', 'first', 'last'] as const).filter(what => toText(then[what]) !== toText(now[what]));
  return [
    ...differ.map(what => `has ${what} ${now[what]}, not ${then[what]}`),
    ...[...then.columns].flatMap(([column, values]) => {
      const found = now.columns.get(column) ?? now.columns.get(newName(column));
      if (!found) return [`has no column '${column}'`];
      const sums = [values.sum, found.sum];
      const isOtherSum = !sums.includes(undefined) && toText(values.sum) !== toText(found.sum);
      if (values.count === found.count && !isOtherSum) return [];
      return [`has other values in '${column}': ${JSON.stringify([values, found])}`];
    }),
  ];
}

/** The last bits of a sum depend on the order; a timestamp in nanoseconds has more zeros. */
const toText = (value: string | number | undefined): string | undefined =>
  typeof value === 'number' ? value.toPrecision(9) : value?.replace(/0*Z$/, '');

/** Waits until a server holds what it did before: views are filled a moment later. @throws Error with what is still missing */
export const waitForHoldings = (server: Server, before: Holdings, names?: NewNames, about?: string): Promise<void> =>
  waitUntilNone(async () => findMissing(before, await takeHoldings(server), names), about);
