/*! Faults on this machine: the streams of a program, the disk, and the files that it reads and writes. */

export interface LocalFault {
  name: string;
  /**
   * A script for bash. `$SRC` is a server with a schema, which is also in the files `stream` and `schema.sql`, `$BIG` one
   * with a large schema, and `$DST` an empty one. Its output lists files that should not have been left.
   */
  script: string;
  /** The expected exit status. */
  status: number;
  /** The expected message. */
  message: RegExp;
  /** Whether the target has the complete schema afterwards, or nothing of it. The default is true if the status is 0. */
  isApplied?: boolean;
}

const NOTHING = /^$/;
const FULL = /write failed: no space left on device\n$/;
const TOO_LARGE = /file too large\n$/;

const fault = (name: string, status: number, message: RegExp, script: string, isApplied?: boolean): LocalFault => ({
  name,
  script,
  status,
  message,
  ...(isApplied === undefined ? {} : { isApplied }),
});

/** A record of many MiB. */
const huge = (mebibytes: number) =>
  `{ printf "CREATE TABLE 'a' ("; head -c ${mebibytes}M /dev/zero | tr '\\0' x; printf ' INT);\\n'; }`;

/** A stream of about 12 MiB, which is spooled to disk until it is complete. */
const LARGE = `for i in {1..12}; do ${huge(1)} | sed "s/'a'/'a$i'/"; printf '\\0'; done`;

export const localFaults: LocalFault[] = [
  fault('source and target are the same', 0, NOTHING, 'sqldump $SRC | sqlapply $SRC', false),
  fault('standard input is closed', 65, /empty input/, 'sqlapply $DST <&-'),
  fault('standard input is empty', 65, /empty input/, 'sqlapply $DST < /dev/null'),
  fault('standard input is a directory', 64, /standard input is a directory/, 'sqlapply $DST < .'),
  fault('.sql text in place of a stream', 0, NOTHING, 'sqlapply $DST < schema.sql'),
  fault(
    'one statement of .sql text in place of a stream',
    65,
    /sqlsplit/,
    'sqlgrep a < stream | sqljoin | sqlapply $DST',
  ),
  fault('.sql text that is truncated in a statement', 65, /unclosed/, 'head -c 100 schema.sql | sqlapply $DST'),
  fault('a stream in place of .sql text', 65, /statement stream already/, 'sqlsplit stream | sqlapply $DST'),
  fault('a stream truncated in a statement', 65, /truncated after 3 complete/, 'head -c 200 stream | sqlapply $DST'),
  fault('a stream without its last NUL', 65, /truncated after 4 complete/, 'head -c -1 stream | sqlapply $DST'),
  fault('a stream that is not UTF-8', 65, /not UTF-8/, `sed "s/x INT/\\xe9 INT/" stream | sqlapply $DST`),
  fault(
    '.sql text that is not UTF-8',
    65,
    /not UTF-8/,
    `sed "s/x INT/\\xe9 INT/" schema.sql | sqlsplit | sqlapply $DST`,
  ),
  fault(
    'an unclosed quote',
    65,
    /unterminated|unclosed/,
    `{ cat schema.sql; echo "SELECT '"; } | sqlsplit | sqlapply $DST`,
  ),
  fault('a missing file', 65, /nope: no such file/, 'sqlsplit schema.sql nope | sqlapply $DST'),
  fault(
    '64 MiB without a NUL',
    65,
    /no NUL byte in the first 16777216 bytes.*--max-record/,
    `${huge(64)} | sqlapply $DST`,
  ),
  fault(
    'a record of 64 MiB',
    65,
    /record 6 is longer.*--max-record/,
    `{ cat stream; ${huge(64)}; printf '\\0'; } | sqlapply $DST`,
  ),
  fault(
    'a record of 64 MiB into sqljoin',
    65,
    /--max-record/,
    `{ cat stream; ${huge(64)}; printf '\\0'; } | sqljoin -o out; ls out 2> /dev/null; sqlapply $DST < /dev/null`,
  ),
  fault(
    'a statement of 64 MiB into sqlsplit',
    65,
    /a statement of more than 16777216/,
    `${huge(64)} | sqlsplit | sqlapply $DST`,
  ),
  fault(
    'a statement over a request limit that the server does not show',
    69,
    /statement 6 \(table 'a6'\): http.*request may be too large; it needs .* \d+ .* 64448; raise/,
    `{ cat stream; ${huge(1)} | sed "s/'a'/'a6'/"; printf '\\0'; } | sqlapply $DST`,
    true,
  ),
  fault(
    'a statement that no dump contains',
    1,
    /statement 6 .*--allow DROP/,
    `{ cat stream; printf 'DROP TABLE a\\0'; } | sqlapply $DST`,
  ),

  fault('standard output on a full disk', 74, FULL, 'sqldump $SRC > /dev/full'),
  fault('sqlsplit on a full disk', 74, FULL, 'sqlsplit schema.sql > /dev/full'),
  fault('sqljoin on a full disk', 74, FULL, 'sqljoin < stream > /dev/full'),
  fault('a dry run on a full disk', 74, FULL, 'sqlapply --dry-run $DST < stream > /dev/full'),
  fault(
    'a dump truncated by a full disk',
    65,
    /truncated after \d+ complete/,
    '(ulimit -f 1; sqldump $BIG > part); sqlapply $DST < part',
  ),
  fault(
    'standard output is closed by its reader',
    141,
    NOTHING,
    'sqldump $BIG | head -c 1 > /dev/null; exit ${PIPESTATUS[0]}',
  ),
  fault('standard error is closed', 0, NOTHING, 'sqlapply -v $DST < stream 2>&-'),
  fault('standard error on a full disk', 0, NOTHING, 'sqlapply -v $DST < stream 2> /dev/full'),
  fault('standard error is closed during an error', 69, NOTHING, 'sqldump http://127.0.0.1:1 2>&- > /dev/null'),

  fault('-o without a name', 64, /is empty/, 'sqldump -o "$UNSET" $SRC'),
  fault('-o is a directory', 74, /: \.: is a directory/, 'sqldump -o . $SRC'),
  fault('-o in a missing directory', 74, /no such file/, 'sqldump -o nope/x $SRC; s=$?; ls | grep tmp; exit $s'),
  fault('-o below a file', 74, /not a directory/, 'sqljoin -o schema.sql/x < stream; s=$?; ls | grep tmp; exit $s'),
  fault(
    '-o on a full disk',
    74,
    /: out: file too large/,
    '(ulimit -f 0; sqldump -o out $SRC); s=$?; ls | grep out; exit $s',
  ),
  fault(
    '-o over a file, on a full disk',
    74,
    TOO_LARGE,
    `
    echo old > out; (ulimit -f 0; sqljoin -o out < stream); s=$?
    ls | grep tmp; [ "$(cat out)" = old ] || echo changed; exit $s`,
  ),
  fault(
    '-o is a device',
    0,
    NOTHING,
    'sqldump -o /dev/null $SRC; s=$?; [ -c /dev/null ] || echo replaced; exit $s',
    false,
  ),
  fault('-o is a pipe', 0, NOTHING, 'sqldump -o >(sqlapply $DST) $SRC; wait $!'),
  fault(
    '-o is a link',
    0,
    NOTHING,
    'ln -s real link; touch real; sqldump -o link $SRC; [ -L link ] && sqlapply $DST < real',
  ),
  fault('a failed dump to -o', 69, /refused/, 'sqldump -o out http://127.0.0.1:1; s=$?; ls | grep out; exit $s'),

  fault('a report without a name', 64, /is empty/, 'sqlapply --report "$UNSET" $DST < stream'),
  fault('a report on a full disk', 74, /: \/dev\/full: no space/, 'sqlapply --report /dev/full $DST < stream', true),
  fault('a report in a missing directory', 74, /no such file/, 'sqlapply --report nope/x $DST < stream'),
  fault('rejects in a missing directory', 74, /no such file/, 'sqlapply --rejects nope/x $DST < stream'),
  fault('rejects that are a directory', 74, /is a directory/, 'sqlapply --rejects . $DST < stream'),
  fault('a missing folder for the spool', 74, /no such file/, `${LARGE} | TMPDIR=/nope sqlapply $DST`),
  fault(
    'a spool that fills the disk',
    74,
    /file too large; nothing was sent\n$/,
    `${LARGE} | (ulimit -f 100; sqlapply $DST)`,
  ),
  fault(
    'a spool that fills the disk, in sqljoin',
    74,
    TOO_LARGE,
    `${LARGE} | (ulimit -f 100; sqljoin | wc -c | grep -v '^0$'; exit \${PIPESTATUS[0]})`,
  ),

  fault(
    'the current folder is removed',
    74,
    /: out: no such file/,
    'mkdir gone; cd gone; rmdir ../gone; sqldump -o out $SRC',
  ),
  fault('an invalid timeout', 64, /--timeout must be a number/, 'sqldump --timeout -1 $SRC'),
  fault('no instance', 64, /missing operand: <instance>/, 'sqlapply < stream'),
  fault('an instance without a name', 64, /is a variable unset/, 'sqlapply "$UNSET" < stream'),
  fault('a missing cacert', 78, /no such file/, 'sqldump --cacert nope $SRC'),
  fault('a missing password file', 78, /no such file/, 'sqldump --user u --password-file nope $SRC'),
  fault(
    'an invalid instances.toml',
    78,
    /instances.toml, line 1/,
    `
    mkdir -p .config/sqlpipe; echo '[[[' > .config/sqlpipe/instances.toml; sqldump prod`,
  ),
];
