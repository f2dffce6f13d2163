-- Applied in the order of the names of the files.
CREATE TABLE trades (
    ts     TIMESTAMP,
    symbol SYMBOL,
    price  DOUBLE,
    amount DOUBLE
) TIMESTAMP(ts) PARTITION BY DAY TTL 30 DAYS
DEDUP UPSERT KEYS(ts, symbol);
