/*! What holds of every renaming: there and back is where it began, and it makes no difference whether a schema is sorted before or after. */

import { Readable } from 'node:stream';
import { foldCase } from '@sqlpipe/sql';
import fc from 'fast-check';
import { sortStatements } from '../packages/sqlsort/src/sort.js';
import { Rules } from '../packages/sqltr/src/rules.js';
import { translate } from '../packages/sqltr/src/translate.js';
import { databases } from './support/databases.js';
import { test } from './support/test.js';

const NONE = new Rules([], '');

/** The statements renamed by rules. */
function rename(statements: readonly string[], ...rules: string[]): Promise<string[]> {
  const names = { objects: new Rules(rules, '--rename'), owners: NONE, principals: NONE };
  const losses = { isLossy: false, warn() {} };
  return Readable.from(translate(Readable.from(statements), { names, adapters: [] }, losses)).toArray();
}

const quoteRule = (name: string): string => `"${name}"`;

/** Names as people and servers have them: plain ones, keywords, with blanks, dots and letters of any script, and those that other things have. */
const PLAIN = ['trades', 'T2', '_x', 'fx_trades', 'fx_quotes', 'größe', '表', 'x', 'alias', 'cte', 'abc'];
const AWKWARD = ['select', 'left', 'my table', 'fx.usd', 'a-b', '1st', 'a=b', 'a;b', 'from', 'a.b c', '#'];

/** A name in a query: bare where it can be. */
const inQuery = (name: string): string => (PLAIN.includes(name) ? name : `"${name}"`);

/** Three tables, and a view over them in which their names are those of columns, aliases, strings and comments too. */
const schemas = (names: readonly string[]) =>
  fc.uniqueArray(fc.constantFrom(...names), { minLength: 4, maxLength: 4, selector: foldCase }).map(([a, b, c, v]) => {
    const [qa, qb, qc] = [a, b, c].map(name => inQuery(name as string));
    return {
      names: [a, b, c, v] as string[],
      statements: [
        `CREATE TABLE '${a}' (ts TIMESTAMP, col INT, "${b?.replaceAll(/[.=;#-]/g, '') || 'y'}" INT) timestamp(ts) PARTITION BY DAY;`,
        `CREATE TABLE "${b}" (ts TIMESTAMP, col INT) timestamp(ts) PARTITION BY DAY;`,
        `CREATE TABLE \`${c}\` (LIKE '${a}');`,
        `CREATE MATERIALIZED VIEW 'mv' WITH BASE '${a}' AS (SELECT ts, max(${qa}.col) col FROM ${qa} SAMPLE BY 1h) PARTITION BY DAY;`,
        `CREATE VIEW '${v}' AS (WITH cte_ AS (SELECT ${qb}.col FROM ${qb} WHERE x = '${a}') -- ${a}
SELECT ${qa}.col, '${b}' AS "${a}", /* ${c} */ al.ts FROM ${qa} ASOF JOIN ${qc} al ON ${qa}.col = al.col, cte_, (SELECT * FROM ${qa}) y);`,
        `GRANT SELECT ON "${a}"(col), "${v}" TO "${b}";`,
      ],
    };
  });

const PREFIX = fc.constantFrom('x_', 'Tenant1_', 'zz');

test('there and back again: byte for byte where no name needs quotes', async t => {
  await fc.assert(
    fc.asyncProperty(schemas(PLAIN), PREFIX, async ({ statements }, prefix) => {
      const renamed = await rename(statements, `*=${prefix}*`);
      t.true(renamed.every((statement, i) => statement !== statements[i]));
      t.deepEqual(await rename(renamed, `${prefix}*=*`), statements);
    }),
  );
});

test('there and back again, with names of every kind: but for quotes', async t => {
  const withoutQuotes = (statement: string) => statement.replace(/["`]/g, '');
  await fc.assert(
    fc.asyncProperty(
      schemas([...PLAIN, ...AWKWARD]),
      fc.shuffledSubarray([...AWKWARD, 'n1', 'n2', 'N3'], { minLength: 4, maxLength: 4 }),
      async ({ names, statements }, others) => {
        const pairs = names.map((name, i) => [name, `${others[i]}!`] as const);
        const there = pairs.map(([name, other]) => `${quoteRule(name)}=${quoteRule(other)}`);
        const back = pairs.map(([name, other]) => `${quoteRule(other)}=${quoteRule(name)}`);
        const again = await rename(await rename(statements, ...there), ...back);
        t.deepEqual(again.map(withoutQuotes), statements.map(withoutQuotes));
      },
    ),
  );
});

test('to exchange two names twice is to leave them as they are', async t => {
  await fc.assert(
    fc.asyncProperty(schemas(PLAIN), async ({ names: [a, b], statements }) => {
      const swap = [`${a}=${b}`, `${b}=${a}`];
      t.deepEqual(await rename(await rename(statements, ...swap), ...swap), statements);
    }),
  );
});

test('without a rule that matches each statement stays as it is', async t => {
  await fc.assert(
    fc.asyncProperty(schemas([...PLAIN, ...AWKWARD]), async ({ statements }) => {
      t.deepEqual(await rename(statements, 'no such table=other'), statements);
      t.deepEqual(await rename(statements), statements);
      t.deepEqual(await rename(statements, '*=*'), statements);
    }),
  );
});

const sorted = (statements: readonly string[]): Promise<string[]> =>
  Readable.from(sortStatements(Readable.from(statements))).toArray();

for (const { name, statements: all } of databases) {
  const statements = all.filter(statement => !/'.{125}/.test(statement.split('\n', 1)[0] as string));
  // Names of 126 characters and more have no room for a prefix; what reads from them goes with them.
  const long = all.filter(statement => !statements.includes(statement)).map(text => /'(.+?)'/.exec(text)?.[1] ?? '');
  const usable = statements.filter(statement => !long.some(each => statement.includes(each)));

  test(`${name}: there and back again, byte for byte`, async t => {
    const renamed = await rename(usable, '*=x_*');
    t.true(renamed.every((statement, i) => statement !== usable[i]));
    t.deepEqual(await rename(renamed, 'x_*=*'), usable);
  });

  test(`${name}: renamed and sorted is sorted and renamed`, async t => {
    const reversed = usable.toReversed();
    t.deepEqual(await sorted(await rename(reversed, '*=x_*')), await rename(await sorted(reversed), '*=x_*'));
  });
}
