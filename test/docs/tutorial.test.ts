/*! The tutorial of GUIDE.md and the recording made from it: both show the current output of the programs. */
import { readFileSync } from 'node:fs';
import { drawRecording } from '../../scripts/recording/svg.js';
import { inProcess } from '../support/in-process.js';
import { fileScope } from '../support/scope.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';
import { insertOutput, runTutorial, type Step, tutorialOf } from '../support/tutorial.js';

const GUIDE = readFileSync('GUIDE.md', 'utf8');
const HINT = 'make guide writes both';
const file = fileScope();
let steps: Step[];

test.before(async () => {
  steps = await runTutorial(file, GUIDE);
});

test('the tutorial shows the current output of the programs', t => {
  t.is(insertOutput(GUIDE, steps), GUIDE, HINT);
});

test('the recording shows the current output of the programs', t => {
  t.is(drawRecording(steps.filter(({ recorded }) => recorded)), readFileSync('docs/demo.svg', 'utf8'), HINT);
});

test('every command of the tutorial is run', t => {
  const prompts = tutorialOf(GUIDE).match(/^\$ /gm) ?? [];
  t.is(steps.filter(({ command }) => !command.endsWith('\n')).length, prompts.length);
});

/** What a reader may type instead of a step of "Change it from git", and the message that helps. */
const TYPING_ERRORS: [command: string, message: RegExp][] = [
  [
    "sed -i 's/renamed from/rename form/' FILE; sqldiff --alter schema $DB -o p.sql",
    /-- rename form amount: not understood; write -- renamed from OLD/,
  ],
  [
    "sed -i 's/rename form amount/renamed from amont/' FILE; sqldiff --alter schema $DB -o p.sql",
    /B has no column 'amont'; did you mean amount\?/,
  ],
  [
    "sed -i 's/ -- renamed.*//' FILE; sqldiff --alter schema $DB -o p.sql",
    /loses column 'amount'\n.*renamed\? --renamed trades.amount=quantity\n.* --allow-loss drop:trades.amount\n/,
  ],
  [
    'sqldiff --alter --renamed trades.amont=quantity schema $DB',
    /B has no 'trades.amont'; did you mean trades.amount\?/,
  ],
  [
    'sqldiff --alter --renamed trades.amount=quantiti schema $DB',
    /A has no column 'quantiti' in 'trades'; did you mean quantity\?/,
  ],
  [
    'sqldiff --alter --allow-loss trades.side schema $DB',
    /not the name of a loss; sqldiff --alter prints the names, such as drop:trades.qty/,
  ],
  [
    'sqldiff -v --alter --allow-loss drop:trades.sid schema $DB',
    /--allow-loss drop:trades.side\n[^]*--allow-loss drop:trades.sid: nothing of this name is lost/,
  ],
  ['sqldiff --alter --allow-los drop:trades.side schema $DB', /did you mean --allow-loss\?/],
  ['sqldiff --alter scheme $DB', /scheme/],
  ['sqlapply $DB plan.sql', /nothing was sent\n[^]*hint: use --allow-plan to send them/],
  ['sqlapply --alow-plan $DB plan.sql', /did you mean --allow-plan\?/],
  [
    'sqlapply --allow-plan $OTHER plan.sql',
    /the plan was made for a different state; make it again with sqldiff --alter/,
  ],
  [
    'echo "DROP TABLE trades;" >> plan.sql; sqlapply --allow-plan $DB plan.sql',
    /DROP of table 'trades'.*nothing was sent/,
  ],
];

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
  for (const [command, message] of TYPING_ERRORS) {
    const { code, stderr } = await run(command.replace('FILE', 'schema/tables/trades.sql'));
    t.not(code, 0, command);
    t.regex(stderr, message, command);
    t.is(`${(await run('sqldump $DB')).stdout}`, `${before.stdout}`, command);
  }
});
