/*!
 * The last NUL is a commit mark: a writer killed at any moment leaves a stream that no reader accepts as complete.
 * Tested from outside, by killing the programs, and from inside, by tracing their system calls.
 * KILLS sets how often each program is killed; without it, once for each reader.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { reply, rowsBody } from '../faults/faulty-server.js';
import { startSource } from '../faults/sources.js';
import { random, SEED } from '../support/seed.js';
import { shell } from '../support/shell.js';
import { startSlow } from '../support/slow.js';
import { fileScope, macro, test, testWith } from '../support/test.js';

const scope = fileScope();
let source: string;

test.before(async () => {
  source = await startStallingSource();
});

/** The URL of a source that sends short rows at irregular intervals and never ends. */
const startStallingSource = () =>
  startSlow(scope, async (_query, response) => {
    response.write('{"dataset":[["A;"]');
    while (!response.closed) {
      response.write(',["B;"]'.repeat(random.below(3000)));
      await pause(random.below(8));
    }
  });

/** A shell command that prints endless text at irregular intervals. */
const feed = (text: string) => `while printf '${text}%.0s' {1..999}; do sleep 0.00$((RANDOM % 9)); done 2> /dev/null`;

const READERS = ['cat', 'while head -c 700 > part && [ -s part ]; do cat part; sleep 0.003; done'];

const killWriter = macro<[pipeline: (source: string) => [before: string, command: string], readers?: string[]]>({
  title: (program = '') => `${program} killed at any moment leaves an incomplete stream`,
  async exec(t, pipeline, readers = READERS) {
    t.log(`SEED=${SEED}`);
    const [before, command] = pipeline(source);
    for (let kill = 0; kill < Number(process.env.KILLS ?? readers.length); kill++) {
      const run = await shell(t);
      const { stdout } = await run(`
        { ${before} ( echo $BASHPID > pid; exec ${command} ) 2> /dev/null | { ${readers[kill % readers.length]}; } > seen
          echo "\${PIPESTATUS[@]: -2:1}" > status; } &
        until [ -s seen ]; do sleep 0.01; done
        sleep 0.${100 + random.below(300)}
        kill -KILL $(cat pid); wait; cat status; tail -c 1 seen | od -An -tx1`);
      // The program was killed and did not exit by itself; its output is not empty, and the last byte is not a NUL.
      t.regex(stdout, /^137\n (?!00)[0-9a-f]{2}\n$/);
    }
  },
});

test('sqldump', killWriter, source => ['', `sqldump ${source}`]);
test('sqlsplit', killWriter, () => [`${feed('A;')} |`, 'sqlsplit']);
test('sqlgrep', killWriter, () => [`${feed('A;\\0')} |`, 'sqlgrep --kind other']);

// These programs write after reading all input: the input has to end, and a slow reader keeps them from exiting too soon.
const SLOW = ['while head -c 16000 > part && [ -s part ]; do cat part; sleep 0.1; done'];
test('sqlsort', killWriter, () => ["yes 'A;' | head -n 60000 | tr '\\n' '\\0' |", 'sqlsort'], SLOW);
const TABLES = `for i in {1..8000}; do printf "CREATE TABLE 't%s' (x INT);\\n\\0" $i; done > all; printf '\\0' > none;`;
test('sqldiff --missing', killWriter, () => [TABLES, 'sqldiff --missing all none'], SLOW);

/** The bytes of each write(2) to standard output in a log of strace. */
function writesIn(log: string): Buffer[] {
  const calls = log.split('\n').filter(line => /\bwritev?\(1, /.test(line));
  return calls.map(line => {
    const [, hex] = /\bwrite\(1, "((?:\\x[0-9a-f]{2})*)", \d+\)\s+= \d+/.exec(line) ?? [];
    if (hex === undefined) throw new Error(`not a complete write(2): ${line.slice(0, 200)}`);
    return Buffer.from(hex.replaceAll('\\x', ''), 'hex');
  });
}

const traceWrites = macro<[command: string]>({
  title: (_, command) => `${command}: each write fits into a pipe, and only the last ends with a NUL`,
  async exec(t, command) {
    const SRC = await startSource(t, socket => socket.write(reply(rowsBody(...new Array(9999).fill('AB;')))));
    const run = await shell(t, { SRC });
    // Records of five bytes: without care, blocks of 4,096 bytes would often end with a NUL.
    const outcome = await run(String.raw`
    printf 'AB;%.0s' {1..9999} > text; printf 'AB;\n\0%.0s' {1..9999} > in
    strace -ff -o log -s 9000 -xx -e trace=write,writev ${command} < in | tee stream > /dev/null; cat log.*`);
    t.is(outcome.stderr, '');
    const writes = writesIn(outcome.stdout);
    t.true(writes.length > 10);
    const wrong = writes.filter(bytes => bytes.length > 4096);
    t.deepEqual(wrong, []);
    t.deepEqual(writes.filter(bytes => bytes.at(-1) === 0).length, 1);
    t.is(writes.at(-1)?.at(-1), 0);
    t.is(Buffer.concat(writes).toString(), (await run('cat stream')).stdout);
    await run.ok('cmp in stream');
  },
});

for (const command of ['sqldump $SRC', 'sqlsplit text', 'sqlgrep --kind other', 'sqlsort'])
  testWith('strace')(traceWrites, command);
