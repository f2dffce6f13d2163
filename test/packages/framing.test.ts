/*! Records that arrive in many reads: none is lost, limits apply to each record, and errors name the right record. */
import { Readable } from 'node:stream';
import { decodeRecords } from '@sqlpipe/records';
import { fc } from '../support/seed.js';
import { shell } from '../support/shell.js';
import { test } from '../support/test.js';

/** Decodes bytes in pieces of the given sizes, which repeat. */
async function decodePieces(bytes: Buffer, sizes: number[], maxRecord?: number): Promise<string[]> {
  function* pieces() {
    for (let at = 0, nth = 0; at < bytes.length; nth++) {
      const size = sizes[nth % sizes.length] ?? 1;
      yield bytes.subarray(at, at + size);
      at += size;
    }
  }
  const all: string[] = [];
  const input = decodeRecords(Readable.from(pieces()), maxRecord === undefined ? {} : { maxRecord });
  for await (const statement of input) all.push(statement);
  return all;
}

const words = fc.array(fc.stringMatching(/^[a-zäöü€𝕊]{1,30}$/u), { minLength: 1, maxLength: 30 });
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
const record = (word: string) => `SELECT ${word};\n\0`;
const length = (word: string) => Buffer.byteLength(record(word));

test('maxRecord limits each record, not the bytes received so far', async t => {
  await fc.assert(
    fc.asyncProperty(words, sizes, async (words, sizes) => {
      const bytes = Buffer.from(words.map(record).join(''));
      const longest = Math.max(...words.map(length));
      t.deepEqual(
        await decodePieces(bytes, sizes, longest),
        words.map(word => `SELECT ${word};`),
      );
      const nth = 1 + words.findIndex(word => length(word) === longest);
      const message =
        nth === 1
          ? /(record 1 is longer than|no NUL byte in the first) \d+ bytes/
          : `record ${nth} is longer than ${longest - 1} bytes`;
      const error = await t.throwsAsync(decodePieces(bytes, sizes, longest - 1), { code: 'DAMAGED' });
      if (typeof message === 'string') t.true(error?.message.startsWith(message), error?.message);
      else t.regex(error?.message ?? '', message);
    }),
  );
});

test('errors about truncation and invalid UTF-8 count the records before them', async t => {
  await fc.assert(
    fc.asyncProperty(words, sizes, async (words, sizes) => {
      const bytes = Buffer.from(words.map(record).join(''));
      const one = words.length === 1;
      const cut = Buffer.concat([bytes, Buffer.from('SELECT')]);
      await t.throwsAsync(decodePieces(cut, sizes), {
        message: new RegExp(` ${words.length} complete record${one ? '' : 's'}:`),
      });
      const latin = Buffer.concat([bytes, Buffer.from('SELECT \xe9;\n\0', 'latin1')]);
      await t.throwsAsync(decodePieces(latin, sizes), { message: new RegExp(`^record ${words.length + 1} .*UTF-8`) });
    }),
  );
});

/** Forty records of half a megabyte: each is much larger than a pipe, so it needs many reads. */
const LARGE = `for i in {1..40}; do printf "CREATE TABLE 't$i' ("; head -c 500000 /dev/zero | tr '\\0' x; printf ' INT);\\n\\0'; done`;

test('records larger than a pipe pass one by one, even if their total exceeds the limit', async t => {
  const run = await shell(t);
  await run(`${LARGE} > all`);
  for (const command of ['sqlgrep --kind table', 'sqlsort | sort -zV']) {
    const { code, stdout, stderr } = await run(
      `set -o pipefail; sort -zV all > sorted; cat all | ${command.replace(/^\w+/, '$& --max-record 600000')} | cmp - sorted && echo same`,
    );
    t.deepEqual([code, stdout.toString(), stderr], [0, 'same\n', ''], command);
  }
  const { code, stdout, stderr } =
    await run(`{ cat all; head -c 700000 /dev/zero | tr '\\0' x; printf '\\0'; cat all; } |
    sqlgrep --kind table --max-record 600000 > passed; echo $?; tr -dc '\\0' < passed | wc -c`);
  t.deepEqual([code, stdout.toString()], [0, '65\n39\n'], stderr);
  t.regex(stderr, /record 41 is longer than 600000 bytes/);
});
