/*! The rows of a reply in any chunks: the same as those of JSON.parse, or an error with the reason. */
import { MalformedReplyError } from '../../packages/instance/src/http/json-scanner.js';
import { RowScanner, ServerError } from '../../packages/instance/src/http/row-scanner.js';
import { fc, forAll, splitAt } from '../support/seed.js';
import { test } from '../support/test.js';

function scan(chunks: readonly Buffer[]): string[] {
  const scanner = new RowScanner();
  const rows = chunks.flatMap(chunk => scanner.write(chunk));
  scanner.end();
  return rows;
}

const scanText = (text: string) => scan([Buffer.from(text)]);

const blank = fc.stringMatching(/^[ \t\n\r]{0,3}$/);

/** Text that a statement may contain, with many characters that JSON has to escape. */
const statement = fc
  .string({ unit: fc.oneof(fc.constantFrom('"', '\\', '\n', '\t', '/', 'ä', '\u{1f600}', '\ufffd'), fc.string()) })
  .filter(text => !text.includes('\0') && text.isWellFormed());

const jsonString = (text: string) => {
  const characters = [...text];
  return fc
    .array(fc.boolean(), { minLength: characters.length, maxLength: characters.length })
    .map(
      escaped => `"${characters.map((c, i) => (escaped[i] ? escapeAll(c) : JSON.stringify(c).slice(1, -1))).join('')}"`,
    );
};

const escapeAll = (character: string) =>
  character
    .split('')
    .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');

function isJson(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}

const anything = fc.json({ maxDepth: 4 });

/** A valid reply as JSON text with its rows: any order of keys, extra keys, extra columns, escapes, white space. */
const reply = fc
  .record({
    rows: fc.array(
      statement.chain(text => fc.tuple(jsonString(text), fc.array(anything, { maxLength: 3 }))),
      { maxLength: 6 },
    ),
    extra: fc.dictionary(
      fc.string().filter(key => !/^(error|notice|dataset|count)$/.test(key)),
      anything,
      { maxKeys: 4 },
    ),
    counted: fc.boolean(),
    order: fc.infiniteStream(fc.nat()),
    blanks: fc.infiniteStream(blank),
  })
  .map(({ rows, extra, counted, order, blanks }) => {
    const gap = () => blanks.next().value;
    const spaced = (items: string[], open: string, close: string) =>
      `${open}${items.map(item => gap() + item + gap()).join(',')}${gap()}${close}`;
    const dataset = spaced(
      rows.map(([first, more]) => spaced([first, ...more], '[', ']')),
      '[',
      ']',
    );
    const keys = Object.entries(extra).map(([key, value]) => [JSON.stringify(key), value] as const);
    if (counted) keys.push(['"count"', String(rows.length)]);
    keys.splice(order.next().value % (keys.length + 1), 0, ['"dataset"', dataset]);
    const members = keys.map(([key, value]) => `${key}${gap()}:${gap()}${value}`);
    return { text: `${gap()}${spaced(members, '{', '}')}${gap()}`, rows: rows.map(([first]) => JSON.parse(first)) };
  });

/** Rows as the server writes them: one string each, without white space between them. */
const served = fc.array(statement, { minLength: 3, maxLength: 12 }).map(rows => ({
  text: `{"query":"","dataset":${JSON.stringify(rows.map(row => [row]))},"count":${rows.length}}`,
  rows,
}));

const anyReply = fc.oneof(reply, served);

test('any valid reply, in any chunks, gives the rows that JSON.parse finds', t =>
  forAll(200, anyReply, fc.array(fc.nat(), { maxLength: 8 }), ({ text, rows }, places) => {
    t.deepEqual(scan(splitAt(Buffer.from(text), places)), rows);
    const found = JSON.parse(text).dataset.map((row: unknown[]) => row[0]);
    t.deepEqual(found, rows);
  }));

test('a truncated reply is never accepted', t =>
  forAll(100, anyReply, fc.nat(), ({ text }, place) => {
    const bytes = Buffer.from(text.trimEnd());
    t.throws(() => scan([bytes.subarray(0, place % bytes.length)]), { instanceOf: MalformedReplyError });
  }));

test('the result for any bytes does not depend on the chunks', t => {
  const outcome = (chunks: Buffer[]) => {
    try {
      return scan(chunks);
    } catch (error) {
      return `${error}`;
    }
  };
  const damage = fc.record({ at: fc.nat(), byte: fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('"\\,[]u0'))) });
  forAll(200, anyReply, damage, fc.array(fc.nat(), { maxLength: 5 }), ({ text }, { at, byte }, places) => {
    const bytes = Buffer.from(text);
    bytes[at % bytes.length] = byte;
    t.deepEqual(outcome(splitAt(bytes, places)), outcome([bytes]));
  });
});

test('everything that JSON.parse rejects is rejected', t => {
  const damage = fc.record({
    at: fc.nat(),
    text: fc.constantFrom('', ',', '"', '\\', '}', ']', '{', '[', '0', 'e', ':'),
  });
  forAll(400, anyReply, damage, ({ text }, { at, text: put }) => {
    const place = at % text.length;
    const damaged = Buffer.from(text.slice(0, place) + put + text.slice(place + 1));
    if (!isJson(damaged.toString())) t.throws(() => scan([damaged]));
  });
});

const rowsOf = (...rows: string[]) => `{"dataset":[${rows.join(',')}]}`;

for (const [what, text, message] of [
  ['empty input', '', 'is truncated'],
  ['truncated in a statement', '{"dataset":[["CREATE', 'is truncated'],
  ['truncated between rows', '{"dataset":[["a"],', 'is truncated'],
  ['truncated after the rows', '{"dataset":[["a"]]', 'is truncated'],
  ['truncated in an escape', '{"dataset":[["a\\', 'is truncated'],
  ['truncated in a number', '{"dataset":[],"count":1', 'is truncated'],
  ['a second reply after the first', '{"dataset":[]}{}', 'is not JSON: "{" is out of place'],
  ['a letter after the reply', '{"dataset":[]}x', 'is not JSON: "x" is out of place'],
  ['an array', '[]', 'is not a JSON object'],
  ['a string', '"a"', 'is not a JSON object'],
  ['a number', '1 ', 'is not a JSON object'],
  ['no dataset', '{"ddl":"OK"}', 'contains no dataset'],
  ['two datasets', '{"dataset":[],"dataset":[]}', 'contains "dataset" twice'],
  ['a dataset that is null', '{"dataset":null}', 'contains a dataset that is not an array'],
  ['a dataset that is an object', '{"dataset":{}}', 'contains a dataset that is not an array'],
  ['a dataset below the top level', '{"result":{"dataset":[]}}', 'contains no dataset'],
  ['a row that is null', rowsOf('["a"]', 'null'), 'contains a row that is not an array (row 2)'],
  ['a row that is an object', rowsOf('{}'), 'contains a row that is not an array (row 1)'],
  ['an empty row', rowsOf('["a"]', '[]'), 'contains an empty row (row 2)'],
  ['an empty row before others', rowsOf('[]', '["a"]'), 'contains an empty row (row 1)'],
  ['a first column that is null', rowsOf('[null]'), 'contains a row whose first column is null (row 1)'],
  ['a first column that is a number', rowsOf('["a"]', '[1]'), 'contains a row whose first column is a number (row 2)'],
  ['a first column that is a boolean', rowsOf('[true]'), 'contains a row whose first column is a boolean (row 1)'],
  [
    'a first column that is an array',
    rowsOf('[["a"]]'),
    'contains a row whose first column is an array or object (row 1)',
  ],
  ['a count that is too high', '{"dataset":[["a"]],"count":2}', 'contains 1 rows, but its count is 2'],
  ['a wrong count before the rows', '{"count":0,"dataset":[["a"]]}', 'contains 1 rows, but its count is 0'],
  ['a count that is a string', '{"dataset":[],"count":"0"}', 'contains 0 rows, but its count is "0"'],
  ['a negative count', '{"dataset":[],"count":-1}', 'contains 0 rows, but its count is -1'],
  ['two counts', '{"dataset":[],"count":0,"count":0}', 'contains "count" twice'],
  ['two errors', '{"dataset":[],"error":"x","error":null}', 'contains "error" twice'],
  ['single quotes', "{'dataset':[]}", `is not JSON: "'" is out of place`],
  ['a raw NUL', rowsOf('["a\0"]'), 'contains a NUL character (row 1)'],
  ['an escaped NUL', rowsOf('["a\\u0000"]'), 'contains a NUL character (row 1)'],
  ['a raw line feed', rowsOf('["a\nb"]'), 'contains an unescaped control character (U+000A) in a string (row 1)'],
  ['half of a surrogate pair', rowsOf('["\\ud83d"]'), 'contains half of a surrogate pair (row 1)'],
  ['an unknown escape', rowsOf('["\\x"]'), 'contains a string with an escape that JSON does not know (row 1)'],
  ['bytes that are not UTF-8', Buffer.from(rowsOf('["é"]'), 'latin1'), 'contains bytes that are not UTF-8 (row 1)'],
  ['an invalid number', rowsOf('["a",01]'), 'contains something that is not JSON (row 1)'],
  ['an invalid literal', rowsOf('["a",nul]'), 'contains something that is not JSON (row 1)'],
  ['a trailing comma', rowsOf('["a",]'), 'is not JSON: "]" is out of place (row 1)'],
  ['a missing colon', '{"dataset"[]}', 'is not JSON: "[" is out of place'],
  ['mismatched brackets', '{"dataset":[}', 'is not JSON: "}" is out of place (row 1)'],
  ['HTML', '<!doctype html>', 'is not JSON: "<" is out of place'],
  ['too deep nesting', `{"a":${'['.repeat(1000)}`, 'is nested deeper than 128 levels'],
] as const)
  test(`a reply is rejected: ${what}`, t => {
    const error = t.throws(() => scan([Buffer.from(text)]), { instanceOf: MalformedReplyError });
    t.is(error.message, message);
  });

test('after an empty row, no row of the next chunk is passed on', t => {
  const scanner = new RowScanner();
  t.deepEqual(scanner.write(Buffer.from('{"dataset":[["a"],[]')), ['a']);
  const rest = Buffer.from(',["b"],["c"],["d"],["e"]],"count":6}');
  t.throws(() => scanner.write(rest), { instanceOf: MalformedReplyError, message: 'contains an empty row (row 2)' });
});

test('invalid UTF-8 in skipped values is rejected, in any chunks', t => {
  const bytes = Buffer.from('{"query":"é","dataset":[]}', 'latin1');
  for (let i = 0; i < bytes.length; i++)
    t.throws(() => scan([bytes.subarray(0, i), bytes.subarray(i)]), { message: 'contains bytes that are not UTF-8' });
});

test('a U+FFFD in the reply is passed on', t => t.deepEqual(scanText(rowsOf('["a\ufffdb"]')), ['a\ufffdb']));

test('a value over the limit is rejected before it is complete', t => {
  const scanner = new RowScanner(100);
  scanner.write(Buffer.from('{"dataset":[["'));
  t.throws(() => scanner.write(Buffer.alloc(101, 'x')), { message: 'contains a value longer than 100 bytes (row 1)' });
});

for (const [what, text, message, position] of [
  ['an error alone', '{"query":"x","error":"no such table","position":5}', 'no such table', 5],
  ['an error before rows', '{"error":"boom","dataset":[["a"]],"count":1}', 'boom'],
  ['an error after rows', '{"dataset":[["a"]],"count":1,"error":"boom","errorPos":0}', 'boom', 0],
  ['an error after a row that it truncated', '{"dataset":[["a"],[]],"count":1,"error":"too big"}', 'too big'],
  ['an error with a position that is a string', '{"error":"empty query","position":"0"}', 'empty query', 0],
  ['an error with an invalid position', '{"error":"boom","position":-1}', 'boom'],
  ['an error key with an escape', '{"dataset":[],"err\\u006fr":"boom"}', 'boom'],
  ['an error that is null', '{"dataset":[],"error":null}', 'an error without a message'],
  ['an error that is an object', '{"dataset":[],"error":{"a":1}}', 'an error without a message'],
  ['an error in a truncated reply', '{"error":"boom","posi', 'boom'],
  ['a notice', '{"notice":"empty query","query":""}', 'empty query'],
] as const)
  test(`the server's error: ${what}`, t => {
    const error = t.throws(() => scanText(text), { instanceOf: ServerError });
    t.deepEqual([error.message, error.position], [message, position]);
  });

test('an error key below the top level is ordinary data', t =>
  t.deepEqual(scanText('{"dataset":[["a",{"error":"x","dataset":[[1]]}]],"info":{"error":1}}'), ['a']));

test('rows are delivered as soon as they are complete', t => {
  const scanner = new RowScanner();
  t.deepEqual(scanner.write(Buffer.from('{"dataset":[["a"],["b"')), ['a']);
  t.deepEqual(scanner.write(Buffer.from(']')), ['b']);
  t.throws(() => scanner.end());
});
