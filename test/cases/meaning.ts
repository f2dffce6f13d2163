/*! Handwritten statements, and small changes that change their meaning. */

/** A replacement in the text, and the property that it changes. */
export type Change = readonly [from: string, to: string, property: string];

/** The name of an object, the statement that creates it, and changes of the statement. */
export type Case = readonly [name: string, statement: string, ...changes: Change[]];

const TABLES: Case[] = [
  [
    'readings',
    'create table readings (ts timestamp, site symbol, kw double, note varchar) timestamp(ts) partition by day wal',
    ['note varchar', 'note string', "column 'note'"],
  ],
  [
    'Meters',
    'CREATE TABLE "Meters" (Id LONG, Site SYMBOL CAPACITY 512 NOCACHE, Installed DATE);',
    ['NOCACHE', 'CACHE', "column 'Site' cache"],
    [' NOCACHE', '', "column 'Site' cache"],
  ],
  [
    'synonyms',
    'create table synonyms (a integer, b bigint, c smallint, d real, e double precision, f text, g bytea, h geohash(25b), i decimal, j decimal(7), k geohash(5C), l geohash(33B), m ipv4)',
    ['a integer', 'a bigint', "column 'a'"],
    ['d real', 'd double', "column 'd'"],
    ['geohash(25b)', 'geohash(26b)', "column 'h'"],
    ['decimal(7)', 'decimal(7, 2)', "column 'j'"],
  ],
  [
    'spectra',
    'Create Table spectra (ts Timestamp_NS, v double[], w Double[][]) timestamp (ts) partition by MONTH',
    ['v double[]', 'v double[][]', "column 'v'"],
    ['MONTH', 'YEAR', 'partitioning'],
  ],
  [
    'nullable',
    'create table nullable (a int null, b long not null, c boolean, d uuid NOT NULL, e char)',
    ['e char', 'e char, f byte', "column 'f'"],
    ['b long not null, ', '', "column 'b'"],
  ],
  ['plain', 'create table plain(x int)', ['x int', 'X int', "column 'X' name"]],
  [
    'event_log',
    'CREATE TABLE event_log (ts TIMESTAMP, line VARCHAR) TIMESTAMP(ts)',
    ['TIMESTAMP(ts)', 'TIMESTAMP(ts) PARTITION BY DAY', 'partitioning'],
  ],
  [
    'event_log2',
    'CREATE TABLE event_log2 (ts TIMESTAMP, line VARCHAR) TIMESTAMP(TS) PARTITION BY NONE',
    ['ts TIMESTAMP, line VARCHAR', 'line VARCHAR, ts TIMESTAMP', 'column order'],
  ],
  [
    'scratch',
    'create table scratch (ts timestamp, x int) timestamp(ts) partition by hour bypass wal',
    ['bypass wal', 'wal', 'WAL'],
    ['by hour', 'by week', 'partitioning'],
  ],
  [
    'defaulted',
    'create table defaulted (ts timestamp, x int) timestamp(ts) partition by hour',
    ['by hour', 'by hour bypass wal', 'WAL'],
  ],
  [
    'two_weeks',
    'create table two_weeks (ts timestamp) timestamp(ts) partition by day ttl 14 days',
    ['14 days', '15 days', 'TTL'],
    [' ttl 14 days', '', 'TTL'],
  ],
  [
    'two_weeks2',
    'create table two_weeks2 (ts timestamp) timestamp(ts) partition by hour TTL 336H wal',
    ['336H', '335H', 'TTL'],
  ],
  [
    'two_years',
    'create table two_years (ts timestamp) timestamp(ts) partition by month ttl 24 months',
    ['24 months', '3y', 'TTL'],
  ],
  [
    'no_ttl',
    'create table no_ttl (ts timestamp) timestamp(ts) partition by day ttl 0 hours',
    ['0 hours', '1 day', 'TTL'],
  ],
  [
    'dedup_order',
    'create table dedup_order (ts timestamp, a symbol, b int, c int) timestamp(ts) partition by day wal dedup upsert keys(b, ts, a)',
    ['keys(b, ts, a)', 'keys(b, ts)', 'dedup keys'],
    ['keys(b, ts, a)', 'keys(b, ts, a, c)', 'dedup keys'],
    ['dedup upsert keys(b, ts, a)', '', 'dedup keys'],
  ],
  [
    'dedup_old',
    'CREATE TABLE dedup_old (ts TIMESTAMP, a INT) TIMESTAMP(ts) PARTITION BY DAY DEDUPLICATE UPSERT KEYS ("TS")',
    ['("TS")', '(ts, a)', 'dedup keys'],
  ],
  [
    'indexed',
    'create table indexed (s symbol index capacity 100, x int)',
    ['100', '200', "column 's' index"],
    [' index capacity 100', '', "column 's' index"],
  ],
  ['indexed2', 'create table indexed2 (s symbol cache index)', ['index)', 'index capacity 512)', "column 's' index"]],
  [
    'indexed3',
    'create table indexed3 (a symbol, b symbol nocache, ts timestamp), index(a), INDEX ("B" CAPACITY 33) timestamp(ts) partition by year',
    ['33', '65', "column 'b' index"],
    [', index(a)', '', "column 'a' index"],
    ['nocache', 'cache', "column 'b' cache"],
  ],
  [
    'index capacity',
    'create table "index capacity" (s symbol capacity 1000 index capacity 256)',
    ['index capacity 256', 'index capacity 1024', "column 's' index"],
  ],
  [
    'order',
    'create table "order" ("order" int, \'my col\' long, `select` double, "group" symbol, timestamp timestamp) timestamp("timestamp") partition by week',
    ["'my col' long", "'my col' int", "column 'my col'"],
    ['"order" int, ', '', "column 'order'"],
  ],
  [
    'größen',
    'create table größen (表 int, "Ünïcode" symbol, _é double, a$b long, "@home" int)',
    ['表 int', '表 long', "column '表'"],
  ],
  [
    'stations',
    'create table public.stations (name string, at timestamp) timestamp(at)',
    ['name string', 'name varchar', "column 'name'"],
  ],
  ['blank name', "create table 'blank name' (x int)", ['x int', 'x int, y int', "column 'y'"]],
  [
    'commented',
    '-- all that comes in\ncreate /* or so */ table commented ( -- columns\n  ts timestamp, -- when\n  x int /* what; and "why" */\n) /**/ timestamp(ts)\n  partition by day;',
    ['int', 'long', "column 'x'"],
  ],
  [
    'parameters',
    'create table parameters (ts timestamp, x int) timestamp(ts) partition by day wal with maxUncommittedRows=250000, o3MaxLag=240s',
    ['x int', 'x short', "column 'x'"],
  ],
  [
    'parameters2',
    'create table parameters2 (ts timestamp, x int) timestamp(ts) partition by day with o3MaxLag=1000ms dedup upsert keys(ts)',
    ['by day', 'by hour', 'partitioning'],
  ],
  [
    'two_times',
    'create table two_times (a timestamp, b timestamp) timestamp(b) partition by day',
    ['timestamp(b)', 'timestamp(a)', 'designated timestamp'],
  ],
  [
    'wide',
    'CREATE TABLE wide\n(\n\tts\tTIMESTAMP,\n\tl1\tLONG128,\n\tl2\tLONG256,\n\tb\tBINARY,\n\td\tDECIMAL(38,10),\n\tg\tGEOHASH(12c)\n)\nTIMESTAMP(ts)\nPARTITION BY DAY',
    ['DECIMAL(38,10)', 'DECIMAL(38,11)', "column 'd'"],
    ['LONG128', 'LONG256', "column 'l1'"],
  ],
  [
    'readings_copy',
    'create table readings_copy (like readings)',
    [
      '(like readings)',
      '(ts timestamp, site symbol, kw double, note varchar) timestamp(ts) partition by year',
      'partitioning',
    ],
  ],
  ['Meters_copy', 'CREATE TABLE "Meters_copy" (LIKE "Meters");'],
  [
    'cast_all',
    'create table cast_all as (select cast(ts as timestamp) as ts, cast(site as symbol) site2, kw::float as kw from readings), index(site2) timestamp(ts) partition by month',
  ],
  [
    'cast_each',
    'create table cast_each as (select ts, site, cast(kw as float) as power, note::string as n from readings) timestamp(ts) partition by week',
    ['cast(kw as float)', 'cast(kw as double)', "column 'power'"],
    ['by week', 'by day', 'partitioning'],
    [', note::string as n', '', "column 'n'"],
  ],
  [
    'cast_clause',
    'create table cast_clause as (select ts, site, kw from readings), cast(kw as float), cast(SITE as varchar) timestamp(ts) partition by day',
    ['kw as float', 'kw as double', "column 'kw'"],
    ['ts, site, kw', 'ts, kw, site', 'column order'],
  ],
  [
    'starred',
    'create table starred as (select * from readings), index(Site capacity 128) timestamp(ts) partition by day ttl 1 week wal',
    ['by day', 'by hour', 'partitioning'],
    ['capacity 128', 'capacity 64', "column 'Site' index"],
    ['1 week', '2 weeks', 'TTL'],
  ],
  [
    'starred2',
    'CREATE TABLE starred2 AS (SELECT * FROM readings WHERE kw > 3) TIMESTAMP(ts) PARTITION BY DAY DEDUP UPSERT KEYS(TS, site)',
    ['(TS, site)', '(ts)', 'dedup keys'],
  ],
  [
    'batched',
    'create batch 1000 table batched as (select ts, kw as power from readings) timestamp(ts) partition by day bypass wal',
    ['kw as power', 'kw as Power', "column 'Power' name"],
  ],
];

const VIEWS: Case[] = [
  [
    'hot',
    'create view hot as (select ts, site from readings where kw > 5)',
    ['kw > 5', 'kw > 6', 'query'],
    ['ts, site', 'site, ts', 'query'],
  ],
  [
    'hot2',
    'CREATE VIEW hot2 AS SELECT ts, site FROM readings WHERE kw > 5;',
    ['WHERE kw > 5', 'WHERE (kw > 5)', 'query'],
  ],
  [
    'hot3',
    'create view hot3 as (\n  -- only what is hot\n  select ts, /* where */ site\n  from readings\n  where kw > 5\n)',
    ['site\n', 'site as Site\n', 'query'],
  ],
  ['hot4', 'create view if not exists hot4 as (select * from hot)', ['hot)', 'hot2)', 'query']],
  [
    'latest',
    "create view 'latest' as (select * from readings latest on ts partition by site)",
    ['partition by site', 'partition by note', 'query'],
  ],
  [
    'sites',
    'create view "sites" as ( with s as (select distinct site from readings) select site from s order by site desc limit 10 )',
    ['desc ', '', 'query'],
    ['10', '100', 'query'],
  ],
  [
    'joined',
    "create view joined as (select r.ts, r.kw, m.Installed as at from readings r asof join event_log e left join Meters m on m.Site = r.site where r.note = 'it''s; fine')",
    ["it''s; fine", "it''s; Fine", 'query'],
  ],
  [
    'declared',
    'CREATE VIEW declared AS (DECLARE @least := 5 SELECT ts, kw FROM readings WHERE kw > @least)',
    [':= 5', ':= 7', 'query'],
  ],
  [
    'unions',
    'create view unions as select ts, kw from readings union all select ts, kw + 1 as kw from readings',
    ['union all', 'union', 'query'],
  ],
  [
    'cases',
    "create view cases as (select case when kw > 5 then 'HOT' else 'cold' end as state from readings)",
    ["'HOT'", "'hot'", 'query'],
    ['as state', 'as State', 'query'],
  ],
];

const EVERY = 'create materialized view hourly_every with base readings refresh every 10m';

const MATERIALIZED_VIEWS: Case[] = [
  [
    'two_bases',
    'create materialized view two_bases with base readings as (select r.ts, avg(r.kw) kw from readings r asof join dedup_old d sample by 1h)',
    ['base readings', 'base dedup_old', 'base'],
  ],
  [
    'hourly',
    'create materialized view hourly as (select ts, site, avg(kw) as kw from readings sample by 1h) partition by day',
    ['avg(kw)', 'sum(kw)', 'query'],
    ['by day', 'by week', 'partitioning'],
    ['hourly as', 'hourly refresh manual as', 'refresh'],
  ],
  [
    'inferred',
    'create materialized view inferred as (select ts, avg(kw) kw from readings sample by 1d)',
    ['sample by 1d)', 'sample by 1d) ttl 2 years', 'TTL'],
    ['sample by 1d)', 'sample by 1d) partition by month', 'partitioning'],
  ],
  [
    'bare',
    'CREATE MATERIALIZED VIEW bare AS SELECT ts, max(kw) AS kw FROM readings SAMPLE BY 30s',
    ['30s', '31s', 'query'],
  ],
  [
    'immediate',
    "create materialized view immediate with base 'readings' refresh immediate as (select ts, avg(kw) kw from readings sample by 1h) partition by month ttl 12 months",
    ['12 months', '1 month', 'TTL'],
    ['refresh immediate', 'refresh immediate deferred', 'refresh'],
  ],
  [
    'incremental',
    'create materialized view incremental refresh incremental as (select ts, avg(kw) kw from readings sample by 2h) partition by week',
    ['refresh incremental', 'refresh manual', 'refresh'],
  ],
  [
    'manual',
    'create materialized view if not exists manual refresh manual as (select ts, avg(kw) kw from readings sample by 1h)',
    ['manual as', 'every 1h as', 'refresh'],
  ],
  [
    'immediate_deferred',
    'create materialized view immediate_deferred refresh immediate deferred as (select ts, avg(kw) kw from readings sample by 1h)',
    [' deferred', '', 'refresh'],
  ],
  [
    'manual_deferred',
    'Create Materialized View manual_deferred Refresh Manual Deferred As (Select ts, avg(kw) kw From readings Sample By 1h)',
    [' Deferred', '', 'refresh'],
  ],
  ['hourly_every', `${EVERY} as (select ts, avg(kw) kw from readings sample by 1h)`, ['10m', '20m', 'refresh']],
  [
    'every_deferred',
    'create materialized view every_deferred refresh every h deferred as (select ts, avg(kw) kw from readings sample by 1h)',
    ['every h', 'every 2h', 'refresh'],
  ],
  [
    'every_start',
    "create materialized view every_start refresh every 1d start '2025-01-01' time zone 'Europe/London' as (select ts, avg(kw) kw from readings sample by 1h)",
    ['2025-01-01', '2025-01-02', 'refresh start'],
    [" time zone 'Europe/London'", '', 'refresh time zone'],
    ['1d', '2d', 'refresh'],
  ],
  [
    'period',
    'create materialized view period refresh period (length 1h) as (select ts, avg(kw) kw from readings sample by 1h)',
    ['length 1h', 'length 2h', 'refresh period'],
  ],
  [
    'period_delay',
    "create materialized view period_delay with base readings refresh manual period (length 12h time zone 'Europe/Berlin' delay 1h) as (select ts, avg(kw) kw from readings sample by 1h)",
    ['delay 1h', 'delay 2h', 'refresh period'],
    ['Berlin', 'Paris', 'refresh time zone'],
  ],
  [
    'period_every',
    'create materialized view period_every refresh every 1h period (length 1d delay 30m) as (select ts, avg(kw) kw from readings sample by 1d)',
    [' delay 30m', '', 'refresh period'],
  ],
  [
    'period_sample',
    "create materialized view period_sample refresh immediate period (sample by interval) as (select ts, avg(kw) kw from readings sample by 1h align to calendar time zone 'Europe/London')",
    ['(sample by interval)', "(length 3h time zone 'Europe/London')", 'refresh period'],
  ],
  [
    'floor',
    "create materialized view floor as (select timestamp_floor('10m', ts) as ts, count() as n from readings) timestamp(ts)",
    ["timestamp_floor('10m', ts)", "timestamp_floor('11m', ts)", 'query'],
  ],
  [
    'indexed_view',
    'create materialized view indexed_view as (select ts, site, avg(kw) kw from readings sample by 1h), index(site capacity 64) timestamp(ts) partition by day',
    ['by day', 'by month', 'partitioning'],
  ],
  [
    'quoted',
    'create materialized view "quoted" with base "readings" as (select "ts", avg("kw") as "kw" from "readings" sample by 1h)',
    ['avg("kw")', 'max("kw")', 'query'],
  ],
];

const COPIES: Case[] = [
  [
    'hourly_copy',
    'create table hourly_copy (like hourly)',
    [
      '(like hourly)',
      '(ts timestamp, site symbol nocache, kw double) timestamp(ts) partition by day bypass wal',
      'WAL',
    ],
  ],
];

/** In an order in which they can be executed. */
export const CASES: readonly Case[] = [...TABLES, ...VIEWS, ...MATERIALIZED_VIEWS, ...COPIES];
