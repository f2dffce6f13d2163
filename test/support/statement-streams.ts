/*!
 * Generates streams of statements for a target that is empty, partly filled, or holds different definitions. Half of the
 * streams have a flaw: a statement that a server may reject. A seed always gives the same stream.
 */
import { randomness } from './schema-pairs.js';
import {
  createMaterializedView,
  createTable,
  createView,
  type Draft,
  newName,
  newQuery,
  pickColumn,
  pickObject,
  q,
  type Sketch,
  type Step,
  TYPES,
} from './stream-drafts.js';
import { changeDefinition, FLAWS } from './stream-flaws.js';

/** A stream, and the statements that make its target. */
export interface StatementStream {
  readonly seed: number;
  readonly target: readonly string[];
  readonly statements: readonly string[];
  /** The kind of error that the stream probably contains, or `none`. */
  readonly flaw: string;
}

const STEPS_OF_CREATION: Step[] = [
  draft => createTable(draft, newName(draft, 't')),
  draft => createTable(draft, newName(draft, 't')),
  draft => createView(draft, newName(draft, 'v')),
  draft => createView(draft, newName(draft, 'v')),
  draft => createMaterializedView(draft, newName(draft, 'm')),
  draft => createMaterializedView(draft, newName(draft, 'm')),
];

const alterTable =
  (alter: (table: Sketch, draft: Draft) => string | undefined): Step =>
  draft => {
    const table = pickObject(draft, 'table');
    const alteration = table && alter(table, draft);
    return alteration && `ALTER TABLE '${table.name}' ${alteration}`;
  };

const alterColumn = (
  isWanted: (type: string) => boolean,
  alter: (column: Sketch['columns'][number], draft: Draft, table: Sketch) => string,
): Step =>
  alterTable((table, draft) => {
    const column = pickColumn(draft, table, isWanted);
    return column && alter(column, draft, table);
  });

const isSymbol = (type: string): boolean => type === 'SYMBOL';

const forget = (draft: Draft, gone: Sketch): void => {
  draft.objects = draft.objects.filter(each => each !== gone);
};

const drop =
  (kind: Sketch['kind'], option = ''): Step =>
  draft => {
    const gone = pickObject(draft, kind);
    if (!gone) return undefined;
    forget(draft, gone);
    return `DROP ${kind.toUpperCase()} ${option}'${gone.name}'`;
  };

const withMaterializedView =
  (write: (name: string, draft: Draft) => string): Step =>
  draft => {
    const view = pickObject(draft, 'materialized view');
    return view && write(view.name, draft);
  };

/** What changes a schema. Each may be rejected, as for an object that something else has made invalid. */
const STEPS_OF_CHANGE: Step[] = [
  alterTable((table, draft) => {
    const column = { name: `new${draft.serial++}`, type: draft.random.pick(TYPES) };
    table.columns.push(column);
    return `ADD COLUMN ${draft.random.pick(['', 'IF NOT EXISTS '])}${column.name} ${column.type}`;
  }),
  alterColumn(
    () => true,
    (column, _, table) => {
      table.columns = table.columns.filter(each => each !== column);
      return `DROP COLUMN ${q(column.name)}`;
    },
  ),
  alterColumn(
    () => true,
    (column, draft) => {
      const old = column.name;
      column.name = `renamed${draft.serial++}`;
      return `RENAME COLUMN ${q(old)} TO ${column.name}`;
    },
  ),
  alterColumn(
    () => true,
    (column, { random }) => {
      column.type = random.pick(TYPES);
      return `ALTER COLUMN ${q(column.name)} TYPE ${column.type}`;
    },
  ),
  alterColumn(isSymbol, ({ name }, { random }) => `ALTER COLUMN ${q(name)} ${random.pick(['CACHE', 'NOCACHE'])}`),
  alterColumn(isSymbol, ({ name }) => `ALTER COLUMN ${q(name)} SYMBOL CAPACITY 2048`),
  alterColumn(
    isSymbol,
    ({ name }, { random }) =>
      `ALTER COLUMN ${q(name)} ${random.pick(['ADD INDEX', 'DROP INDEX', 'ADD INDEX CAPACITY 128'])}`,
  ),
  alterTable((_, { random }) => `SET TTL ${random.pick(['1 WEEK', '0', '12 MONTHS', '3 DAYS'])}`),
  alterTable((table, draft) => {
    const column = pickColumn(draft, table);
    return draft.random.pick(['DEDUP DISABLE', `DEDUP ENABLE UPSERT KEYS(ts${column ? `, ${q(column.name)}` : ''})`]);
  }),
  alterTable((_, { random }) => random.pick(['SET PARAM maxUncommittedRows = 10000', 'SET PARAM o3MaxLag = 20s'])),
  alterTable((_, { random }) =>
    random.pick(['SET TYPE BYPASS WAL', 'SET TYPE WAL', 'SQUASH PARTITIONS', 'RESUME WAL']),
  ),
  drop('table'),
  drop('view'),
  drop('view', 'IF EXISTS '),
  drop('materialized view'),
  draft => {
    const table = pickObject(draft, 'table');
    if (!table) return undefined;
    const old = table.name;
    table.name = newName(draft, 'r');
    return `RENAME TABLE '${old}' TO '${table.name}'`;
  },
  draft => {
    const view = pickObject(draft, 'view');
    if (view) forget(draft, view);
    return createView(draft, view?.name ?? newName(draft, 'v'), 'CREATE OR REPLACE VIEW');
  },
  draft => {
    const [view, query] = [pickObject(draft, 'view'), newQuery(draft)];
    if (!view || !query) return undefined;
    view.columns = query.columns;
    return `ALTER VIEW '${view.name}' AS (${query.text})`;
  },
  draft => createTable(draft, pickObject(draft, 'table')?.name ?? newName(draft, 't'), 'CREATE TABLE IF NOT EXISTS'),
  draft => createView(draft, pickObject(draft, 'view')?.name ?? newName(draft, 'v'), 'CREATE VIEW IF NOT EXISTS'),
  draft =>
    createMaterializedView(
      draft,
      pickObject(draft, 'materialized view')?.name ?? newName(draft, 'm'),
      'CREATE MATERIALIZED VIEW IF NOT EXISTS',
    ),
  draft => {
    const table = pickObject(draft, 'table');
    if (!table) return undefined;
    const name = newName(draft, 'like');
    draft.objects.push({ ...table, name, columns: table.columns.map(each => ({ ...each })) });
    return `CREATE TABLE '${name}' (LIKE '${table.name}')`;
  },
  withMaterializedView(
    (name, { random }) => `REFRESH MATERIALIZED VIEW '${name}' ${random.pick(['FULL', 'INCREMENTAL'])}`,
  ),
  withMaterializedView(
    (name, { random }) =>
      `ALTER MATERIALIZED VIEW '${name}' ${random.pick(['SET TTL 3 WEEKS', 'SET TTL 0', 'SET REFRESH MANUAL', 'SET REFRESH IMMEDIATE', 'SET REFRESH LIMIT 7 DAYS', 'RESUME WAL'])}`,
  ),
  draft => {
    const view = pickObject(draft, 'materialized view');
    if (!view) return undefined;
    forget(draft, view);
    draft.statements.push(`DROP MATERIALIZED VIEW '${view.name}'`);
    return createMaterializedView(draft, view.name);
  },
  draft => {
    const table = pickObject(draft, 'table');
    return table && `TRUNCATE TABLE '${table.name}'`;
  },
  draft => {
    const table = pickObject(draft, 'table');
    if (!table) return undefined;
    return draft.random.pick([
      `INSERT INTO '${table.name}' (ts) VALUES ('2024-01-01')`,
      `SELECT count() >= 0 FROM '${table.name}'`,
      `CREATE TABLE copy${draft.serial++} AS (SELECT * FROM '${table.name}')`,
    ]);
  },
];

function addSteps(draft: Draft, steps: readonly Step[], count: number): void {
  for (let tries = 0, done = 0; done < count && tries < 10 * count; tries++) {
    const statement = draft.random.pick(steps)(draft);
    if (statement === undefined) continue;
    draft.statements.push(statement);
    done++;
  }
}

/** Generates the stream of a seed. */
export function statementStream(seed: number): StatementStream {
  const random = randomness(seed ^ 0xd47);
  const draft: Draft = { random, statements: [], objects: [], serial: 1 };
  const isFilled = random.chance(0.7);
  if (isFilled) addSteps(draft, STEPS_OF_CREATION, 2 + random.below(4));
  const target = draft.statements.splice(0);
  for (const statement of target) {
    if (!random.chance(0.3)) continue;
    const changed = random.chance(0.3) ? changeDefinition(statement, random) : undefined;
    draft.statements.push(changed ?? statement);
  }
  addSteps(draft, STEPS_OF_CREATION, 1 + random.below(4));
  addSteps(draft, STEPS_OF_CHANGE, random.below(6));
  addSteps(draft, STEPS_OF_CREATION, random.below(3));
  const flaw = random.chance(0.5) ? random.pick(Object.keys(FLAWS)) : 'none';
  FLAWS[flaw]?.(draft);
  return { seed, target, statements: draft.statements, flaw };
}
