/*! The lexer and the splitter: they keep every character, for any text in any chunks. */
import {
  displayName,
  identify,
  NameMap,
  NameSet,
  normalizeStatement,
  SplitError,
  Splitter,
  tokens,
  unquote,
} from '@sqlpipe/sql';
import { type LexerRules, readSegment } from '../../packages/sql/src/tokens.js';
import { fc, forAll, splitAt } from '../support/seed.js';
import { test } from '../support/test.js';

/** Text of pieces that are difficult for a lexer. */
const odd = fc
  .array(
    fc.oneof(
      fc.constantFrom("'", '"', '`', '--', '-', '/*', '*/', '/', '*', '(', ')', ';', '\n', '\r', ' ', '\t'),
      fc.constantFrom('select', 'a', "'b'", '"c"', '/* d */', '-- e\n', '(f)', 'ä', '\u{1f600}', '\ufeff', '\u00a0'),
    ),
    { maxLength: 30 },
  )
  .map(parts => parts.join(''));

const reading = fc.constantFrom<LexerRules>('sql', 'server');

function split(chunks: string[], maxLength?: number): string[] {
  const splitter = new Splitter(maxLength);
  return [...chunks.flatMap(chunk => [...splitter.write(chunk)]), ...splitter.end()];
}

function outcome(chunks: string[]): unknown {
  try {
    return split(chunks);
  } catch (error) {
    if (!(error instanceof SplitError)) throw error;
    return [error.message, error.line, error.column];
  }
}

const tryNormalize = (text: string): string | undefined => {
  try {
    return normalizeStatement(text);
  } catch {
    return undefined;
  }
};

test('an unclosed parenthesis is reported at its start, in long input too', t => {
  const open = (text: string) => t.throws(() => split([text])) as SplitError;
  t.like(open(`a;\n b (${'('.repeat(1_000_000)}`), { line: 2, column: 4 });
  t.like(open('(a)\n(b(c)'), { line: 2, column: 1 });
  t.like(open(`${')'.repeat(5)}(`), { line: 1, column: 6 });
});

test('statements that end under one reading of comments only are split one by one', t => {
  for (const statement of ['/*--*/a;', "/*'*/a;", "/*'/*'*/a;"]) {
    const all = split([statement.repeat(20_000)]);
    t.is(all.length, 20_000);
    t.true(all.every(one => one === statement));
  }
});

test('the tokens of a text add up to the text', t =>
  forAll(100, odd, reading, (text, reading) => {
    t.is(Array.from(tokens(text, reading), token => token.text).join(''), text);
  }));

test('segments are adjacent, and tokens start at their offsets', t => {
  forAll(100, odd, reading, (text, reading) => {
    let at = 0;
    while (at < text.length) {
      const { start, end } = readSegment(text, at, reading);
      if (start !== at || end <= start) return false;
      at = end;
    }
    return at === text.length && [...tokens(text, reading)].every(token => text.startsWith(token.text, token.start));
  });
  t.pass();
});

test('a text splits the same in any chunks', t =>
  forAll(100, odd, fc.array(fc.nat(), { maxLength: 10 }), (text, places) => {
    t.deepEqual(outcome(splitAt(text, places)), outcome([text]));
  }));

test('normalizing a statement again changes nothing', t => {
  forAll(100, odd, text => {
    const statement = tryNormalize(text);
    fc.pre(!!statement);
    return normalizeStatement(statement as string) === statement;
  });
  t.pass();
});

test('a normalized statement splits into itself', t => {
  const glance = fc.array(fc.constantFrom('a', ' ', "'", '(', ')', ';', '-', '/', '*', '"'), { maxLength: 9 });
  forAll(1000, glance, signs => {
    const text = `${signs.join('')};`;
    fc.pre(tryNormalize(text) === text);
    t.deepEqual(split([text]), [text]);
  });
});

test('normalized statements joined as text split into themselves', t => {
  const statement = odd.map(tryNormalize).filter(text => !!text) as fc.Arbitrary<string>;
  forAll(400, fc.array(statement, { maxLength: 6 }), statements => {
    t.deepEqual(split([statements.map(text => `${text}\n\n`).join('')]), statements);
  });
});

for (const [text = '', ...expected] of [
  [''],
  [' \n;; ; '],
  ['-- nothing but a comment\n'],
  ['a;b', 'a;', 'b;'],
  [' a ; \n', 'a;'],
  ['a -- end', 'a -- end\n;'],
  ['a -- end\n;', 'a -- end\n;'],
  ['a -- end\r;b', 'a -- end\n;', 'b;'],
  ['-- first\na; -- its own\nb;', '-- first\na -- its own\n;', 'b;'],
  ['a; -- last', 'a -- last\n;'],
  ['a; /* c */\t-- d\r-- e\nb', 'a /* c */\t-- d\n;', '-- e\nb;'],
  ['a; /* c\nd */ \n/* e */ b;', 'a /* c\nd */;', '/* e */ b;'],
  ['a; /* of b */ b; /* of c\n*/ c;', 'a;', '/* of b */ b;', '/* of c\n*/ c;'],
  ['a -- c\n; -- d\nb', 'a -- c\n -- d\n;', 'b;'],
  ['a;; -- c\n; -- d\nb;', 'a -- c\n;', '-- d\nb;'],
  ['a; /* c */; -- d', 'a /* c */ -- d\n;'],
  ['-- of nothing\n; -- c\nb; \r\n -- d', '-- c\nb;'],
  ["a; /* ' */ -- '\nb;", "a /* ' */ -- '\n;", 'b;'],
  ['a; /* " /* " */\nb;', 'a /* " /* " */;', 'b;'],
  ["create table 'a;b' (x int); c", "create table 'a;b' (x int);", 'c;'],
  ['a \'it\'\'s; here\' "x;""y" `z;`; b', 'a \'it\'\'s; here\' "x;""y" `z;`;', 'b;'],
  ["a '\\'; b", "a '\\';", 'b;'],
  ['a $$;$$', 'a $$;', '$$;'],
  ['a /* ; /* ; */ ; */ b;', 'a /* ; /* ; */ ; */ b;'],
  ['create view v as (select 1; ); b', 'create view v as (select 1; );', 'b;'],
  ["a /* it's */; b -- it's\n;", "a /* it's */;", "b -- it's\n;"],
  ["a /* ' */ ' */; b", "a /* ' */ ' */;", 'b;'],
  ['a ); b', 'a );', 'b;'],
  ['\u00a0a;', '\u00a0a;'],
])
  test(`splits ${JSON.stringify(text)}`, t => t.deepEqual(split([text]), expected));

for (const [text, message, line, column] of [
  ["a;\n b 'c", 'unterminated string', 2, 4],
  ['a; "c', 'unterminated quoted name', 1, 4],
  ['a;\n\n(b (c)', 'unclosed parenthesis', 3, 1],
  ['a /* /* */ ;', 'unterminated comment', 1, 3],
  ['a;\n-- sqldump: incomplete: it rains\n', 'sqldump left its output incomplete: it rains', 2, 1],
  ['-- x: incomplete: y\na;', 'x left its output incomplete: y', 1, 1],
  ['; -- x: incomplete: y\na;', 'x left its output incomplete: y', 1, 3],
  ['a;\n; -- x: incomplete: y\nb;', 'x left its output incomplete: y', 2, 3],
] as const)
  test(`rejects ${JSON.stringify(text)}`, t => {
    const error = t.throws(() => split([text]), { instanceOf: SplitError });
    t.deepEqual([error?.message, error?.line, error?.column, error?.code], [message, line, column, 'DAMAGED']);
  });

test('a failure marker counts only outside a statement and on a line of its own', t => {
  t.is(split(['a\n-- x: incomplete: y\nb;']).length, 1);
  t.is(split(['a; -- x: incomplete: y\nb;']).length, 2);
});

test('a comment on the line of a semicolon belongs to its statement, and any other text to the next one', t => {
  const comments = fc.constantFrom('', '-- x\n', '-- x */\n', '/* x */\n', '/* x\n y */ -- z\n', '\n');
  const blank = fc.constantFrom('', ' ', '\t ');
  forAll(100, fc.array(fc.tuple(blank, comments), { minLength: 1, maxLength: 5 }), fc.nat(50), (parts, place) => {
    const text = parts.map(([space, comment], i) => `s${i};${space}${comment}`).join('');
    const found = split(splitAt(text, [place]));
    const own = parts.map(([space, comment], i) => normalizeStatement(`s${i};${space}${comment}`));
    t.deepEqual(found, own);
  });
});

test('a comment after the semicolon counts for the limit', t => {
  t.deepEqual(split(['a; -- 4567890'], 13), ['a -- 4567890\n;']);
  t.throws(() => split(['a; -- 4567890\nb'], 11), { message: /more than 11 characters/ });
  t.deepEqual(split(['abcde;-', 'f'], 5), ['abcde;', '-f;']); // the start of the next statement does not count
});

test('a statement over the limit is rejected before it is complete', t => {
  const splitter = new Splitter(1000);
  t.throws(
    () => {
      for (let i = 0; i < 100; i++) for (const _ of splitter.write('a'.repeat(99)));
    },
    { message: /more than 1000 characters/ },
  );
  t.throws(() => split(new Array(100).fill('-'.repeat(99)), 1000), { message: /more than 1000/ });
});

test('normalizeStatement trims and terminates one statement and rejects a second', t => {
  t.is(normalizeStatement('\n a '), 'a;');
  t.is(normalizeStatement('a;;\n'), 'a;');
  t.is(normalizeStatement('a; -- why'), 'a -- why\n;');
  t.is(normalizeStatement('a; /* why */'), 'a /* why */;');
  t.is(normalizeStatement(' -- only\n'), '');
  t.is(normalizeStatement("select /* ' */ ' */ 1"), "select /* ' */ ' */ 1;");
  t.throws(() => normalizeStatement('a; b'), { message: /second statement/ });
  const marker = '-- sqldump: incomplete: it rains\n';
  for (const text of [`a;\n${marker}`, `a;\n${marker};`, `a;\n${marker};b`])
    t.throws(() => normalizeStatement(text), { message: 'sqldump left its output incomplete: it rains' }, text);
  t.throws(() => normalizeStatement("select /* ' */ '"), { message: /unterminated|unclosed/ });
});

for (const [text, expected] of [
  ["CREATE TABLE 'x y' (a int);", "table 'x y'"],
  ['create table if not exists trades (a int)', "table 'trades'"],
  ['CREATE /* why */ TABLE -- so\n "qt" (a int)', "table 'qt'"],
  ['create atomic table t as (select 1)', "table 't'"],
  ['create batch 100 o3MaxLag 1s table t as (select 1)', "table 't'"],
  ['create table btc-usd.x(a int)', "table 'btc-usd.x'"],
  ['CREATE OR REPLACE VIEW v AS (select 1)', "view 'v'"],
  ["CREATE MATERIALIZED VIEW 'm' WITH BASE 't' REFRESH IMMEDIATE AS (x)", "materialized view 'm'"],
  ["CREATE LIVE VIEW 'l' AS (x)", "live view 'l'"],
  ['CREATE USER `u`', "user 'u'"],
  ['CREATE GROUP g', "group 'g'"],
  ["CREATE SERVICE ACCOUNT 's' OWNED BY 'o'", "service account 's'"],
  ['ADD USER u TO g', "membership of 'u'"],
  ["GRANT SELECT ON 'a to b' TO u WITH GRANT OPTION", "grant to 'u'"],
  ['GRANT ASSUME SERVICE ACCOUNT s TO g', "assumption by 'g'"],
  ['ASSUME SERVICE ACCOUNT s TO g', "assumption by 'g'"],
  ['alter table t add column x int', 'ALTER'],
  ["with a as (select 'x)' y), b as (select (1) z) insert into t select * from b", 'INSERT'],
  ['/* why */ with x as (select 1) UPDATE t set v = 1', 'UPDATE'],
  ['with x as (select 1) select y from x where insert = update', 'WITH'],
  ['with "insert" as (select 1) select 1', 'WITH'],
  ["'CREATE TABLE'", ''],
  ['', ''],
] as const)
  test(`identifies ${text}`, t => t.is(displayName(identify(text)), expected));

test('unquote removes quotes', t => {
  const seen = ["'a''b'", '"a""b"', '`a`', 'a'].map(text => unquote(text));
  t.deepEqual(seen, ["a'b", 'a"b', 'a', 'a']);
});

test('a map and a set of names find any case, and keep the first one', t => {
  const set = new NameSet(['MyView', 'a', 'MYVIEW', 'A']);
  const map = new NameMap([...set].map(name => [name, 1])).set('MYVIEW', 2);
  t.is([...set].join(), 'MyView,a');
  t.is([...map].join(), 'MyView,2,a,1');
  t.deepEqual([set.has('mYvIeW'), map.get('mYvIeW'), map.delete('myview'), map.has('MyView')], [true, 2, true, false]);
  t.is([...map.set('MYVIEW', 3).keys()].join(), 'a,MYVIEW');
  map.clear();
  t.is([...map.set('myview', 4).keys()].join(), 'myview');
});
