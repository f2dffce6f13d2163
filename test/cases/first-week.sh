# The first week of a user: ten jobs with the installed programs, in an empty HOME, each checked by what it leaves.
# PROD: a real server with rows; OLD: a real server of 9.0; DST: an empty real server, IMPORT: its folder for imports.
set -e -o pipefail

fail() { echo "$1" >&2; exit 1; }
ask() { curl --fail --silent --get "$1/exec" --data-urlencode "query=$2"; }
expect_status() { # STATUS COMMAND...: the command fails with this status
  local expected=$1 status=0
  shift
  "$@" > out 2> err || status=$?
  [ "$status" = "$expected" ] || { cat out err >&2; fail "$* ended with $status"; }
}
ready() { # URL TABLE: waits until the server has applied what it accepted
  until ask "$1" "SELECT writerTxn = sequencerTxn FROM wal_tables() WHERE name = '$2'" | grep -q '\[\[true\]\]'; do :; done
}

move_prod() { # URL: where the instance is from now on
  sed -i "/^\[prod\]/{n;s|.*|url = \"$1\"|}" .config/sqlpipe/instances.toml
}

trap 'kill $COPROC_PID $OTHER_PID 2> /dev/null' EXIT
mkdir -p .config/sqlpipe
printf '[%s]\nurl = "%s"\n' prod "$PROD" old "$OLD" dst "$DST" > .config/sqlpipe/instances.toml
git config --global user.name Ann
git config --global user.email ann@example.com

echo '1: look at an instance, and save its schema'
sqlpipe check prod > /dev/null
sqldump prod | tr '\0' '\n' > schema.sql
grep -q "CREATE TABLE 'fx_trades'" schema.sql

echo '2: a nightly backup into git, which mails nothing'
git init --quiet backup
cat > backup/run <<'END'
#!/bin/bash
set -e
cd "$(dirname "$0")"
sqldump -o schema.stream prod
sqljoin -d schema < schema.stream
git add schema
git diff --cached --quiet || git commit --quiet --message "Schema of $(date --utc +%F)"
END
chmod +x backup/run
for _ in 1 2; do backup/run > mail 2>&1; [ ! -s mail ] || fail "mailed: $(cat mail)"; done
[ "$(git -C backup rev-list --count HEAD)" = 1 ]

echo '3: a subset under another prefix, with the rows of a day'
sqldump --with-deps prod fx_spreads fx_trades | sqltr --rename 'fx_*=acme_*' | sqlapply dst
curl --fail --silent --get "$PROD/exp" --data fmt=parquet --output "$IMPORT/trades.parquet" \
  --data-urlencode "query=SELECT * FROM fx_trades WHERE ts IN '2026-01-02'"
ask "$DST" "INSERT INTO acme_trades SELECT * FROM read_parquet('trades.parquet')" > /dev/null
ready "$DST" acme_trades
ask "$DST" 'SELECT count() FROM acme_trades' | grep -q '\[\[24\]\]'

echo '4: a change by pull request: a column in the middle, whose order is accepted'
git clone --quiet backup review
sed -i 's/price DOUBLE/venue SYMBOL,\n\t&/' review/schema/tables/fx_trades.sql
expect_status 1 sqldiff --names review/schema prod
grep -qx "differs: table 'fx_trades'" out
expect_status 1 sqldiff --alter -o plan.sql review/schema prod
grep -q "'fx_trades': left out: column order: " err
grep -q -- "--ignore 'column order' " err
grep -q 'ADD COLUMN venue SYMBOL' plan.sql
sqlapply --allow-plan prod plan.sql
echo 'column order' > review/ignore.txt
for command in 'sqldiff review/schema prod' 'sqlapply prod review/schema' 'sqlapply --alter prod review/schema'; do
  expect_status 1 $command
  grep -q 'no ALTER changes the order of columns$' err
  grep -q -- '--rebuild fx_trades ' err
  $command --ignore-file review/ignore.txt > mail 2>&1
  [ ! -s mail ] || fail "mailed: $(cat mail)"
done
git -C review add ignore.txt
git -C review commit --quiet --all --message 'Add the venue'
git -C backup pull --quiet ../review

echo '5: three nights of drift in cron; in the second, the source is down'
drift='sqlpipe diff --ignore-file backup/ignore.txt backup/schema prod'
$drift > mail 2>&1
[ ! -s mail ] || fail "mailed: $(cat mail)"
ask "$PROD" 'ALTER TABLE fx_trades SET TTL 90 DAYS' > /dev/null
ready "$PROD" fx_trades
expect_status 1 $drift
grep -q 'TTL: none in backup/schema, 90 DAYS in prod' out
cp out first-night
move_prod http://127.0.0.1:1
for job in "$drift" backup/run; do
  expect_status 69 $job
  grep -q 'http://127.0.0.1:1: connection refused' err
  [ ! -s out ] || fail "$job printed: $(cat out)"
done
git -C backup diff --quiet HEAD
move_prod "$PROD"
expect_status 1 $drift
cmp first-night out
$drift --ignore 'fx_trades: TTL'

echo '6: an upgrade from 9.0'
sqldump old | sqltr --rename '*=old_*' > upgraded.stream
sqlapply dst < upgraded.stream
sqldiff --ignore-extra upgraded.stream dst

echo '7: a check in CI, without a database'
coproc sqlserve --port 0 2> /dev/null
read -r fixture <&"${COPROC[0]}"
sqlapply "$fixture" backup/schema
curl --fail --silent --get "$fixture/exec" --data-urlencode 'query=SELECT 1' | grep -q '\[\[1\]\]'
sed 's/ts TIMESTAMP/ts TIMESTAM/' schema.sql > wrong.sql
expect_status 1 sqlapply --dry-run --if-exists fail --annotations "$fixture" wrong.sql
grep -q '^::error file=wrong.sql,line=[0-9]*::' out

echo '8: failures'
expect_status 69 sqldump http://127.0.0.1:1
head -c 200 schema.sql > cut.sql
expect_status 65 sqlapply "$fixture" cut.sql
head -c 200 <(sqldump prod) > cut.stream || true
expect_status 65 sqlapply "$fixture" cut.stream
echo 'CREATE TABLE stray (x INT);' > backup/schema/stray.sql
expect_status 65 sqldiff backup/schema prod
rm backup/schema/stray.sql
expect_status 64 sqldump

echo '9: 300 tables'
for i in $(seq 300); do echo "CREATE TABLE t$i (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY;"; done > many.sql
sqlapply --jobs 4 "$fixture" many.sql
sqldump "$fixture" | sqlgrep 't*' | sqldiff - many.sql

echo '10: one schema for several instances, a canary first'
coproc OTHER { exec sqlserve --port 0 2> /dev/null; }
read -r other <&"${OTHER[0]}"
sqldump -o schema.stream prod
sqlapply "$other" < schema.stream && sqlapply --if-exists skip "$fixture" < schema.stream
sqldiff prod "$other"
