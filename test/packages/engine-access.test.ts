/*! What statements do to users, groups and their rights: names in any case, and rights that nothing gives. */
import { Engine, whenReady } from '@sqlpipe/engine';
import { test } from '../support/test.js';

const TABLE = 'create table t (ts timestamp, a int) timestamp(ts) partition by day';

/** The statements of a schema after others, each executed by an account; white space is one blank. */
async function executed(...statements: (string | readonly [account: string, statement: string])[]): Promise<string[]> {
  const engine = new Engine({ isEnterprise: true, rows: 'assumed' });
  for (const each of statements) {
    const [account, statement] = typeof each === 'string' ? [undefined, each] : each;
    await whenReady(() => engine.execute(statement, account));
  }
  return engine.statements().map(statement => statement.replace(/\s+/g, ' '));
}

test('who is dropped in another case owns nothing, and is in no group', async t => {
  t.deepEqual(
    await executed('create user ann', 'create table x (a int) owned by ann', 'drop user ANN', 'create user ann'),
    ['CREATE USER ann;', "CREATE TABLE 'x' ( a INT ) OWNED BY 'admin';"],
  );
  const group = [
    'create user ann',
    'create group devs',
    'add user ann to devs',
    'drop group DEVS',
    'create group devs',
  ];
  t.deepEqual(await executed(...group), ['CREATE USER ann;', 'CREATE GROUP devs;']);
});

const ANN = [TABLE, 'create user ann', 'grant http to ann'];

test('a column that exists gives no right to who adds it if it does not exist', async t => {
  const add = 'alter table t add column if not exists';
  const rights = async (column: string) => {
    const dump = await executed(...ANN, 'grant add column on t to ann', ['ann', `${add} ${column} int`]);
    return dump.filter(statement => statement.includes(`t(${column})`));
  };
  t.deepEqual(await rights('a'), []);
  t.is((await rights('b')).length, 1);
});
