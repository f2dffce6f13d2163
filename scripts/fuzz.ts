/*!
 * Feeds random input to everything that reads external data: each reader accepts it or rejects it with one of its own
 * errors; it does not crash or hang, and its result is the same each time. SECONDS (60) is shared among the subjects; SEED repeats a run.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { repair } from '@sqlpipe/ddl';
import { InstanceError, resolveInstance } from '@sqlpipe/instance';
import { decodeRecords, StreamError } from '@sqlpipe/records';
import { dumpOrder, Schema } from '@sqlpipe/schema';
import { findSecrets, identify, normalizeStatement, redact, SplitError, Splitter, tokens } from '@sqlpipe/sql';
import { CodedError, maskSecrets } from '@sqlpipe/text';
import fc from 'fast-check';
import { MalformedReplyError } from '../packages/instance/src/http/json-scanner.js';
import { RowScanner, ServerError } from '../packages/instance/src/http/row-scanner.js';

const SECONDS = Number(process.env.SECONDS ?? 60);
const SEED = Number(process.env.SEED ?? Date.now());

/** Runs work that may fail, but only with one of the given errors. */
function allowErrors<T>(work: () => T, ...refusals: (new (...args: never[]) => Error)[]): T | undefined {
  try {
    return work();
  } catch (error) {
    if (refusals.some(refusal => error instanceof refusal)) return undefined;
    throw error;
  }
}

/** Text of words that are meaningful to a reader, separated here by bars, and of random characters. */
const textOf = (words: string) => {
  const word = fc.constantFrom(...words.split('|'));
  const part = fc.oneof({ weight: 4, arbitrary: word }, fc.string({ unit: 'binary', maxLength: 4 }));
  return fc.array(part, { maxLength: 40 }).map(parts => parts.join(''));
};

const sqlText = textOf(
  `'|"|\`|--|/*|*/|(|)|;|\n|\0| |CREATE TABLE|'t'|VIEW| AS ( \n|\n);|timestamp(|IN VOLUME|,|x INT|-- a: incomplete: b\n`,
);
const jsonText = textOf('{"dataset":[|["|"]|],"count":|1|}|,|"error":"|"|\\u|\\|d83d|[|]|{|:|null|-1e9|\n|"query":');
const addressText = textOf(
  'http://|https::|addr=|;|:|/|@|user|password=|[::1]|127.0.0.1|9000|%|?|#|..|localhost| |token=',
);

/** Words of netrc files and of instances.toml alike. */
const secretsText = textOf(
  `machine |127.0.0.1 |default |login |password |macdef init\n|"|\\|#|\n|\n\n|[here]\n|url = "http://127.0.0.1:9"\n|user = |timeout = |password_file = "p"\n|protected = true\n|1e999|'''|=|[`,
);

const bytesOf = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 })).map(([whole, changes]) => {
    const bytes = Buffer.from(whole);
    for (const [place, byte] of changes) if (bytes.length) bytes[place % bytes.length] = byte;
    return bytes;
  });

/** Splits bytes into pieces of the given size. */
function* pieces(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** The folder for files of credentials. */
const home = mkdtempSync(join(tmpdir(), 'sqlpipe-fuzz-'));
mkdirSync(join(home, 'sqlpipe'));
process.on('exit', () => rmSync(home, { recursive: true }));

/** Functions that have to read a text in linear time. */
const READERS: ((text: string) => unknown)[] = [
  text => {
    const splitter = new Splitter();
    return [...splitter.write(text), ...splitter.end()];
  },
  normalizeStatement,
  text => maskSecrets(redact(text), findSecrets(text)),
  text => repair(text),
  text => {
    const catalog = new Schema([text]);
    return [dumpOrder(catalog), ...catalog.entries.map(entry => catalog.dependenciesOf(entry))];
  },
];

const size = fc.integer({ min: 1, max: 9 });
const SUBJECTS: Record<string, fc.IAsyncProperty<unknown> | fc.IProperty<unknown>> = {
  'row scanner': fc.property(bytesOf(jsonText), size, (bytes, size) => {
    const read = (chunks: Iterable<Buffer>) =>
      allowErrors(
        () => {
          const scanner = new RowScanner();
          const rows = [...chunks].flatMap(chunk => scanner.write(chunk));
          scanner.end();
          return rows;
        },
        MalformedReplyError,
        ServerError,
      );
    return JSON.stringify(read([bytes])) === JSON.stringify(read(pieces(bytes, size)));
  }),
  lexer: fc.property(sqlText, text => [...tokens(text)].map(token => token.text).join('') === text),
  splitter: fc.property(sqlText, size, (text, size) => {
    const split = (parts: string[]) =>
      allowErrors(() => {
        const splitter = new Splitter(1000);
        return [...parts.flatMap(part => [...splitter.write(part)]), ...splitter.end()];
      }, SplitError);
    return JSON.stringify(split([text])) === JSON.stringify(split(text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []));
  }),
  repair: fc.property(sqlText, text => {
    const { statement } = repair(text);
    identify(statement);
    allowErrors(() => normalizeStatement(statement), SplitError);
    return repair(statement).statement === statement;
  }),
  'record reader': fc.asyncProperty(bytesOf(sqlText), size, async (bytes, size) => {
    try {
      for await (const statement of decodeRecords(Readable.from(pieces(bytes, size)), { maxRecord: 500 }))
        normalizeStatement(statement);
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
    }
  }),
  'address and credentials': fc.asyncProperty(addressText, addressText, async (operand, secret) => {
    try {
      const env = { SQLDUMP_USER: secret, SQLDUMP_PASSWORD: secret, HOME: '/nowhere', HTTP_PROXY: secret };
      await resolveInstance(operand, { program: 'sqldump', env, warn() {} });
    } catch (error) {
      if (!(error instanceof InstanceError && error.code === 'CONFIG')) throw error;
    }
  }),
  'files of credentials': fc.asyncProperty(
    bytesOf(secretsText),
    fc.constantFrom('.netrc', 'instances.toml', 'p'),
    async (bytes, name) => {
      writeFileSync(join(home, 'sqlpipe', name), bytes, { mode: 0o600 });
      const env = { HOME: join(home, 'sqlpipe'), XDG_CONFIG_HOME: home };
      const options = name === 'p' ? { user: 'u', passwordFile: join(home, 'sqlpipe', 'p') } : {};
      for (const operand of ['http://127.0.0.1:9', 'here'])
        await resolveInstance(operand, { program: 'sqldump', env, options, warn() {} }).catch(error => {
          if (!(error instanceof InstanceError && error.code === 'CONFIG')) throw error;
        });
    },
  ),
  growth: fc.property(
    fc.constantFrom(
      '',
      "CREATE VIEW 'v' AS (\n",
      'GRANT SELECT ON ',
      "CREATE TABLE 't' ( \n\t",
      'ALTER USER a PASSWORD ',
    ),
    sqlText.filter(text => text !== ''),
    fc.constantFrom('', '\n);', ' TO b', "'", '*/'),
    (before, unit, behind) =>
      READERS.every(read => {
        const seconds = (bytes: number) => {
          const text = before + unit.repeat(bytes / unit.length) + behind;
          const started = process.cpuUsage();
          allowErrors(() => read(text), SplitError, CodedError);
          const { user, system } = process.cpuUsage(started);
          return (user + system) / 1e6;
        };
        const grows = () => {
          const twice = seconds(200_000);
          return twice > 0.3 && twice > 2.6 * seconds(100_000);
        };
        return !(grows() && grows() && grows()); // other work on the machine makes anything slow
      }),
  ),
  programs: fc.property(
    fc.constantFrom('sqlsplit', 'sqljoin', 'sqlapply -n http://127.0.0.1:1'),
    bytesOf(sqlText),
    (program, input) => {
      const [name = '', ...args] = program.split(' ');
      const { status, stderr } = spawnSync(`node_modules/.bin/${name}`, args, {
        input,
        timeout: 20_000,
        encoding: 'utf8',
      });
      return [0, 1, 65, 69].includes(status ?? -1) && !/^\s+at /m.test(stderr);
    },
  ),
};

console.log(`seed ${SEED}`);
for (const [subject, property] of Object.entries(SUBJECTS)) {
  const limit = (SECONDS * 1000) / Object.keys(SUBJECTS).length;
  const result = await fc.check(property as fc.IAsyncProperty<unknown>, {
    seed: SEED,
    numRuns: Number.MAX_SAFE_INTEGER,
    interruptAfterTimeLimit: limit,
  });
  const failed = result.failed && !result.interrupted;
  console.log(`${subject}: ${result.numRuns} runs${failed ? `, FAILED: ${fc.defaultReportMessage(result)}` : ''}`);
  if (failed) process.exitCode = 1;
}
