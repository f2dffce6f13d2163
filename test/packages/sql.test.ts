/*! The lexer and the splitter: they keep every character, for any text in any chunks. */
import {
  displayName,
  findSecrets,
  identify,
  NameMap,
  NameSet,
  normalizeStatement,
  redact,
  SplitError,
  Splitter,
  tokens,
  unquote,
} from '@sqlpipe/sql';
import { maskSecrets } from '@sqlpipe/text';
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

/** Forms of a secret in a quoted request. */
const FORMS: ((secret: string) => string)[] = [
  secret => secret,
  encodeURIComponent,
  secret => encodeURIComponent(encodeURIComponent(secret)).replace(/%\w\w/g, code => code.toLowerCase()),
  secret => `${new URLSearchParams({ secret })}`.slice('secret='.length),
  secret => JSON.stringify(secret).slice(1, -1),
  secret => secret.replace(/["'&<>]/g, sign => `&#${sign.charCodeAt(0)};`),
];

test('a secret is masked in whatever form it is quoted', t => {
  const secrets = fc
    .string({ unit: fc.constantFrom(...'aZ09"&<>+%/\\ .*$[(ä€😀'), minLength: 4 })
    .filter(secret => secret.trim() !== '');
  forAll(100, secrets, fc.constantFrom(...FORMS), (secret, form) => {
    t.regex(maskSecrets(`[${form(secret)}]`, findSecrets(`CREATE USER u WITH PASSWORD '${secret}'`)), /^\[\*+\]$/);
  });
});

test('a long secret is masked, and similar text is not', t => {
  const long = 'a'.repeat(20_000);
  t.is(maskSecrets(`<${long}b>`, [`${long}b`]), `<${'*'.repeat(20_001)}>`);
  t.is(maskSecrets(long, [`${long}b`]), long);
  const slashes = '\\'.repeat(1000);
  t.is(maskSecrets(slashes, [`${slashes}y`]), slashes);
  t.is(maskSecrets('ännö %41 token', ['zzzz']), 'ännö %41 token');
});

test('a short secret is masked if it stands alone', t =>
  t.is(maskSecrets("user exists: 'e', e=%27e%27", ['e']), "user exists: '*', *=%27*%27"));

for (const [statement, shown] of [
  ["CREATE USER ann WITH PASSWORD 'e'", "CREATE USER ann WITH PASSWORD '*'"],
  ["alter user ann with password = 'it''s e' -- e", "alter user ann with password = '*******' -- e"],
  ['CREATE USER ann PASSWORD s3c-ret!x;', 'CREATE USER ann PASSWORD *********;'],
  ["CREATE USER ann PASSWORD 'open", "CREATE USER ann PASSWORD '****"],
  ["ALTER USER ann DROP TOKEN TYPE REST 'qt1x' ", "ALTER USER ann DROP TOKEN TYPE REST '****' "],
  ["CREATE USER u WITH PASSWORD IS 'S3CRET';", "CREATE USER u WITH PASSWORD IS '******';"],
  ["ALTER USER u SET PASSWORD TO 'S3CRET'", "ALTER USER u SET PASSWORD TO '******'"],
  ["ALTER USER u WITH PASSWORD := 'S3CRET'", "ALTER USER u WITH PASSWORD := '******'"],
  ["ALTER USER u WITH PASSWORD 'a' 'S3CRET' -- e", "ALTER USER u WITH PASSWORD '*' '******' -- e"],
  ["ALTER USER u WITH PASSWORD 'x' + 'S3CRET'\n;", "ALTER USER u WITH PASSWORD '*' **********\n;"],
  ["ALTER USER u WITH PASSWORD 'it's S3CRET'", "ALTER USER u WITH PASSWORD '**'*********"],
  ['CREATE USER u WITH PASSWORD correct horse S3CRET;', 'CREATE USER u WITH PASSWORD ********************;'],
  ['CREATE USER u WITH PASSWORD $$ab S3CRET$$', 'CREATE USER u WITH PASSWORD *************'],
  ['CREATE USER u WITH PASSWORD --S3CRET', 'CREATE USER u WITH PASSWORD ********'],
  ["CREATE USER u WITH PASSWROD 'S3CRET'", "CREATE USER u WITH PASSWROD '******'"],
  ["CREATE USER u WITHPASSWORD'S3CRET'", "CREATE USER u WITHPASSWORD'******'"],
  ["CREATE USER 'u'WITH 'PASSWORD' 'S3CRET'", "CREATE USER 'u'WITH '********' '******'"],
  ["CREATE USER u IDENTIFIED BY 'S3CRET'", "CREATE USER u IDENTIFIED BY '******'"],
  ['CREATE USER u IDENTIFIED BY S3CRET', 'CREATE USER u IDENTIFIED BY ******'],
  ["CREATE USER u-v'S3CRET'", "CREATE USER u-v'******'"],
  ['CREATE USER PASSWORD S3CRET', 'CREATE USER PASSWORD ******'],
  ['CRAETE USER u PASSWORD = x S3CRET', 'CRAETE USER u PASSWORD = ********'],
  ['ALTER USRE u WITH PASSWORD x S3CRET', 'ALTER USRE u WITH PASSWORD ********'],
  ["CREATE TOKEN 'S3CRET' FOR u", "CREATE TOKEN '******' *****"],
  ["ALTER TABLE u WITH PASSWORD 'S3CRET'", "ALTER TABLE u WITH PASSWORD '******'"],
  ["SET PASSWORD FOR u = 'S3CRET'", "SET PASSWORD FOR u = '******'"],
  ["set password for 'u' to 'S3CRET'", "set password for 'u' to '******'"],
  ["SET PASSWORD FOR u = PASSWORD('S3CRET')", 'SET PASSWORD FOR u = PASSWORD**********'],
  ["SET PASSWORD FOR 'u'@'h' = 'S3CRET'", "SET PASSWORD FOR 'u'@'*' **********"],
  ['SET PASSWORD FOR u = S3CRET', 'SET PASSWORD FOR u = ******'],
  ["SET PASSWORD = 'S3CRET'", "SET PASSWORD = '******'"],
  ...[
    "ALTER USER ann CREATE TOKEN TYPE REST WITH TTL '1d'",
    'ALTER USER ann WITH NO PASSWORD',
    "ALTER USER ann CREATE TOKEN TYPE REST WITH TTL '1d' REFRESH",
    "CREATE SERVICE ACCOUNT IF NOT EXISTS 'password' OWNED BY 'bob' WITH NO PASSWORD",
    "CREATE GROUP token WITH EXTERNAL ALIAS 'cn=user'",
    'REMOVE USER password FROM token',
    'REVOKE USER DETAILS FROM ann',
    'ALTER TABLE t RENAME COLUMN token TO "user"',
    'ALTER TABLE t ADD COLUMN token VARCHAR',
    'ALTER TABLE t ALTER COLUMN password TYPE SYMBOL',
    'SELECT user FROM passwords',
    'GRANT ADD PASSWORD, CREATE REST TOKEN TO ann',
    "CREATE VIEW 'v' AS ( \nselect token t, password p from auth where token is not null\n)",
    'create table t (token symbol, password varchar)',
    `INSERT INTO t SELECT ${'token, '.repeat(100_000)}x FROM y`,
  ].map(plain => [plain, plain]),
] as [string, string][])
  test(`redact: ${statement.slice(0, 70)}`, t => t.is(redact(statement), shown));

test('each form of a secret is found in each statement', t => {
  for (const word of ['PASSWORD', 'TOKEN', 'JWK'])
    for (const between of ['', '= ', ': ', ':= ', 'IS ', 'TYPE ', 'REST ', 'TYPE REST ', 'TYPE JWK '])
      for (const head of ['CREATE USER u WITH', 'ALTER USER u', 'ALTER TABLE u WITH', 'DROP', 'UPDATE t SET', 'x'])
        for (const quote of head === 'ALTER TABLE u WITH' ? ["'", '"'] : ["'", '"', '']) {
          const statement = `${head} ${word} ${between}${quote}S3CRET${quote}`;
          t.false(redact(statement).includes('S3CRET'), statement);
        }
});

test('quoted text that adjoins a name is no part of it, because it may be a secret', t => {
  for (const user of ["'u'", 'u', '"u"'])
    for (const rest of ["PASSWORD'S3CRET'", '`S3CRET`', "WITH PASSWORD 'S3CRET'"])
      t.notRegex(displayName(identify(`CREATE USER ${user}${rest}`)), /S3CRET/);
  t.is(identify("CREATE USER 'u'WITH PASSWORD 'x'").name, 'u');
  t.is(identify('CREATE USER fx-desk').name, 'fx-desk');
});

test('quoted text after the name of a principal is a secret, and so is everything after PASSWORD', t => {
  const heads = fc.constantFrom(
    'CREATE USER u ',
    "ALTER USER 'u' ",
    'CREATE SERVICE ACCOUNT IF NOT EXISTS u ',
    'CRAETE USER u ',
  );
  const word = fc.constantFrom(
    'WITH ',
    'PASSWORD ',
    'PASWORD ',
    'SET ',
    'TO ',
    'IS ',
    '= ',
    "'a' ",
    '"b" ',
    '+ ',
    'x ',
    '$$ ',
  );
  const words = fc.array(word, { maxLength: 5 }).map(parts => parts.join(''));
  const secret = fc.oneof(
    fc.constant("'S3CRET' "),
    words.map(between => `PASSWORD ${between}S3CRET `),
  );
  forAll(300, heads, words, secret, words, (head, before, mistake, after) => {
    const statement = `${head}${before}${mistake}${after};`;
    t.false(redact(statement).includes('S3CRET'), statement);
    for (const message of ['unexpected token [S3CRET]', "bad 'S3CRET'"])
      t.false(maskSecrets(message, findSecrets(statement)).includes('S3CRET'), statement);
  });
});

test('redaction keeps the length of the text', t => {
  const words = fc.constantFrom('PASSWORD ', 'token', 'TOKEN ', '-', '= ', 'type ', "'a b'", '"c', 'd ', ';', ',', '(');
  forAll(100, fc.array(words, { maxLength: 20 }), parts => {
    const text = `ALTER USER a ${parts.join('')}`;
    t.is(redact(text).length, text.length);
  });
  t.is(redact(`x ${'token-'.repeat(100_000)};`), `x token${'*'.repeat(599_995)};`);
  t.is(redact("x PASSWORD PASSWORD 'y'"), "x PASSWORD ******** '*'");
  t.is(redact("x token-token'y z'"), "x token******'***'");
});

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
