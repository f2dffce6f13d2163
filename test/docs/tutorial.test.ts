/*! The tutorial of GUIDE.md and the recording made from it: both show the current output of the programs. */
import { readFileSync } from 'node:fs';
import { drawRecording } from '../../scripts/recording/svg.js';
import { cases } from '../cases/cases.js';
import { inProcess } from '../support/in-process.js';
import { startSqlserve } from '../support/sqlserve.js';
import { fileScope, test } from '../support/test.js';
import { insertOutput, runTutorial, type Step, tutorialOf } from '../support/tutorial.js';

const GUIDE = readFileSync('GUIDE.md', 'utf8');
const HINT = 'make guide writes both';
const file = fileScope();
let steps: Step[];

test.before(async () => {
  steps = await runTutorial(file, GUIDE);
});

test('the tutorial shows the current output of the programs', t => t.is(insertOutput(GUIDE, steps), GUIDE, HINT));

test('the recording shows the current output of the programs', t =>
  t.is(drawRecording(steps.filter(({ recorded }) => recorded)), readFileSync('docs/demo.svg', 'utf8'), HINT));

test('every command of the tutorial is run', t => {
  const prompts = tutorialOf(GUIDE).match(/^\$ /gm) ?? [];
  t.is(steps.filter(({ command }) => !command.endsWith('\n')).length, prompts.length);
});

test('a typing error in each step of a change gets a message that helps, and changes nothing', async t => {
  const [server, other] = [await startSqlserve(file), await startSqlserve(file)];
  const run = await inProcess(t, { DB: server.url, OTHER: other.url });
  const before = await run(`cat > trades.sql <<'END'
CREATE TABLE trades (
  ts TIMESTAMP,
  side SYMBOL,
  amount DOUBLE
) TIMESTAMP(ts) PARTITION BY DAY;
END
sqlapply $DB trades.sql; sqlsplit trades.sql | sqljoin -d schema
sed -i 's/amount DOUBLE/quantity DOUBLE -- renamed from amount/; /side SYMBOL/d' schema/tables/trades.sql
sqldiff --alter --allow-loss drop:trades.side schema $DB -o plan.sql && sqldump $DB`);
  t.is(before.code, 0, before.stderr);
  // What a reader may type instead of a step of "Change it from git", and the message that helps.
  for (const { title: command, input: message } of cases('typing-errors')) {
    const { code, stderr } = await run(command.replace('FILE', 'schema/tables/trades.sql'));
    t.not(code, 0, command);
    t.regex(stderr, new RegExp(message.trimEnd()), command);
    t.is((await run('sqldump $DB')).stdout, before.stdout, command);
  }
});
