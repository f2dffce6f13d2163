/*! The examples for fleets, Kubernetes and GitHub: their commands are run on local instances. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { parse, parseAllDocuments } from 'yaml';
import type { Server } from '../support/server.js';
import { shell } from '../support/shell.js';
import { startSqlserve } from '../support/sqlserve.js';
import { fileScope, test, testWith } from '../support/test.js';

const file = fileScope();
let src: Server;
let targets: [Server, Server];

test.before(async () => {
  src = await startSqlserve(file);
  targets = await Promise.all([startSqlserve(file), startSqlserve(file)]);
  await src.execute('CREATE TABLE trades (ts TIMESTAMP, price DOUBLE) TIMESTAMP(ts) PARTITION BY DAY');
  await src.execute('CREATE VIEW last AS (SELECT * FROM trades)');
});

test.beforeEach(() => Promise.all(targets.map(each => each.dropAll())));

/**
 * A stand-in for ssh with the options that parallel and rsync use: runs the command in the folder `far`.
 * SHELL is set as sshd sets it: without it, parallel's wrapper runs nothing and exits with 0.
 */
const SSH = `#!/bin/bash
while [[ $1 == -* ]]; do [[ $1 == -l ]] && shift; shift; done
shift; [[ $1 == -- ]] && shift
mkdir -p far; cd far; SHELL=/bin/bash exec bash -c "$*"
`;

/** A bash where src, eu and us are instances, and nowhere is an instance that refuses connections. */
async function exampleShell(t: ExecutionContext, env: NodeJS.ProcessEnv = {}) {
  const run = await shell(t, env);
  const [eu, us] = targets;
  const urls = { src: src.url, prod: src.url, eu: eu.url, us: us.url, nowhere: 'http://127.0.0.1:1' };
  const toml = Object.entries(urls).map(([name, url]) => `[${name}]\nurl = "${url}"\n`);
  await run(`mkdir -p .config/sqlpipe; cat > .config/sqlpipe/instances.toml <<'END'\n${toml.join('')}END
printf 'eu\\nus\\n' > targets; printf '%s\\n' one two > hosts
cat > ssh <<'END'\n${SSH}END\nchmod +x ssh`);
  return run;
}

const testWithParallel = testWith('parallel', 'rsync');

const [, fleet = ''] = readFileSync('examples/README.md', 'utf8').split(/^## /m);
const blocks = Array.from(fleet.matchAll(/^```sh\n(.*?)^```$/gms), ([, sh = '']) => sh);
const [copy = '', log = '', resume = '', remote = '', check = ''] = blocks;

test('fleet: the section has these blocks', t => t.is(blocks.length, 5));

testWithParallel('fleet: every target gets the schema, and a second run changes nothing', async t => {
  const run = await exampleShell(t);
  t.like(await run(copy), { code: 0, stderr: '' });
  t.like(await run(check), { code: 0, stdout: '', stderr: '' });
  t.like(await run(copy), { code: 0, stderr: '' });
});

testWithParallel('fleet: the status counts the failures, the log names them, and a retry runs only those', async t => {
  const run = await exampleShell(t);
  await run.exits(1, `echo nowhere >> targets; ${copy}`);
  t.is((await run(log)).stdout, '69 nowhere\n');
  const [eu] = targets;
  await eu.dropAll();
  t.like(await run(`sed -i 's/:1"/:2"/' .config/sqlpipe/instances.toml; ${resume}`), { code: 1 });
  t.like(await eu.execute('SELECT table_name FROM tables()'), { dataset: [] });
  t.like(await run(`sed -i 's|"http://127.0.0.1:2"|"${eu.url}"|' .config/sqlpipe/instances.toml; ${resume}`), {
    code: 0,
  });
  t.like(await run(check), { code: 0, stdout: '' });
});

testWithParallel('fleet: the same command over ssh', async t => {
  const run = await exampleShell(t, { PARALLEL_SSH: './ssh' });
  t.like(await run(`sqldump -o schema.stream src; mkdir far; ${remote}`), { code: 0, stderr: '' });
  t.is((await run('cut -f 2 remote.log | sort -u; ls far')).stdout, 'Host\none\ntwo\n');
  t.like(await run(check), { code: 0, stdout: '', stderr: '' });
});

interface Job {
  spec: {
    completions: number;
    podFailurePolicy: { rules: { onExitCodes: { values: number[] } }[] };
    template: { spec: { containers: { command: string[]; args: [string] }[] } };
  };
}

test('Kubernetes: each pod copies to its target, and its exit status tells whether to retry', async t => {
  const [config, job] = parseAllDocuments(readFileSync('examples/kubernetes.yaml', 'utf8')).map(each => each.toJS());
  const { completions, podFailurePolicy, template } = (job as Job).spec;
  const { targets: names } = (config as { data: { targets: string } }).data;
  t.is(names.trim().split('\n').length, completions);
  const [{ command, args }] = template.spec.containers as [Job['spec']['template']['spec']['containers'][0]];
  t.deepEqual(command, ['sh', '-euc']);
  const run = await exampleShell(t);
  const pod = (index: number) =>
    run(`export XDG_CONFIG_HOME=$PWD/.config JOB_COMPLETION_INDEX=${index}
cp targets .config/sqlpipe/; sh -euc '${args[0]}'`);
  for (let index = 0; index < completions; index++) t.like(await pod(index), { code: 0 });
  t.like(await run('sqldiff src eu && sqldiff src us'), { code: 0, stdout: '' });

  const final = podFailurePolicy.rules[0]?.onExitCodes.values ?? [];
  await run('echo nowhere > targets');
  t.false(final.includes((await pod(0)).code));
  await targets[0].execute('DROP VIEW last');
  await targets[0].execute('CREATE TABLE last (x INT)');
  await run('echo eu > targets');
  t.true(final.includes((await pod(0)).code));
});

function findStep(workflow: string, name: string): string | undefined {
  const { jobs } = parse(readFileSync(join('examples', workflow), 'utf8'));
  const [{ steps }] = Object.values(jobs) as [{ steps: { name?: string; run: string }[] }];
  return steps.find(step => step.name === name)?.run;
}

test('GitHub: the plan of a pull request becomes a comment', async t => {
  const plan = findStep('github-action-plan.yaml', 'Plan');
  const run = await exampleShell(t, { INSTANCE: 'src' });
  await run(`sqldump src | sqljoin -d schema; cat > step <<'END'\n${plan}END`);
  await run(`sed -i 's/price DOUBLE/volume DOUBLE/' schema/tables/trades.sql`);
  const step = await run('bash -e step');
  t.like(step, { code: 0, stderr: '' });
  t.regex(
    step.stdout,
    /^::error file=schema\/tables\/trades\.sql,line=1::table 'trades': left out: .*%0Aloses column 'price'%0A/,
  );
  const comment = (await run('cat comment.md')).stdout;
  t.regex(comment, /^````sql\n(?:--.*\n)+ALTER TABLE 'trades' ADD COLUMN volume DOUBLE;$/m);
  t.regex(comment, /^Left out:\n````\nsqldiff: table 'trades': left out: .*\n {2}loses column 'price'$/m);
  t.like(await run('rm -r schema; bash -e step'), { code: 69, stdout: '' });
});

test('GitHub: no text in a schema ends the block of the comment', async t => {
  const plan = findStep('github-action-plan.yaml', 'Plan');
  const run = await exampleShell(t, { INSTANCE: 'src' });
  await run(`sqldump src | sqljoin -d schema; cat > step <<'END'\n${plan}END`);
  const view = "CREATE VIEW spoof AS (\nSELECT '\n``````\n<!-- ' x FROM trades\n);";
  await run(`cat > schema/views/spoof.sql <<'END'\n${view}\nEND`);
  t.like(await run('bash -e step'), { code: 0, stderr: '' });
  const lines = (await run('cat comment.md')).stdout.trimEnd().split('\n');
  const fence = lines[1]?.replace('sql', '') ?? '';
  t.regex(fence, /^`{7,}$/);
  t.true(lines.includes('``````'));
  t.is(lines.filter(line => line.startsWith(fence)).length, 2, lines.join('\n'));
  t.is(lines.at(-1), fence);
});

test('GitHub: the check fails if the instance differs, and comments the difference', async t => {
  const stepNamed = (name: string) => findStep('github-actions.yaml', name);
  const run = await exampleShell(t, {
    INSTANCE: 'src',
    GITHUB_STEP_SUMMARY: 'summary',
    PULL_REQUEST: 'https://x/pull/1',
  });
  await run(`cat > gh <<'END'\n#!/bin/sh\nprintf '%s\\n' "$*" > called; cat comment.md > commented\nEND\nchmod +x gh`);
  /** Runs the steps Compare and Comment as the runner does. */
  const check = async () => {
    const result = await run(`rm -f summary; cat > step <<'END'\n${stepNamed('Compare')}END\nbash -e step`);
    await run(`PATH=$PWD:$PATH; cat > step <<'END'\n${stepNamed('Comment')}\nEND\nbash -e step`);
    const [summary, commented] = await Promise.all(
      ['summary', 'commented'].map(async name => (await run(`cat ${name}`)).stdout),
    );
    t.is(commented, summary);
    return { ...result, commented };
  };
  await run('sqldump src | sqljoin -o schema.sql');
  t.like(await check(), { code: 0, stdout: '', commented: 'The instance has the schema of schema.sql.\n' });
  t.is(
    (await run('cat called')).stdout,
    'pr comment https://x/pull/1 --edit-last --create-if-none --body-file comment.md\n',
  );
  await run(`sed -i 's/DAY/HOUR/' schema.sql`);
  const { code, stdout, commented } = await check();
  t.is(code, 1);
  t.regex(
    stdout,
    /^::error file=schema\.sql,line=\d+::differs: table 'trades': partitioning: HOUR in schema\.sql, DAY in src\n$/,
  );
  t.regex(
    commented ?? '',
    /\n\n````diff\ndiffers: table 'trades'\n {2}partitioning: HOUR in schema\.sql, DAY in src\n````\n$/,
  );
  await run('rm schema.sql');
  t.like(await check(), {
    code: 66,
    commented: 'schema.sql and the instance could not be compared: the log says why.\n',
  });
});
