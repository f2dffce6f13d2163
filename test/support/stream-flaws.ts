/*! Flaws of generated streams. */
import { printDefinition, tryParseDefinition } from '@sqlpipe/ddl';
import { changesOf } from './changes.js';
import type { Randomness } from './schema-pairs.js';
import { createTable, type Draft, pickObject } from './stream-drafts.js';

const insert = ({ random, statements }: Draft, ...flawed: string[]): void =>
  void statements.splice(random.below(statements.length + 1), 0, ...flawed);

/** Adds a flaw to a stream: a statement that a server may reject. By the kind of error. */
export const FLAWS: Record<string, (draft: Draft) => void> = {
  'a view before its table': draft => {
    const name = `late${draft.serial++}`;
    const table = createTable(draft, name);
    const view = draft.random.pick([
      `CREATE VIEW early AS (select * from ${name})`,
      `CREATE MATERIALIZED VIEW early AS (select ts, count() n from ${name} sample by 1h)`,
    ]);
    draft.statements.push(table);
    draft.statements.splice(draft.random.below(draft.statements.length), 0, view);
  },
  'a reference that is too early': draft => {
    const name = `late${draft.serial++}`;
    const table = createTable(draft, name);
    const early = draft.random.pick([
      `ALTER TABLE ${name} ADD COLUMN x INT`,
      `RENAME TABLE ${name} TO other`,
      `CREATE TABLE other (LIKE ${name})`,
      `DROP TABLE ${name}`,
      `TRUNCATE TABLE ${name}`,
      `CREATE VIEW early AS (select later from ${name})`,
    ]);
    draft.statements.push(table);
    draft.statements.splice(draft.random.below(draft.statements.length), 0, early);
    draft.statements.push(
      `ALTER TABLE ${name} ADD COLUMN later INT`,
      `CREATE VIEW then AS (select later from ${name})`,
    );
  },
  'a missing table': draft =>
    insert(
      draft,
      draft.random.pick([
        'CREATE VIEW bad AS (select * from nowhere)',
        'CREATE OR REPLACE VIEW bad AS (select * from nowhere)',
        'CREATE MATERIALIZED VIEW bad AS (select ts, count() n from nowhere sample by 1h)',
        'CREATE MATERIALIZED VIEW bad WITH BASE nowhere AS (select ts, count() n from nowhere sample by 1h)',
        'ALTER TABLE nowhere ADD COLUMN x INT',
        'DROP TABLE nowhere',
        'DROP VIEW nowhere',
        'DROP MATERIALIZED VIEW nowhere',
        'RENAME TABLE nowhere TO somewhere',
        'REFRESH MATERIALIZED VIEW nowhere FULL',
        'ALTER VIEW nowhere AS (select 1)',
        'ALTER MATERIALIZED VIEW nowhere SET TTL 1 WEEK',
        'CREATE TABLE bad (LIKE nowhere)',
        'TRUNCATE TABLE nowhere',
      ]),
    ),
  'a missing column in a view': draft => {
    const name = pickObject(draft)?.name ?? 'nowhere';
    insert(
      draft,
      draft.random.pick([
        `CREATE VIEW bad AS (select ts, nothing from '${name}')`,
        `CREATE VIEW bad AS (select * from '${name}' where nothing = 1)`,
        `CREATE OR REPLACE VIEW bad AS (select x.nothing from '${name}' x)`,
        `CREATE MATERIALIZED VIEW bad AS (select ts, sum(nothing) n from '${name}' sample by 1h)`,
      ]),
    );
  },
  'an object with another definition': draft => {
    const created = draft.statements.findLast(isCreation);
    const changed = created && changeDefinition(created, draft.random);
    if (changed) draft.statements.push(changed);
  },
  'an object with the same definition': draft => {
    const created = draft.statements.findLast(isCreation);
    if (created) draft.statements.push(created);
  },
  'a duplicate': draft => {
    const name = `twice${draft.serial++}`;
    insert(
      draft,
      ...draft.random.pick([
        [`CREATE TABLE ${name} (a INT)`, `CREATE TABLE ${name} (a INT, b INT)`],
        [`CREATE TABLE ${name} (a INT)`, `CREATE TABLE ${name.toUpperCase()} (a INT)`],
        [`CREATE TABLE ${name} (a INT, A INT)`],
        [`CREATE TABLE ${name} (a INT)`, `ALTER TABLE ${name} ADD COLUMN a LONG`],
        [`CREATE TABLE ${name} (a INT)`, `CREATE VIEW v_${name} AS (select a, a from ${name})`],
        [`CREATE TABLE ${name} (a INT, b INT)`, `ALTER TABLE ${name} RENAME COLUMN a TO b`],
      ]),
    );
  },
  'a wrong type': draft => {
    const table = pickObject(draft, 'table')?.name ?? 'nowhere';
    const type = draft.random.pick([
      'INTEGERR',
      'DECIMAL(99,2)',
      'GEOHASH(99c)',
      'DOUBLE[',
      'SYMBOL(3)',
      'INT NULL NULL',
    ]);
    insert(
      draft,
      draft.random.pick([
        `CREATE TABLE bad (a ${type})`,
        'CREATE TABLE bad (a INT) TIMESTAMP(a)',
        'CREATE TABLE bad (a INT INDEX)',
        `ALTER TABLE '${table}' ADD COLUMN bad ${type}`,
        `ALTER TABLE '${table}' ALTER COLUMN ts TYPE ${type}`,
        `CREATE VIEW bad AS (select ts::${type.split(' ')[0]} x from '${table}')`,
      ]),
    );
  },
  'an invalid name': draft => {
    const table = pickObject(draft, 'table')?.name ?? 'nowhere';
    const name = draft.random.pick(['a/b', 'a..b', '.a', 'a?', '', ' a', 'a*b', 'x'.repeat(300)]);
    insert(
      draft,
      draft.random.pick([
        `CREATE TABLE '${name}' (a INT)`,
        `CREATE VIEW '${name}' AS (select * from '${table}')`,
        `CREATE MATERIALIZED VIEW '${name}' AS (select ts, count() n from '${table}' sample by 1h)`,
        `CREATE TABLE bad ("${name}" INT)`,
        `ALTER TABLE '${table}' ADD COLUMN "${name}" INT`,
        `RENAME TABLE '${table}' TO '${name}'`,
      ]),
    );
  },
  'an ALTER of a missing column': draft => {
    const table = pickObject(draft, 'table')?.name ?? 'nowhere';
    insert(
      draft,
      `ALTER TABLE '${table}' ${draft.random.pick([
        'DROP COLUMN nothing',
        'RENAME COLUMN nothing TO something',
        'ALTER COLUMN nothing TYPE INT',
        'ALTER COLUMN nothing ADD INDEX',
        'ALTER COLUMN nothing NOCACHE',
        'ALTER COLUMN nothing SYMBOL CAPACITY 256',
        'DEDUP ENABLE UPSERT KEYS(ts, nothing)',
      ])}`,
    );
  },
  'an ALTER that the server rejects': draft => {
    const [table, view] = [pickObject(draft, 'table')?.name ?? 'nowhere', pickObject(draft, 'materialized view')?.name];
    insert(
      draft,
      draft.random.pick([
        ...[
          'DROP COLUMN ts',
          'RENAME COLUMN ts TO ts',
          'ALTER COLUMN ts TYPE INT',
          'ALTER COLUMN ts ADD INDEX',
          'ALTER COLUMN ts CACHE',
          'ADD COLUMN ts INT',
          'ADD COLUMN x INT, y INT',
          'ADD COLUMN',
          'SET TTL 5 HOURS',
          'SET TTL banana',
          'SET PARAM nothing = 3',
          'DEDUP ENABLE UPSERT KEYS()',
          'DROP PARTITION LIST',
          "DROP PARTITION LIST '2024-01-01'",
          'CHANGE',
        ].map(alteration => `ALTER TABLE '${table}' ${alteration}`),
        ...(view === undefined
          ? []
          : [
              'SET REFRESH EVERY 90s',
              'SET TTL 5 HOURS',
              'SET REFRESH LIMIT banana',
              'ADD COLUMN x INT',
              'AS (select 1)',
            ].map(alteration => `ALTER MATERIALIZED VIEW '${view}' ${alteration}`)),
      ]),
    );
  },
  'a name of another kind': draft => {
    const { random } = draft;
    const [table, view] = [pickObject(draft, 'table')?.name, pickObject(draft, 'view')?.name];
    const matview = pickObject(draft, 'materialized view')?.name;
    const onTable = [
      `DROP VIEW '${table}'`,
      `DROP MATERIALIZED VIEW '${table}'`,
      `ALTER VIEW '${table}' AS (select 1)`,
      `ALTER MATERIALIZED VIEW '${table}' SET TTL 1 WEEK`,
      `CREATE VIEW '${table}' AS (select 1)`,
      `CREATE OR REPLACE VIEW '${table}' AS (select 1)`,
      `CREATE VIEW IF NOT EXISTS '${table}' AS (select 1)`,
      `REFRESH MATERIALIZED VIEW '${table}' FULL`,
      `CREATE MATERIALIZED VIEW '${table}' AS (select ts, count() n from '${table}' sample by 1h)`,
    ];
    const onView = (name: string) => [
      `DROP TABLE '${name}'`,
      `ALTER TABLE '${name}' ADD COLUMN x INT`,
      `ALTER TABLE '${name}' SET TTL 1 WEEK`,
      `CREATE TABLE '${name}' (a INT)`,
      `CREATE TABLE IF NOT EXISTS '${name}' (a INT)`,
      `RENAME TABLE '${name}' TO somewhere`,
      `TRUNCATE TABLE '${name}'`,
      `CREATE TABLE like1 (LIKE '${name}')`,
    ];
    insert(
      draft,
      random.pick([
        ...(table === undefined ? [] : onTable),
        ...[view, matview].flatMap(name => (name === undefined ? [] : onView(name))),
        ...(view === undefined ? [] : [`DROP MATERIALIZED VIEW '${view}'`, `REFRESH MATERIALIZED VIEW '${view}' FULL`]),
        ...(matview === undefined ? [] : [`DROP VIEW '${matview}'`, `CREATE VIEW '${matview}' AS (select 1)`]),
        'CREATE TABLE',
      ]),
    );
  },
};

const isCreation = (statement: string): boolean => /^CREATE (TABLE|VIEW|MATERIALIZED)/.test(statement);

/** The same statement with one other property; undefined if none can be changed. */
export function changeDefinition(statement: string, random: Randomness): string | undefined {
  const definition = tryParseDefinition(statement);
  if (!definition) return undefined;
  const changes = changesOf(definition).filter(({ property }) => property !== 'name');
  const change = random.pick(changes);
  return change && printDefinition(change.changed, { quoted: true }).replace(/;$/, '');
}
