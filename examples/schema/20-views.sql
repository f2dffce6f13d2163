CREATE MATERIALIZED VIEW trades_1h AS (
    SELECT ts, symbol, sum(price * amount) / sum(amount) AS vwap
    FROM trades
    SAMPLE BY 1h
) PARTITION BY MONTH;

CREATE VIEW latest AS (SELECT * FROM trades LATEST ON ts PARTITION BY symbol);
