/*! Which statements only the enterprise edition prints. */
import { isEnterpriseSchema } from '@sqlpipe/plan';
import { test } from '../support/test.js';

/** Statements, and whether only the enterprise edition prints them. */
const EDITIONS: readonly (readonly [statement: string, isEnterprise: boolean])[] = [
  ["CREATE TABLE t (x INT) OWNED BY 'ann';", true],
  ['CREATE VIEW v AS (\nSELECT x FROM t\n) owned  by ann;', true],
  ['CREATE TABLE t (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY STORAGE POLICY(TO PARQUET 3 DAYS);', true],
  ['create table t (ts timestamp) timestamp(ts) partition by day storage /* and */ policy(drop local 3d) wal', true],
  ['CREATE USER ann;', true],
  ['CREATE TABLE t (x INT); -- OWNED BY the desk', false],
  ['CREATE TABLE t (\n\tx INT -- once owned by ann\n);', false],
  ['CREATE TABLE t ( /* no STORAGE POLICY yet */ x INT);', false],
  ["CREATE VIEW v AS (SELECT 'a STORAGE POLICY' x, ' OWNED BY ann' y FROM t);", false],
  ['CREATE VIEW v AS (SELECT storage policy FROM t);', false],
  ['CREATE VIEW v AS (SELECT owned by FROM t);', false],
  ['CREATE TABLE " owned by " (" storage policy" INT);', false],
];

for (const [statement, isEnterprise] of EDITIONS)
  test(`${isEnterprise ? 'only the enterprise edition prints' : 'every edition may print'} ${statement}`, t =>
    t.is(isEnterpriseSchema([statement]), isEnterprise));
