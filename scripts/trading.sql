-- The schema of a small trading desk, as people write it: by hand, over the years, each in a style of their own.
-- It is what `make demo` copies. Each odd thing in it is something that a schema copied by simpler means has stumbled over:
-- a semicolon in a name, a quote in a comment, a view that needs a view further down the alphabet.

/* ==== Reference data: no time, no partitions ====================== */

CREATE TABLE instruments (
    id        UUID,
    ticker    SYMBOL CAPACITY 4096,
    isin      VARCHAR,
    name      VARCHAR,
    kind      SYMBOL NOCACHE,          -- 'equity', 'future', 'fx'; don't ask about bonds
    tick_size DECIMAL(18, 8),
    lot_size  INT,
    listed    DATE,
    active    BOOLEAN
);

create table venues (
    mic       symbol,
    city      string,
    place     geohash(6c),
    cell      geohash(20b),
    gateway   ipv4,
    opens     short,                   -- minutes after midnight
    closes    short,
    currency  char
);

CREATE TABLE 'Größenklassen' (         -- what counts as a large order, by Größe
    klasse SYMBOL,
    'von'  DECIMAL(20, 2),
    'bis'  DECIMAL(20, 2)
);

CREATE TABLE Counterparties (
    lei        VARCHAR,
    name       VARCHAR,
    country    SYMBOL CAPACITY 256 CACHE,
    public_key LONG256,
    logo       BINARY
);

/* ==== Market data ================================================= */

CREATE TABLE trades (
    timestamp TIMESTAMP,
    ticker    SYMBOL CAPACITY 4096 INDEX CAPACITY 1000,
    venue     SYMBOL NOCACHE,
    side      SYMBOL,
    price     DOUBLE,
    amount    DOUBLE,
    trade_id  LONG
) TIMESTAMP(timestamp) PARTITION BY DAY TTL 90 DAYS WAL
  DEDUP UPSERT KEYS(timestamp, ticker, trade_id);

CREATE TABLE quotes (
    timestamp TIMESTAMP,
    ticker    SYMBOL,
    venue     SYMBOL,
    bid       DOUBLE,
    bid_size  FLOAT,
    ask       DOUBLE,
    ask_size  FLOAT
), INDEX(ticker CAPACITY 512)
TIMESTAMP(timestamp) PARTITION BY HOUR TTL 48 HOURS;

-- The whole book, two levels of depth in one row: [[price, …], [size, …]]
CREATE TABLE "order book" (
    ts     TIMESTAMP,
    ticker SYMBOL INDEX,
    bids   DOUBLE[][],
    asks   DOUBLE[][]
) TIMESTAMP(ts) PARTITION BY HOUR TTL 12h;

-- Straight from the wire; nanoseconds matter here.
CREATE TABLE ticks_ns (
    ts      TIMESTAMP_NS,
    gateway IPv4,
    seq     LONG,
    message VARCHAR
) TIMESTAMP(ts) PARTITION BY HOUR
DEDUP UPSERT KEYS(ts, seq);

CREATE TABLE FX_RATES (
    ts   TIMESTAMP,
    pair SYMBOL,
    rate DECIMAL(12, 6)
) TIMESTAMP(ts) PARTITION BY MONTH TTL 24 MONTHS;

CREATE TABLE 取引 (                     -- trades from Tokyo, kept in their own words
    時刻   TIMESTAMP,
    銘柄   SYMBOL INDEX,
    価格   DOUBLE,
    数量   LONG
) TIMESTAMP(時刻) PARTITION BY DAY;

/* ==== Our own business ============================================ */

CREATE TABLE orders (
    ts          TIMESTAMP,
    order_id    UUID,
    ticker      SYMBOL CAPACITY 4096,
    trader      SYMBOL,
    side        SYMBOL,
    quantity    LONG,
    limit_price DECIMAL(18, 8),
    state       SYMBOL,
    remark      VARCHAR
) TIMESTAMP(ts) PARTITION BY WEEK WAL
DEDUP UPSERT KEYS(ts, order_id);

CREATE TABLE fills (
    ts       TIMESTAMP,
    order_id UUID,
    ticker   SYMBOL,
    venue    SYMBOL,
    quantity LONG,
    price    DECIMAL(18, 8),
    fee      DECIMAL(18, 8)
) TIMESTAMP(ts) PARTITION BY WEEK;

CREATE TABLE positions (
    ts       TIMESTAMP,
    book     SYMBOL INDEX CAPACITY 64,
    ticker   SYMBOL,
    quantity LONG
) TIMESTAMP(ts) PARTITION BY MONTH BYPASS WAL;   -- one writer, and it must be readable at once

CREATE TABLE logins (
    ts      TIMESTAMP,
    trader  SYMBOL,
    address IPv4,
    ok      BOOLEAN
) TIMESTAMP(ts);                                 -- no partitions: it stays small

-- Kept for the auditors, who asked for these very names.
CREATE TABLE '2019 archive' (
    ts     TIMESTAMP,
    kind   BYTE,
    record VARCHAR
) TIMESTAMP(ts) PARTITION BY YEAR;

CREATE TABLE 'latency;raw' (
    ts     TIMESTAMP,
    hop    SYMBOL,
    micros INT
) TIMESTAMP(ts) PARTITION BY DAY TTL 2 WEEKS;

/* ==== Candles: each made of the one below ========================= */

CREATE MATERIALIZED VIEW candles_1m AS (
    SELECT timestamp, ticker,
           first(price) AS open, max(price) AS high, min(price) AS low, last(price) AS close,
           sum(amount) AS volume
    FROM trades
    SAMPLE BY 1m
) PARTITION BY DAY TTL 30 DAYS;

CREATE MATERIALIZED VIEW candles_1h WITH BASE candles_1m REFRESH IMMEDIATE AS (
    SELECT timestamp, ticker,
           first(open) AS open, max(high) AS high, min(low) AS low, last(close) AS close,
           sum(volume) AS volume
    FROM candles_1m
    SAMPLE BY 1h
) PARTITION BY MONTH;

CREATE MATERIALIZED VIEW candles_1d REFRESH EVERY 1h START '2025-01-01T00:00:00.000000Z' TIME ZONE 'Europe/London' AS (
    select timestamp, ticker, first(open) open, max(high) high, min(low) low, last(close) close, sum(volume) volume
    from candles_1h
    sample by 1d
) PARTITION BY YEAR TTL 10 YEARS;

CREATE MATERIALIZED VIEW "daily turnover" REFRESH MANUAL DEFERRED AS (
    SELECT ts, ticker, sum(quantity) AS shares, count() AS fills
    FROM fills
    SAMPLE BY 1d
) PARTITION BY MONTH;

-- A trading day ends at five in the afternoon; late prints arrive for two hours more.
CREATE MATERIALIZED VIEW quotes_per_day REFRESH IMMEDIATE PERIOD (LENGTH 1d TIME ZONE 'America/New_York' DELAY 2h) AS (
    SELECT timestamp, ticker, avg(ask - bid) AS spread, count() AS quotes
    FROM quotes
    SAMPLE BY 1d
) PARTITION BY MONTH;

/* ==== Views ======================================================= */

CREATE VIEW last_trade AS (
    SELECT * FROM trades LATEST ON timestamp PARTITION BY ticker
);

CREATE VIEW last_quote AS (
    SELECT timestamp, ticker, bid, ask, (bid + ask) / 2 AS mid, ask - bid AS spread
    FROM quotes
    LATEST ON timestamp PARTITION BY ticker
);

-- Comes first in the alphabet and last in line: it needs two views, which need two tables.
CREATE VIEW "At a Glance" AS (
    SELECT t.ticker, t.price, q.mid, q.spread
    FROM last_trade t
    JOIN last_quote q ON ticker
);

CREATE VIEW big_trades AS (
    DECLARE OVERRIDABLE @smallest := 10000.0, @hours := 24
    SELECT timestamp, ticker, price, amount
    FROM trades
    WHERE amount >= @smallest AND timestamp > dateadd('h', -@hours, now())
);

CREATE VIEW open_orders AS (
    WITH done AS (
        SELECT order_id, sum(quantity) AS filled FROM fills GROUP BY order_id
    )
    SELECT o.ts, o.order_id, o.ticker, o.trader, o.quantity, d.filled
    FROM orders o
    LEFT JOIN done d ON order_id
    WHERE o.state NOT IN ('cancelled', 'rejected; see remark')   -- a state has a semicolon in it; well
);

CREATE VIEW complaints AS (
    -- Whatever the customer's customer wrote: quotes, semicolons, all of it.
    SELECT ts, trader, remark,
           CASE
               WHEN remark LIKE '%don''t; can''t%' THEN 'refused; won''t do'
               WHEN remark ~ '.*(--|/\*).*'        THEN 'looks like SQL, isn''t; a comment -- or so'
               ELSE ''
           END AS "what; they said"
    FROM orders
    /* Those without a remark say nothing; /* not even between the lines; */ they stay out. */
    WHERE remark IS NOT NULL
);

CREATE VIEW 'latency;by hop' AS (
    SELECT hop, avg(micros) AS mean, max(micros) AS worst FROM 'latency;raw' WHERE micros > 0 GROUP BY hop
);

create view Tokyo_and_London as (
    select 時刻 as ts, 銘柄 as ticker, 価格 as price, 数量 as amount, 'XTKS' as venue from 取引
    union all
    select timestamp, ticker, price, cast(amount as long), venue from trades where venue = 'XLON'
);

CREATE VIEW größte_Trades AS (
    SELECT t.ts, t.ticker, t.price * t.amount AS Umsatz, 'groß' AS "Größe"
    FROM Tokyo_and_London t
    WHERE t.price * t.amount > 1e6
);

-- One page for everyone: it stands on three views, one of them on another.
CREATE VIEW morning_report AS (
    SELECT g.ticker, g.price, g.mid, c.close AS yesterday, g.price - c.close AS change
    FROM "At a Glance" g
    LEFT JOIN (SELECT ticker, last(close) AS close FROM candles_1d) c ON ticker
    WHERE g.ticker IN (SELECT ticker FROM big_trades)
);
