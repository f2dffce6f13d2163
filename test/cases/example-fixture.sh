# What the examples require: a schema, files from earlier examples, and a git repository.
cat > schema.sql <<'SQL'
CREATE TABLE 'fx_trades' (ts TIMESTAMP, pair SYMBOL, price DOUBLE) TIMESTAMP(ts) PARTITION BY DAY;
CREATE TABLE 'fx_quotes' (ts TIMESTAMP, pair SYMBOL, bid DOUBLE, ask DOUBLE) TIMESTAMP(ts) PARTITION BY HOUR;
CREATE TABLE venues (mic SYMBOL, city VARCHAR);
CREATE VIEW fx_spreads AS (SELECT ts, pair, ask - bid AS spread FROM fx_quotes);
SQL
cp schema.sql rest.sql
sqlsplit schema.sql > rest.stream
grep TABLE schema.sql > tables.sql
grep VIEW schema.sql > views.sql
sqlsplit schema.sql | sqljoin -d schema
printf '%s\n' acme globex > tenants
echo '{"dataset": [["CREATE TABLE a (x INT)"], ["CREATE TABLE b (y INT)"]]}' > reply.json
git init --quiet
git config user.name Somebody
git config user.email somebody@example.com
