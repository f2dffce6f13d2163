/*! The engine without the parser of queries, which loads late. One test has this file alone, because any other may load it. */
import { Engine, NotReadyError } from '@sqlpipe/engine';
import { test } from '../support/test.js';

const TABLES = ['trades', 'other'].map(
  name => `CREATE TABLE '${name}' ( \n\tts TIMESTAMP,\n\tqty INT\n) timestamp(ts) PARTITION BY DAY WAL;`,
);
const VIEWS = [
  "CREATE VIEW 'big' AS ( \nselect qty from trades where qty > 9\n);",
  "CREATE VIEW 'bigger' AS ( \nselect qty from big where qty > 99\n);",
  "CREATE MATERIALIZED VIEW 'm' WITH BASE 'trades' REFRESH IMMEDIATE AS (\nselect ts, max(qty) qty from trades sample by 1h\n) PARTITION BY DAY;",
];

test('no query is parsed to load a dump, to change a table without views, and to drop a view', t => {
  const dump = [...TABLES, ...VIEWS];
  const engine = new Engine({ rows: 'assumed' });
  engine.load(dump.toReversed());
  t.deepEqual(engine.statements().toSorted(), dump.toSorted());
  engine.execute('alter table other add column x long');
  engine.execute('alter table trades set ttl 5 days');
  engine.execute('drop table other');
  engine.execute('drop view bigger');
  engine.execute('create table fresh (a int); ');
  t.throws(() => engine.execute('alter table trades drop column qty'), { instanceOf: NotReadyError });
  t.is(engine.statements().length, 4, 'what needs the library has changed nothing');
});
