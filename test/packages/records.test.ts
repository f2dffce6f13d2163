/*!
 * The statement stream: records, also in many reads, limits and errors of each record, and the commit mark, which distinguishes
 * complete from truncated streams.
 */
import { Readable, Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { createCommitWriter, decodeRecords, encodeRecords, type ReadOptions, spool } from '@sqlpipe/records';
import { anyCharacter, fc, forAllAsync, splitAt } from '../support/seed.js';
import { shell } from '../support/shell.js';
import { macro, test } from '../support/test.js';

/** Normalized statements, some with characters that are difficult for JSON, shells and lexers. */
const statement = fc
  .tuple(fc.stringMatching(/^[a-z]{1,9}$/), fc.string({ unit: anyCharacter, maxLength: 40 }))
  .map(([word, text]) => `${word} '${text.replace(/[\0\ud800-\udfff']/g, '')}';`);

const list = fc.array(statement, { maxLength: 8 });

function createSink() {
  const pieces: Buffer[] = [];
  const out = new Writable({
    write(chunk, _encoding, done) {
      pieces.push(chunk);
      process.nextTick(done);
    },
  });
  return { out, pieces };
}

async function encode(input: Iterable<string> | AsyncIterable<string>): Promise<Buffer[]> {
  const { out, pieces } = createSink();
  await pipeline(input, encodeRecords(), createCommitWriter(out, 'test'));
  return pieces;
}

async function decode(chunks: Iterable<Buffer>, options?: ReadOptions): Promise<string[]> {
  const all: string[] = [];
  const input = Readable.from([...chunks].filter(({ length }) => length > 0));
  for await (const statement of decodeRecords(input, options)) all.push(statement);
  return all;
}

const decodeText = (text: string, options?: ReadOptions) => decode(text ? [Buffer.from(text, 'latin1')] : [], options);

test('statements survive encoding and decoding in chunks of any size', t =>
  forAllAsync(100, list, fc.array(fc.nat(), { maxLength: 12 }), async (sent, places) => {
    t.deepEqual(await decode(splitAt(Buffer.concat(await encode(sent)), places)), sent);
  }));

test('a truncated stream is never accepted as complete', t =>
  forAllAsync(100, list, fc.nat(), async (sent, place) => {
    const bytes = Buffer.concat(await encode(sent));
    const part = bytes.subarray(0, place % bytes.length);
    // A part that ends with a NUL is complete; a failed writer never leaves one, as tested below.
    if (part.at(-1) === 0) return;
    await t.throwsAsync(decode(part.length ? [part] : []), { code: 'DAMAGED' });
  }));

test('each chunk fits into a pipe, and only the last ends with a NUL', async t => {
  const sizes = fc.array(
    fc.oneof(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 4080, max: 4100 }),
      fc.integer({ min: 1, max: 20_000 }),
    ),
  );
  await forAllAsync(100, sizes, async sizes => {
    const pieces = await encode(sizes.map(size => `${'x'.repeat(size)};`));
    t.true(pieces.every(piece => piece.length <= 4096));
    t.deepEqual(
      pieces.map(piece => piece.at(-1) === 0),
      pieces.map((_, i) => i === pieces.length - 1),
    );
  });
});

test('no statements are encoded as a lone NUL, which decodes to no statements', async t => {
  t.deepEqual(Buffer.concat(await encode([])), Buffer.from('\0'));
  t.deepEqual(await decodeText('\0'), []);
});

test('a failed writer withholds the NUL and writes the reason', async t => {
  const { out, pieces } = createSink();
  const end = createCommitWriter(out, 'sqlwell');
  async function* failing() {
    yield 'a;';
    await setImmediate();
    throw new Error('the well\nran dry');
  }
  await t.throwsAsync(pipeline(failing(), encodeRecords(), end), { message: /ran dry/ });
  await finished(end).catch(() => {});
  const left = Buffer.concat(pieces).toString();
  t.is(left, 'a;\n-- sqlwell: incomplete: the well ran dry\n');
  const message = 'incomplete after 0 complete records: sqlwell failed: the well ran dry';
  await t.throwsAsync(decodeText(left), { code: 'DAMAGED', message });
  await t.throwsAsync(decodeText(`${left}\0`), {
    code: 'DAMAGED',
    message: /sqlwell left its output incomplete: the well ran dry/,
  });
});

for (const [input = '', ...expected] of [
  ['a;\n\0b;\n\0', 'a;', 'b;'],
  ['a\0b\0', 'a;', 'b;'],
  ['\0\0a\0\0', 'a;'],
  ['a;\n\0\n', 'a;'],
  ['a;\n\0 \t\r\n\n', 'a;'],
  ['\0\n'],
  ['-- nothing\n\0a\0', 'a;'],
  ['a\n  b\r\n\tc ;;\n\0', 'a\n  b\r\n\tc;'],
])
  test(`decodes ${JSON.stringify(input)}`, async t => t.deepEqual(await decodeText(input), expected));

const rejectsInput = macro<[string, RegExp, ReadOptions?]>({
  title: (_, input: string) => `rejects ${JSON.stringify(input.slice(0, 40))}`,
  async exec(t, input: string, message: RegExp, options?: ReadOptions) {
    await t.throwsAsync(decodeText(input, options), { code: 'DAMAGED', message });
  },
});
test(rejectsInput, '', /empty input: /);
test(rejectsInput, 'a;\n', /no NUL byte in the input: .* truncated in its first record/);
test(rejectsInput, '\n', /no NUL byte in the input/);
test(
  rejectsInput,
  'a\0\n-- sqldump: incomplete: it failed\n',
  /incomplete after 1 complete record: sqldump failed: it failed/,
);
test(rejectsInput, 'a\0\n-- b\n', /truncated after 1 complete record/);
test(rejectsInput, 'a\0b', /truncated after 1 complete record/);
test(rejectsInput, 'a\0b\0c;\n', /truncated after 2 complete records/);
test(rejectsInput, 'a\0b;c\0', /record 2: a second statement/);
test(rejectsInput, "a\0b 'c\0", /record 2: unterminated string/);
test(rejectsInput, 'a\0b\xff\0', /record 2 contains bytes that are not UTF-8/);
test(rejectsInput, '\xef\xbb\xbfa;\n\0', /record 1 starts with a byte order mark, which a stream does not have/);
test(rejectsInput, 'a;\n\0\xef\xbb\xbfb;\n\0', /record 2 starts with a byte order mark/);
test(rejectsInput, 'a\0\xed\xa0\x80\0', /record 2 contains bytes that are not UTF-8/);
test(rejectsInput, `a\0${'b'.repeat(20)}\0`, /record 2 is longer than 20 bytes/, { maxRecord: 20 });
test(
  rejectsInput,
  'b'.repeat(21),
  /no NUL byte in the first 20 bytes: it is either \.sql text .* or a longer record \(--max-record raises the limit\)/,
  { maxRecord: 20 },
);
test(rejectsInput, `a\0${'b'.repeat(21)}`, /record 2 is longer than 20 bytes/, { maxRecord: 20 });

test('allowEmpty accepts empty input', async t => t.deepEqual(await decodeText('', { allowEmpty: true }), []));

const rejectsStatement = macro<[string, RegExp, number?]>({
  title: (_, text: string) =>
    `a statement that no record can contain is not written: ${JSON.stringify(text.slice(0, 40))}`,
  async exec(t, text, message, maxRecord) {
    const { out, pieces } = createSink();
    const end = createCommitWriter(out, 'test');
    await t.throwsAsync(pipeline([text], encodeRecords(maxRecord), end), { message });
    await finished(end).catch(() => {});
    t.regex(Buffer.concat(pieces).toString(), new RegExp(`^-- test: incomplete: ${message.source}[^\\0]*\\n$`));
  },
});
test(rejectsStatement, 'a\0b;', /statement 1 contains a NUL/);
test(rejectsStatement, 'a \ud800;', /statement 1 contains half of a surrogate pair/);
test(rejectsStatement, 'x'.repeat(100), /statement 1 makes a record longer than 50 bytes/, 50);

test('a spool returns its statements, from memory and from disk', async t => {
  for (const many of [3, 25_000]) {
    const sent = Array.from({ length: many }, (_, i) => `statement ${i} ${'ä'.repeat(200)};`);
    const spooled = await spool(Readable.from(sent));
    t.is(spooled.count, many);
    let i = 0;
    for await (const statement of spooled) if (statement !== sent[i++]) t.fail(`statement ${i} differs`);
    t.is(i, many);
  }
});

test('a spool rejects damaged input', t =>
  t.throwsAsync(spool(decodeRecords(Readable.from([Buffer.from('a\0b')]))), { code: 'DAMAGED' }));

const words = fc.array(fc.stringMatching(/^[a-zäöü€𝕊]{1,30}$/u), { minLength: 1, maxLength: 30 });
const places = fc.array(fc.nat(), { maxLength: 40 });
const record = (word: string) => `SELECT ${word};\n\0`;
const length = (word: string) => Buffer.byteLength(record(word));

test('maxRecord limits each record, not the bytes received so far', t =>
  forAllAsync(100, words, places, async (words, places) => {
    const chunks = splitAt(Buffer.from(words.map(record).join('')), places);
    const longest = Math.max(...words.map(length));
    t.deepEqual(
      await decode(chunks, { maxRecord: longest }),
      words.map(word => `SELECT ${word};`),
    );
    const nth = 1 + words.findIndex(word => length(word) === longest);
    const message =
      nth === 1
        ? /(record 1 is longer than|no NUL byte in the first) \d+ bytes/
        : `record ${nth} is longer than ${longest - 1} bytes`;
    const error = await t.throwsAsync(decode(chunks, { maxRecord: longest - 1 }), { code: 'DAMAGED' });
    if (typeof message === 'string') t.true(error?.message.startsWith(message), error?.message);
    else t.regex(error?.message ?? '', message);
  }));

test('errors about truncation and invalid UTF-8 count the records before them', t =>
  forAllAsync(100, words, places, async (words, places) => {
    const bytes = Buffer.from(words.map(record).join(''));
    const one = words.length === 1;
    const cut = Buffer.concat([bytes, Buffer.from('SELECT')]);
    await t.throwsAsync(decode(splitAt(cut, places)), {
      message: new RegExp(` ${words.length} complete record${one ? '' : 's'}:`),
    });
    const latin = Buffer.concat([bytes, Buffer.from('SELECT \xe9;\n\0', 'latin1')]);
    const message = new RegExp(`^record ${words.length + 1} .*UTF-8`);
    await t.throwsAsync(decode(splitAt(latin, places)), { message });
  }));

/** Six records of half a megabyte: each is much larger than a pipe, so it needs many reads. */
const LARGE = `for i in {1..6}; do printf "CREATE TABLE 't$i' ("; head -c 500000 /dev/zero | tr '\\0' x; printf ' INT);\\n\\0'; done`;

test('records larger than a pipe pass one by one, even if their total exceeds the limit', async t => {
  const run = await shell(t);
  await run(`${LARGE} > all`);
  for (const command of ['sqlgrep --kind table', 'sqlsort | sort -zV']) {
    const limited = command.replace(/^\w+/, '$& --max-record 600000');
    const same = `set -o pipefail; sort -zV all > sorted; cat all | ${limited} | cmp - sorted && echo same`;
    t.is(await run.silent(same), 'same\n');
  }
  const { code, stdout, stderr } =
    await run(`{ cat all; head -c 700000 /dev/zero | tr '\\0' x; printf '\\0'; cat all; } |
    sqlgrep --kind table --max-record 600000 > passed; echo $?; tr -dc '\\0' < passed | wc -c`);
  t.deepEqual([code, stdout], [0, '65\n5\n'], stderr);
  t.regex(stderr, /record 7 is longer than 600000 bytes/);
});
