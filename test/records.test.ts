/*! The statement stream: records there and back, and the commit mark that tells a whole stream from a cut one. */
import { Readable, Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import * as api from '@sqlpipe/records';
import { createCommitWriter, decodeRecords, encodeRecords, type ReadOptions, spool } from '@sqlpipe/records';
import fc from 'fast-check';
import { macro, test } from './support/test.js';

/** Statements in their one form, some with what JSON, shells and lexers stumble over. */
const statement = fc
  .tuple(fc.stringMatching(/^[a-z]{1,9}$/), fc.string({ unit: 'binary', maxLength: 40 }))
  .map(([word, text]) => `${word} '${text.replace(/[\0\ud800-\udfff']/g, '')}';`);

const list = fc.array(statement, { maxLength: 8 });

/** Takes what is written to it, in the pieces it comes in. */
function taker() {
  const pieces: Buffer[] = [];
  const out = new Writable({
    write(chunk, _encoding, done) {
      pieces.push(chunk);
      process.nextTick(done);
    },
  });
  return { out, pieces };
}

async function bytesOf(input: Iterable<string> | AsyncIterable<string>): Promise<Buffer[]> {
  const { out, pieces } = taker();
  await pipeline(input, encodeRecords(), createCommitWriter(out, 'test'));
  return pieces;
}

/** Cuts bytes at the given places. */
function cut(bytes: Buffer, places: number[]): Buffer[] {
  const ends = [...new Set(places.map(place => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end)).filter(chunk => chunk.length);
}

async function read(chunks: Iterable<Buffer>, options?: ReadOptions): Promise<string[]> {
  const all: string[] = [];
  for await (const statement of decodeRecords(Readable.from(chunks), options)) all.push(statement);
  return all;
}

const readText = (text: string, options?: ReadOptions) => read(text ? [Buffer.from(text, 'latin1')] : [], options);

test('exports', t => {
  t.deepEqual(Object.keys(api).sort(), [
    'MAX_RECORD',
    'StreamError',
    'createCommitWriter',
    'decodeRecords',
    'deferInput',
    'encodeRecords',
    'spool',
  ]);
});

test('statements survive the stream, however it is cut', async t => {
  await fc.assert(
    fc.asyncProperty(list, fc.array(fc.nat(), { maxLength: 12 }), async (sent, places) => {
      t.deepEqual(await read(cut(Buffer.concat(await bytesOf(sent)), places)), sent);
    }),
  );
});

test('no beginning of a stream passes for a whole one', async t => {
  await fc.assert(
    fc.asyncProperty(list, fc.nat(), async (sent, place) => {
      const bytes = Buffer.concat(await bytesOf(sent));
      const part = bytes.subarray(0, place % bytes.length);
      // What ends on a NUL was whole up to there: only a writer that ended well leaves that, see below.
      if (part.at(-1) === 0) return;
      await t.throwsAsync(read(part.length ? [part] : []), { code: 'DAMAGED' });
    }),
  );
});

test('pieces fit into a pipe at once, and none but the last ends on a NUL', async t => {
  const sizes = fc.array(
    fc.oneof(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 4080, max: 4100 }),
      fc.integer({ min: 1, max: 20_000 }),
    ),
  );
  await fc.assert(
    fc.asyncProperty(sizes, async sizes => {
      const pieces = await bytesOf(sizes.map(size => `${'x'.repeat(size)};`));
      t.true(pieces.every(piece => piece.length <= 4096));
      t.deepEqual(
        pieces.map(piece => piece.at(-1) === 0),
        pieces.map((_, i) => i === pieces.length - 1),
      );
    }),
  );
});

test('no statements are one lone NUL, and that reads as no statements', async t => {
  t.deepEqual(Buffer.concat(await bytesOf([])), Buffer.from('\0'));
  t.deepEqual(await readText('\0'), []);
});

test('a writer that fails withholds the NUL and says why', async t => {
  const { out, pieces } = taker();
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
  const message = 'incomplete after 0 complete records: sqlwell: the well ran dry';
  await t.throwsAsync(readText(left), { code: 'DAMAGED', message });
  await t.throwsAsync(readText(`${left}\0`), {
    code: 'DAMAGED',
    message: /sqlwell left it incomplete: the well ran dry/,
  });
});

const reads = macro<[string, ...string[]]>({
  title: (_, input: string) => `reads ${JSON.stringify(input)}`,
  async exec(t, input: string, ...expected: string[]) {
    t.deepEqual(await readText(input), expected);
  },
});
test(reads, 'a;\n\0b;\n\0', 'a;', 'b;');
test(reads, 'a\0b\0', 'a;', 'b;');
test(reads, '\0\0a\0\0', 'a;');
test(reads, '-- nothing\n\0a\0', 'a;');
test(reads, 'a\n  b\r\n\tc ;;\n\0', 'a\n  b\r\n\tc;');

const refuses = macro<[string, RegExp, ReadOptions?]>({
  title: (_, input: string) => `refuses ${JSON.stringify(input.slice(0, 40))}`,
  async exec(t, input: string, message: RegExp, options?: ReadOptions) {
    await t.throwsAsync(readText(input, options), { code: 'DAMAGED', message });
  },
});
test(refuses, '', /empty input: /);
test(refuses, 'a;\n', /no NUL byte in the input: .* truncated in its first record/);
test(refuses, 'a\0b', /truncated after 1 complete record/);
test(refuses, 'a\0b\0c;\n', /truncated after 2 complete records/);
test(refuses, 'a\0b;c\0', /record 2: a second statement/);
test(refuses, "a\0b 'c\0", /record 2: unterminated string/);
test(refuses, 'a\0b\xff\0', /record 2 contains bytes that are not UTF-8/);
test(refuses, 'a\0\xed\xa0\x80\0', /record 2 contains bytes that are not UTF-8/);
test(refuses, `a\0${'b'.repeat(20)}\0`, /record 2 is longer than 20 bytes/, { maxRecord: 20 });
test(
  refuses,
  'b'.repeat(21),
  /no NUL byte in the first 20 bytes: it is either \.sql text .* or a longer record \(--max-record raises the limit\)/,
  { maxRecord: 20 },
);
test(refuses, `a\0${'b'.repeat(21)}`, /record 2 is longer than 20 bytes/, { maxRecord: 20 });

test('no input at all can be allowed', async t => {
  t.deepEqual(await readText('', { allowEmpty: true }), []);
});

const unfit = macro<[string, RegExp, number?]>({
  title: (_, text: string) => `what no record can carry is not written: ${JSON.stringify(text.slice(0, 40))}`,
  async exec(t, text, message, maxRecord) {
    const { out, pieces } = taker();
    const end = createCommitWriter(out, 'test');
    await t.throwsAsync(pipeline([text], encodeRecords(maxRecord), end), { message });
    await finished(end).catch(() => {});
    t.regex(Buffer.concat(pieces).toString(), new RegExp(`^-- test: incomplete: ${message.source}[^\\0]*\\n$`));
  },
});
test(unfit, 'a\0b;', /statement 1 contains a NUL/);
test(unfit, 'a \ud800;', /statement 1 contains half of a surrogate pair/);
test(unfit, 'x'.repeat(100), /statement 1 makes a record longer than 50 bytes/, 50);

test('a spool gives back what it took, from memory and from disk', async t => {
  for (const many of [3, 40_000]) {
    const sent = Array.from({ length: many }, (_, i) => `statement ${i} ${'ä'.repeat(200)};`);
    const spooled = await spool(Readable.from(sent));
    t.is(spooled.count, many);
    let i = 0;
    for await (const statement of spooled) if (statement !== sent[i++]) t.fail(`statement ${i} differs`);
    t.is(i, many);
  }
});

test('a spool of damaged input gives nothing', async t => {
  await t.throwsAsync(spool(decodeRecords(Readable.from([Buffer.from('a\0b')]))), { code: 'DAMAGED' });
});
