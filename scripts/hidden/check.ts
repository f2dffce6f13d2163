/*! Random texts of statements, comments and quotes: whatever sqlapply would send is what a real server runs. */
import { connect, resolveInstance } from '@sqlpipe/instance';
import { createPreflightCheck } from '@sqlpipe/replay';
import { identify, normalizeStatement } from '@sqlpipe/sql';
import fc from 'fast-check';
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

/** What stands between statements: often something that is well formed in one reading at least. */
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

/** Statements with gaps before, between and behind them; half of the time the same one, as it takes two to hide something. */
const texts = fc
  .tuple(gap, fc.boolean(), fc.array(fc.tuple(fc.constantFrom(...STATEMENTS), gap), { minLength: 1, maxLength: 3 }))
  .map(
    ([first, isSame, parts]) => first + parts.map(([statement, gap]) => statement + (isSame ? first : gap)).join(''),
  );

/** What came of it. */
export interface Checked {
  /** How many texts sqlapply would have sent, and how many of these the server carried out. */
  sent: number;
  applied: number;
  /** Those that did something else than make the object that they are identified by. */
  wrong: string[];
}

/** Sends to an empty server what sqlapply would send of so many texts, and looks what changes. */
export async function checkTexts(server: Server, { count, seed }: { count: number; seed: number }): Promise<Checked> {
  const target = connect(await resolveInstance(server.url, { program: 'sqlapply', env: {}, warn() {} }));
  const objection = createPreflightCheck(target, []);
  const checked: Checked = { sent: 0, applied: 0, wrong: [] };
  const before = `${await putVictim(server)}`;
  try {
    for (const text of fc.sample(texts, { numRuns: count, seed })) {
      const statement = oneForm(text);
      if (!statement || (await objection(statement))) continue;
      checked.sent++;
      const { ok } = await target.execute(statement);
      if (ok) checked.applied++;
      // What is refused changes nothing; that is looked at now and then, as it takes longer.
      const isRight = ok ? await madeAndDropped(server, statement, before) : checked.sent % 100 || (await isAsBefore());
      if (isRight) continue;
      checked.wrong.push(statement);
      await putVictim(server);
    }
    if (!(await isAsBefore())) checked.wrong.push('something that was refused');
  } finally {
    await target.close();
  }
  return checked;

  async function isAsBefore(): Promise<boolean> {
    return `${await stateOf(server)}` === before;
  }
}

/** Whether the object that a statement is identified by is all that is there beside what was; it goes again. */
async function madeAndDropped(server: Server, statement: string, before: string): Promise<boolean> {
  const { kind, name } = identify(statement);
  const found = await stateOf(server);
  const rest = found.filter(each => each !== name);
  const { ddl } = await server.execute(`DROP ${kind} '${name}'`); // of another kind it does not go
  return ddl === 'OK' && rest.length === found.length - 1 && `${rest}` === before;
}

/** The statement that would be sent of a record, if there is one. */
function oneForm(text: string): string | undefined {
  try {
    return normalizeStatement(text);
  } catch {
    return undefined;
  }
}
