/*! Inputs that once needed more than twice the time or memory at twice their length; each can have any length. */
import type { Answers } from './stub.js';

/** A program and its input. */
export interface Input {
  /** A short description. */
  what: string;
  /** A command line. `{url}` is a server that answers with `reply`, `{folder}` a missing folder, `{file}` a file that contains `file`. */
  program: string;
  /** Standard input of about this many bytes. */
  stdin?: (bytes: number) => string;
  /** The contents of a file. */
  file?: (bytes: number) => string;
  /** Whether the input consists of many small statements: only its growth is limited, since each statement needs time. */
  many?: boolean;
  /** A server with replies of about this many bytes. */
  reply?: (bytes: number) => Answers;
}

/** A text repeated up to a length. */
const repeatTo = (unit: string, bytes: number): string => unit.repeat(Math.ceil(bytes / unit.length));

/** A text nested in pairs of others up to a length. */
function nested(before: string, inside: string, behind: string, bytes: number): string {
  const depth = Math.ceil(bytes / (before.length + behind.length));
  return before.repeat(depth) + inside + behind.repeat(depth);
}

/** Numbered texts up to a total length. */
function numbered(bytes: number, text: (i: number) => string): string[] {
  const all: string[] = [];
  for (let i = 0, length = 0; length < bytes; i++) {
    const one = text(i);
    all.push(one);
    length += one.length;
  }
  return all;
}

const record = (statement: string): string => `${statement};\n\0`;
const stream = (statements: string[]): string => statements.map(record).join('');
const view = (body: string): string => `CREATE VIEW 'v' AS (\n${body}\n)`;

/** One record with a view whose body has the given length. */
const viewRecord = (text: (bytes: number) => string) => (bytes: number) => record(view(text(bytes)));

const rows = function* (all: Iterable<string>): Generator<string> {
  yield '{"query":"","columns":[{"name":"ddl","type":"VARCHAR"}],"timestamp":-1,"dataset":[';
  let comma = '';
  for (const row of all) {
    yield `${comma}[${JSON.stringify(row)}]`;
    comma = ',';
  }
  yield ']}';
};

/** A server that answers everything with these rows, but for what it is asked aside. */
const dumps =
  (all: (bytes: number) => Iterable<string>) =>
  (bytes: number): Answers =>
  query =>
    query.startsWith('SHOW CREATE') ? { body: rows(all(bytes)) } : { body: '{"dataset":[],"count":0}' };

/** A server that answers everything with this text. */
const says =
  (body: (bytes: number) => string, status = 200) =>
  (bytes: number): Answers =>
  () => ({ status, body: body(bytes) });

const FLOODS = [...`/- - / * /* */ ( ) () + ; ' " \` '' a, a;`.split(' '), ' ', '\n', 'a '];
const COMMENTS = [
  '/*--*/a;',
  "/*'*/a;",
  "/*'/*'*/a;",
  '/*a*/',
  "/*'*/",
  'a; -- b\n',
  'a; /* " /* " */',
  ';/*a*/',
  '-- x: incomplete: y\n',
  'a -- x: incomplete: y\n',
];

const TEXTS: Input[] = [...FLOODS, ...COMMENTS].flatMap((unit): Input[] => {
  const what = JSON.stringify(unit);
  return [
    { what, program: 'sqlsplit', stdin: bytes => repeatTo(unit, bytes) },
    { what: `${what} in one record`, program: 'sqlsort', stdin: bytes => `${repeatTo(unit, bytes)}\0` },
    { what: `${what} in a view`, program: 'sqlsort', stdin: viewRecord(bytes => repeatTo(unit, bytes)) },
  ];
});

const chain = (bytes: number): string[] => numbered(bytes, i => `CREATE VIEW 'v${i}' AS (\nselect * from v${i + 1}\n)`);

const tables = (bytes: number): string => numbered(bytes, i => `t${i}`).join(',');

/** Half of it tables that the first expression reads, half of it expressions that each read the one before. */
const expressions = (bytes: number): string =>
  `with c0 as (select * from ${tables(bytes / 2)}), ${numbered(bytes / 2, i => `c${i + 1} as (select * from c${i})`).join(', ')} select * from c1`;

const variables = (bytes: number): string =>
  `declare @a0 := (select x from ${tables(bytes / 2)}), ${numbered(bytes / 2, i => `@a${i + 1} := @a${i}`).join(', ')} select @a1`;

/** Streams about dependencies. */
const STREAMS: Record<string, (bytes: number) => string> = {
  'with c0 as (… from t0,…,tn), c1 as (… from c0), …': viewRecord(expressions),
  'declare @a1 := @a0, @a2 := @a1, …': viewRecord(variables),
  'names under deep parentheses': viewRecord(
    bytes => `select ${'('.repeat(bytes / 4)}${repeatTo('@a,', bytes / 2)}a${')'.repeat(bytes / 4)} from t`,
  ),
  'tables under deep subqueries': viewRecord(bytes =>
    nested('select * from (', `select * from ${repeatTo('a,', bytes / 2)}b`, ')', bytes / 2),
  ),
  'a variable of many tables used many times': viewRecord(
    bytes => `declare @a := (select x from ${tables(bytes / 2)}) select ${repeatTo('@a,', bytes / 2)}1 from t`,
  ),
  'expressions within each other': viewRecord(bytes => nested('with a as (', 'select 1', ') select * from a', bytes)),
  'views, each of the next': bytes => stream(chain(bytes)),
  'views, each of the one before': bytes => stream(chain(bytes).reverse()),
  'views, each of the next, in a circle of two at the end': bytes =>
    stream([...chain(bytes), "CREATE VIEW 'y' AS (\nselect * from z\n)", "CREATE VIEW 'z' AS (\nselect * from y\n)"]),
  'views in one large circle': bytes => {
    const all = chain(bytes);
    return stream([...all, `CREATE VIEW 'v${all.length}' AS (\nselect * from v0\n)`]);
  },
  'materialized views, each of the next and of a view over a long chain': bytes =>
    stream([
      ...chain(bytes / 2),
      ...numbered(
        bytes / 2,
        i =>
          `CREATE MATERIALIZED VIEW 'm${i}' WITH BASE 'm${i + 1}' REFRESH MANUAL AS (\nselect * from m${i + 1} join v0\n)`,
      ),
    ]),
  'grant select on a,a,…': bytes => record(`GRANT select on ${repeatTo('a,', bytes)}a to b`),
  'grant … to a,a,…': bytes => record(`GRANT select on t to ${repeatTo('a,', bytes)}a`),
  'grant … to a.a.…': bytes => record(`GRANT select on t to ${repeatTo('a.', bytes)}a`),
  'owned by, again and again': bytes => record(`CREATE TABLE t (x INT) ${repeatTo('OWNED BY a ', bytes)}`),
  'owned by a.a.…': bytes => record(`CREATE TABLE t (x INT) OWNED BY ${repeatTo('a.', bytes)}a`),
};

const SCHEMAS: Input[] = [
  ...['sqlsort', 'sqlgrep --with-deps v'].flatMap((program): Input[] => [
    ...Object.entries(STREAMS).map(([what, stdin]): Input => ({ what, program, stdin })),
    { what: 'many small statements', program, many: true, stdin: bytes => repeatTo('a;\0', bytes) },
  ]),
  {
    what: 'grant select on t<i> to bob, for each table',
    program: 'sqljoin -d {folder}',
    stdin: bytes => stream(numbered(bytes, i => `GRANT SELECT ON t${i} TO bob`)),
  },
  ...['sqljoin', 'sqlsort --graph dot', 'sqlsort --graph mermaid', 'sqlgrep a*b*c'].map(
    (program): Input => ({
      what: 'a name as long as the record',
      program,
      stdin: bytes => record(`CREATE TABLE '${repeatTo('ab_', bytes)}' (x INT)`),
    }),
  ),
  {
    what: '-- x: incomplete: y on every line of a record',
    program: 'sqljoin',
    stdin: bytes => record(`a\n${repeatTo('-- x: incomplete: y\n', bytes)}`),
  },
];

const FILES: Input[] = [...COMMENTS, 'a;', '(', "'"].map(unit => ({
  what: `${JSON.stringify(unit)} in a file`,
  program: 'sqldiff {file} {file}',
  many: true,
  file: bytes => repeatTo(unit, bytes),
}));

const PLANS: Input[] = [
  {
    what: 'a table of many columns',
    program: 'sqldiff --alter {file} -',
    many: true,
    stdin: () => record('CREATE TABLE a (x INT)'),
    file: bytes => `CREATE TABLE t (${numbered(bytes, i => `c${i} INT`).join(', ')});`,
  },
  {
    what: 'a chain of views',
    program: 'sqldiff --alter {file} -',
    many: true,
    stdin: () => record('CREATE TABLE a (x INT)'),
    file: bytes =>
      `CREATE TABLE v0 (x INT);${numbered(bytes / 4, i => `CREATE VIEW v${i + 1} AS (SELECT * FROM v${i});`).join('')}`,
  },
];

const SECRETS = ['token-', 'token ', 'token = ', "token 'a' ", 'password a ', "password '"];

const MESSAGES: Input[] = SECRETS.flatMap((unit): Input[] => [
  {
    what: `x ${unit}… in a server's row`,
    program: 'sqldump {url}',
    reply: dumps(bytes => [`x ${repeatTo(unit, bytes)}; b;`]),
  },
  {
    what: `ALTER USER a ${unit}… that the server rejects`,
    program: 'sqlapply --allow ALTER {url}',
    stdin: bytes => record(`ALTER USER a ${repeatTo(unit, bytes)}`),
    reply: bytes => query =>
      query.startsWith('ALTER')
        ? {
            status: 400,
            body: JSON.stringify({ query, error: `no such user: ${query.slice(0, 100_000)}`, position: bytes / 2 }),
          }
        : { body: '{"dataset":[],"count":0}' },
  },
]);

const ROWS: Record<string, (bytes: number) => Iterable<string>> = {
  ', IN VOLUME … without ;': bytes => [`CREATE TABLE 't' ( \n\tx INT\n)${repeatTo(', IN VOLUME a', bytes)}`],
  'a column of many blanks': bytes => [`CREATE TABLE 't' ( \n\t${repeatTo('a ', bytes)}\n);`],
  'a column of INDEX TYPE': bytes => [`CREATE TABLE 't' ( \n\tx ${repeatTo('SYMBOL INDEX TYPE A ', bytes)}1\n);`],
  'many columns': bytes => [`CREATE TABLE 't' ( \n${numbered(bytes, i => `\tc${i} INT`).join(',\n')}\n);`],
  'many columns and keys': bytes => [
    `CREATE TABLE 't' ( \n\tts TIMESTAMP,\n${numbered(bytes / 2, i => `\tc${i} INT`).join(',\n')}\n) timestamp(ts) PARTITION BY DAY\nDEDUP UPSERT KEYS(ts,${numbered(bytes / 2, i => `c${i}`).join(',')});`,
  ],
  'a body of \\n)': bytes => [`CREATE VIEW 'v' AS ( \n${repeatTo('\n)', bytes)}\n);`],
  'a body of blank lines': bytes => [`CREATE VIEW 'v' AS ( \n${repeatTo(' \n', bytes)}\n);`],
  'two statements, many words': bytes => [`${repeatTo('a ', bytes)}; b;`],
  'many small rows': bytes => numbered(bytes, () => 'a;'),
};

const REPLIES: Record<string, (bytes: number) => Answers> = {
  'a reply of many keys': says(bytes => `{${numbered(bytes, i => `"${i}":1`).join(',')},"ddl":"OK","dataset":[]}`),
  'a reply of [[],[],…]': says(bytes => `{"dataset":[${repeatTo('[],', bytes)}[]]}`),
  'a reply of [[0],[0],…]': says(bytes => `{"dataset":[${repeatTo('[0],', bytes)}[0]]}`),
  'a reply of ["",…] in one row': says(bytes => `{"dataset":[[${repeatTo('"",', bytes)}""]]}`),
  'a reply of ["a","T"] rows': says(bytes => `{"dataset":[${repeatTo('["a","T"],', bytes)}["a","T"]]}`),
  'a reply of blanks': says(bytes => repeatTo(' ', bytes)),
  'a long rejection': says(bytes => `{"error":"${repeatTo('a', bytes)}","position":1}`, 400),
  'a long page': says(bytes => `<p>${repeatTo('a', bytes)}`, 404),
};

const SERVERS: Input[] = [
  ...Object.entries(ROWS).flatMap(([what, all]): Input[] => [
    { what, program: 'sqldump {url}', reply: dumps(all) },
    {
      what,
      program: 'sqldiff {url} {file}',
      many: what === 'many small rows',
      reply: dumps(all),
      file: bytes => [...all(bytes)].join(';\n'),
    },
  ]),
  ...['sqlapply {url}', 'sqldump --via catalogue {url}', 'sqldump {url}'].flatMap(program =>
    Object.entries(REPLIES).map(
      ([what, reply]): Input => ({ what, program, stdin: () => record('CREATE TABLE t (x INT)'), reply }),
    ),
  ),
];

/** All of them. */
export const INPUTS: readonly Input[] = [...TEXTS, ...SCHEMAS, ...FILES, ...PLANS, ...MESSAGES, ...SERVERS];
