/*! Completion in real shells: options, their values, and the names of instances. */

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import type { ExecutionContext } from 'ava';
import { shell } from '../support/shell.js';
import { terminal } from '../support/terminal.js';
import { macro, test } from '../support/test.js';
import { testWith } from '../support/tools.js';

const PROGRAMS = readdirSync('packages').filter(name => /^sql.+/.test(name));

const SETUP = `mkdir -p .config/sqlpipe
printf '[prod]\\nurl = "https://db.example.com:9000"\\n[preview]\\nurl = "localhost"\\n' > .config/sqlpipe/instances.toml
touch schema.sql
`;

/** Returns what a shell offers for the last word of a line. */
type Completer = (t: ExecutionContext, line: string) => Promise<string[]>;

const inBash: Completer = async (t, line) => {
  const run = await shell(t);
  const words = line.split(' ');
  const { stdout, stderr } = await run(`${SETUP}source <(${words[0]} --completion bash)
COMP_WORDS=(${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
compopt() { [ "$2" = default ] && COMPREPLY+=(*.sql); }
_${words[0]}; printf '%s\\n' "\${COMPREPLY[@]}"`);
  t.is(stderr, '');
  return stdout.toString().split('\n').filter(Boolean);
};

const inFish: Completer = async (t, line) => {
  const run = await shell(t);
  const { stdout, stderr } = await run(
    `${SETUP}fish --no-config -c '${line.split(' ', 1)} --completion fish | source; complete -C "${line}"'`,
  );
  t.is(stderr, '');
  return stdout
    .toString()
    .split('\n')
    .filter(Boolean)
    .map(offer => offer.split('\t', 1)[0] ?? '');
};

/** Types the line and TAB twice, since the second TAB lists several matches, and reads the screen. */
const inZsh: Completer = async (t, line) => {
  const on = await terminal(t);
  const { screen } = await on(`${SETUP}PS1='READY> ' zsh -f -i`, [
    [/READY> /, `autoload -U compinit; compinit -u; source <(${line.split(' ', 1)} --completion zsh)\r`],
    [/READY> /, `${line}\t\t\x15exit\r`],
  ]);
  const [, , offered = ''] = screen.replace(/\x1b\[[\d;?]*[A-Za-z]/g, '').split('READY> ');
  return offered.match(/(?<![\w-])(?:--?)?\w[\w.-]*/g) ?? [];
};

const assertOffers = macro({
  async exec(t, complete: Completer, line: string, expected: string[]) {
    const offered = await complete(t, line);
    for (const word of expected) t.true(offered.includes(word), `${word} among ${offered.join(' ')}`);
  },
  title: (_title, complete: Completer, line: string) => `${complete.name}: ${line}`,
});

for (const [complete, testHere] of [
  [inBash, test],
  [inFish, testWith('fish')],
  [inZsh, testWith('zsh')],
] as const) {
  testHere(assertOffers, complete, 'sqldump --', ['--output', '--list-instances', '--help']);
  testHere(assertOffers, complete, 'sqldump --via ', ['auto', 'catalogue', 'database']);
  testHere(assertOffers, complete, 'sqlapply p', ['prod', 'preview']);
  testHere(assertOffers, complete, 'sqldiff prod s', ['schema.sql']);
  testHere(assertOffers, complete, 'sqlsplit s', ['schema.sql']);
  testHere(assertOffers, complete, 'sqldump -o s', ['schema.sql']);
  testHere(assertOffers, complete, 'sqldump --include T', ['TABLES']);
  testHere(assertOffers, complete, 'sqldiff --exclude TABLES,V', [complete === inZsh ? 'VIEWS' : 'TABLES,VIEWS']);
  testHere(assertOffers, complete, 'sqlgrep --kind t', ['table']);
  testHere(assertOffers, complete, 'sqlapply --yes-to p', ['prod', 'preview']);
  testHere(assertOffers, complete, 'sqlpipe d', ['dump', 'diff']);
  testHere(assertOffers, complete, 'sqlpipe --', ['--version', '--help']);
  testHere(assertOffers, complete, 'sqlpipe dump --l', ['--list-instances']);
  testHere(assertOffers, complete, 'sqlpipe dump --via ', ['auto', 'catalogue', 'database']);
  testHere(assertOffers, complete, 'sqlpipe apply p', ['prod', 'preview']);
  testHere(assertOffers, complete, 'sqlpipe check p', ['prod', 'preview']);
  testHere(assertOffers, complete, 'sqlpipe check --t', ['--timeout', '--token-file']);
  testHere(assertOffers, complete, 'sqlpipe c', ['copy', 'check', 'completion']);
  testHere(assertOffers, complete, 'sqlpipe copy prod p', ['prod', 'preview']);
  testHere(assertOffers, complete, 'sqlpipe copy --if-exists ', ['compare', 'fail', 'skip']);
}

test('the script of sqlpipe completes all programs in bash', async t => {
  const run = await shell(t);
  const { stdout, stderr } = await run(`${SETUP}source <(sqlpipe completion bash)
for name in ${PROGRAMS.filter(name => name !== 'sqlpipe').join(' ')}; do
  complete -p $name; _sqlpipe_load $name; echo $?
  COMP_WORDS=($name --vers); COMP_CWORD=1; _$name; echo "\${COMPREPLY[@]}"
done`);
  t.is(stderr, '');
  const each = PROGRAMS.filter(name => name !== 'sqlpipe').map(
    name => `complete -F _sqlpipe_load ${name}\n124\n--version\n`,
  );
  t.is(stdout.toString(), each.join(''));
});

testWith('fish')('the script of sqlpipe completes all programs in fish', async t => {
  const run = await shell(t);
  const { stdout, stderr } = await run(
    `${SETUP}fish --no-config -c 'sqlpipe completion fish | source
for name in ${PROGRAMS.join(' ')}; complete -C "$name --vers"; end'`,
  );
  t.is(stderr, '');
  t.is(stdout.toString(), '--version\tprint the version\n'.repeat(PROGRAMS.length));
});

for (const [title, setUp] of [
  ['with', 'autoload -U compinit; compinit -u; '],
  ['without', ''],
] as const)
  testWith('zsh')(`the script of sqlpipe completes all programs in zsh ${title} compinit`, async t => {
    const on = await terminal(t);
    const names = PROGRAMS.filter(name => name !== 'sqlpipe');
    const { screen } = await on(`${SETUP}PS1='READY> ' zsh -f -i`, [
      [/READY> /, `${setUp}source <(sqlpipe completion zsh)\r`],
      ...names.map(name => [/READY> /, `${name} --vers\t | cat\r`] as const),
      [/READY> /, 'exit\r'],
    ]);
    t.notRegex(screen, /not found/);
    for (const name of names) t.true(screen.includes(`\n${name} (sqlpipe) `), `${name} in ${screen}`);
  });

testWith('zsh')('the script of a program runs compinit in a zsh without completion', async t => {
  const on = await terminal(t);
  const { screen } = await on(`${SETUP}PS1='READY> ' zsh -f -i`, [
    [/READY> /, 'source <(sqljoin --completion zsh)\r'],
    [/READY> /, 'sqljoin --vers\t\r'],
    [/READY> /, 'exit\r'],
  ]);
  t.notRegex(screen, /not found/);
  t.regex(screen, /\nsqljoin \(sqlpipe\) /);
});

/** The options in a help text: each begins its line. */
const optionsIn = (help: string) =>
  Array.from(help.matchAll(/^ +(?:-\w, +)?--[\w-]+/gm), ([line]) => line.match(/(?<![\w-])--?\w[\w-]*/g) ?? []).flat();

for (const program of [...PROGRAMS, 'sqlpipe check', 'sqlpipe copy'])
  test(`${program}: each option of --help is completed`, async t => {
    const help = spawnSync('bash', ['-c', `node_modules/.bin/${program} --help`], { encoding: 'utf8' }).stdout;
    t.deepEqual((await inBash(t, `${program} -`)).sort(), optionsIn(help).sort());
  });

test('--completion without a value selects the script by $SHELL, bash by default', async t => {
  const run = await shell(t);
  const { stdout } = await run(
    `for shell in zsh fish dash; do SHELL=/usr/bin/$shell sqljoin --completion | grep -o 'completion for.*;'; done`,
  );
  t.is(stdout.toString(), 'completion for sqljoin;\n'.repeat(3));
  const { stdout: first } = await run(
    'for shell in zsh fish dash; do SHELL=/bin/$shell sqljoin --completion | grep -o "# [a-z]* comp"; done',
  );
  t.is(first.toString(), '# zsh comp\n# fish comp\n# bash comp\n');
});

test('--completion rejects an unsupported shell', async t => {
  const run = await shell(t);
  const { code, stderr } = await run('sqljoin --completion tcsh');
  t.deepEqual(
    [code, stderr.split('\n')[0]],
    [64, 'sqljoin: no completion script for tcsh; there are scripts for bash, zsh, fish'],
  );
});
