/*! Secrets are not shown: neither those of a statement, nor where a message quotes them. */
import { displayName, findSecrets, identify, redact } from '@sqlpipe/sql';
import { maskSecrets } from '@sqlpipe/text';
import { fc, forAll } from '../support/seed.js';
import { test } from '../support/test.js';

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
    "GRANT RESET PASSWORD ON t TO 'ann'",
    "CREATE TABEL 't' (x INT)",
    "CREATE INDEX i ON 't'",
    "ALTER TABLE tokens DROP PARTITION LIST '2024-01-01'",
    "SELECT * FROM tokens, 'u' WHERE x = 1",
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

/** A word, or the word with one letter missing, doubled, replaced or swapped with the next one. */
const misspelt = (word: string) =>
  fc
    .tuple(fc.constantFrom('$1$2', '$2', '$1$1$2', 'Q$2', '$2$1'), fc.nat(word.length - 2))
    .map(([form, at]) => word.slice(0, at) + word.slice(at).replace(/^(.)(.?)/, form));

test('no secret is shown after a keyword, though each word has a typing error', t => {
  const heads = ['CREATE USER u WITH', 'ALTER USER u', 'ALTER SERVICE ACCOUNT u WITH', 'SET', 'GRANT ALL ON t TO u'];
  const head = fc
    .constantFrom(...heads, 'DROP', 'UPDATE t SET', 'x', 'CREATE')
    .chain(text => fc.tuple(...text.split(' ').map(word => (word.length > 2 ? misspelt(word) : fc.constant(word)))));
  const keyword = fc.constantFrom('PASSWORD', 'TOKEN', 'JWK', 'IDENTIFIED').chain(misspelt);
  const between = fc.constantFrom(
    '',
    '=',
    ':',
    ':=',
    'IS',
    'TYPE',
    'REST',
    'TYPE REST',
    'TYPE JWK',
    'BY',
    'TO',
    'FOR v =',
  );
  const shown = (...words: string[]) => redact(words.join(' ')).includes('S3CRET');
  forAll(3000, head, keyword, between, fc.constantFrom("'", '"'), (head, keyword, between, quote) => {
    const statement = [...head, keyword, between, `${quote}S3CRET${quote}`];
    t.false(shown(...statement), statement.join(' '));
  });
  for (const head of [...heads.slice(0, 4), 'DROP', 'UPDATE t SET', 'x'])
    for (const word of ['PASSWORD', 'TOKEN', 'JWK'])
      for (const between of ['', '=', ':', ':=', 'IS', 'TO', 'TYPE REST', 'TYPE JWK'])
        t.false(shown(head, word, between, 'S3CRET'), `${head} ${word} ${between}`);
  for (const between of ['', '=', ':=', 'IS', 'TYPE REST'])
    t.false(shown('ALTER TABLE u WITH PASWORD', between, '"S3CRET"'), between); // without quotes, or after TO, it is a name
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
