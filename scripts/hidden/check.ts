/*! Random texts of statements, comments and quotes: a real server executes what sqlapply identified and would send. */
import { connect, resolveInstance } from '@sqlpipe/instance';
import { identify, NameMap, normalizeStatement } from '@sqlpipe/sql';
import fc from 'fast-check';
import { createPreflightCheck } from '../../packages/replay/src/checks/preflight.js';
import type { Server } from '../../test/support/server.js';
import { putVictim, stateOf } from '../../test/support/victim.js';

const STATEMENTS = [
  ...['CREATE TABLE made (x INT)', "CREATE TABLE 'made' (x INT)", 'CREATE VIEW made AS (SELECT 1 x)'],
  ...['CREATE TABLE made AS (SELECT 1 x)', 'CREATE OR REPLACE VIEW made AS (SELECT 1 x)', 'GRANT SELECT ON x TO y'],
  ...['DROP TABLE victim', 'INSERT INTO victim VALUES (8)', 'TRUNCATE TABLE victim', 'RENAME TABLE victim TO made'],
  ...['ALTER TABLE victim ADD COLUMN y INT', 'CREATE', 'TABLE', 'VIEW', 'made', '(x INT)', 'ADD USER a TO b'],
];
const QUOTES = ["'", '"', '`'];
const COMMENTS = ['--', '/*', '*/', '/*+', '/*/', '/* -- */'];
const CLOSED = [
  " /* ' */ ",
  ' /* " */ ',
  ' /* ` */ ',
  " -- '\n",
  " -- '\r",
  ' -- "\n',
  ' /* it is */ ',
  " /* it's its' */ ",
];
const BLANKS = [' ', '\n', '\r', '\r\n', '\t'];

/** Text between statements, often well-formed under at least one of the comment rules. */
const gap = fc.oneof(
  { weight: 4, arbitrary: fc.constant(' ') },
  { weight: 4, arbitrary: fc.constantFrom(...CLOSED) },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.constantFrom(...COMMENTS, ...CLOSED, ...QUOTES, ...BLANKS), { maxLength: 5 })
      .map(parts => ` ${parts.join('')} `),
  },
);

/** Statements and gaps around them. Half of the texts have equal gaps, because only two equal ones can hide a statement. */
const texts = fc
  .tuple(gap, fc.boolean(), fc.array(fc.tuple(fc.constantFrom(...STATEMENTS), gap), { minLength: 1, maxLength: 3 }))
  .map(
    ([first, isSame, parts]) => first + parts.map(([statement, gap]) => statement + (isSame ? first : gap)).join(''),
  );

/** The result of a check. */
export interface Checked {
  /** The number of texts that sqlapply would have sent, and the number of those that the server executed. */
  sent: number;
  applied: number;
  /** The texts that did something else than create the identified object. */
  wrong: string[];
}

/** Sends the texts that sqlapply would send to an empty server, and checks what changes. */
export async function checkTexts(server: Server, { count, seed }: { count: number; seed: number }): Promise<Checked> {
  const target = connect(await resolveInstance(server.url, { program: 'sqlapply', env: {}, warn() {} }));
  const noPlan = { statements: new Set<string>(), queries: new NameMap<string[]>(), allowsPlan: false };
  const checkBeforeSending = createPreflightCheck(target, [], noPlan);
  const checked: Checked = { sent: 0, applied: 0, wrong: [] };
  const before = `${await putVictim(server)}`;
  try {
    for (const text of fc.sample(texts, { numRuns: count, seed })) {
      const statement = tryNormalize(text);
      if (!statement || (await checkBeforeSending(statement))) continue;
      checked.sent++;
      const { ok } = await target.execute(statement);
      if (ok) checked.applied++;
      // A rejected statement changes nothing; this is checked only sometimes, since it is slow.
      const isRight = ok
        ? await dropCreatedObject(server, statement, before)
        : checked.sent % 100 || (await isAsBefore());
      if (isRight) continue;
      checked.wrong.push(statement);
      await putVictim(server);
    }
    if (!(await isAsBefore())) checked.wrong.push('a rejected statement');
  } finally {
    await target.close();
  }
  return checked;

  async function isAsBefore(): Promise<boolean> {
    return `${await stateOf(server)}` === before;
  }
}

/** Drops the identified object of a statement; returns whether it was the only change. */
async function dropCreatedObject(server: Server, statement: string, before: string): Promise<boolean> {
  const { kind, name } = identify(statement);
  const found = await stateOf(server);
  const rest = found.filter(each => each !== name);
  const { ddl } = await server.execute(`DROP ${kind} '${name}'`); // fails if the object has another kind
  return ddl === 'OK' && rest.length === found.length - 1 && `${rest}` === before;
}

/** The statement that would be sent for a record, if there is one. */
function tryNormalize(text: string): string | undefined {
  try {
    return normalizeStatement(text);
  } catch {
    return undefined;
  }
}
