/*! Completion in real shells: programs, options, their values, and the names of instances. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { inProcess } from '../support/in-process.js';
import { shell } from '../support/shell.js';
import { terminal } from '../support/terminal.js';
import { test, testWith } from '../support/test.js';

const PROGRAMS = readdirSync('packages').filter(name => /^sql.+/.test(name));

const SETUP = `mkdir -p .config/sqlpipe
printf '[prod]\\nurl = "https://db.example.com:9000"\\n[preview]\\nurl = "localhost"\\n' > .config/sqlpipe/instances.toml
touch schema.sql
`;

type Completer = (t: ExecutionContext, lines: readonly string[]) => Promise<string[][]>;

/** The script of a program for a shell, made in the test's process: few tests are about how a shell gets it. */
async function script(t: ExecutionContext, shell: string, program: string): Promise<string> {
  const run = await inProcess(t);
  const path = join(run.folder, program);
  await run(`${program} --completion ${shell} > ${path}`);
  return path;
}

const scripts = (t: ExecutionContext, shell: string, lines: readonly string[]): Promise<string[]> =>
  Promise.all(programsOf(lines).map(program => script(t, shell, program)));

const MARK = '= next';
const programOf = (line: string): string => line.split(' ', 1)[0] ?? '';
const programsOf = (lines: readonly string[]): string[] => [...new Set(lines.map(programOf))];
const offersIn = (output: string): string[][] =>
  output
    .split(`${MARK}\n`)
    .slice(0, -1)
    .map(text => text.split('\n').filter(Boolean));

const inBash: Completer = async (t, lines) => {
  const run = await shell(t);
  const sources = (await scripts(t, 'bash', lines)).map(path => `source ${path}\n`);
  const completions = lines.map(line => {
    const words = line.split(' ');
    return `COMP_WORDS=(${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_${words[0]}; printf '%s\\n' "\${COMPREPLY[@]}" '${MARK}'\n`;
  });
  const { stdout, stderr } = await run(`${SETUP}${sources.join('')}
compopt() { [ "$2" = default ] && COMPREPLY+=(*.sql); }
${completions.join('')}`);
  t.is(stderr, '');
  return offersIn(stdout);
};

const inFish: Completer = async (t, lines) => {
  const run = await shell(t);
  const sources = (await scripts(t, 'fish', lines)).map(path => `source ${path}; `);
  const completions = lines.map(line => `complete -C "${line}"; echo "${MARK}"; `);
  const { stdout, stderr } = await run(`${SETUP}fish --no-config -c '${sources.join('')}${completions.join('')}'`);
  t.is(stderr, '');
  return offersIn(stdout).map(offers => offers.map(offer => offer.split('\t', 1)[0] ?? ''));
};

/** Types each line and TAB twice, since the second TAB lists several matches, and reads the screen up to the sum that is printed then. */
const inZsh: Completer = async (t, lines) => {
  const on = await terminal(t);
  const sources = (await scripts(t, 'zsh', lines)).map(path => `source ${path}\r`);
  const { screen } = await on(`${SETUP}PS1='READY> ' zsh -f -i`, [
    [/READY> /, 'autoload -U compinit; compinit -u\r'],
    ...sources.map(keys => [/READY> /, keys] as const),
    ...lines.map(line => [/READY> /, `${line}\t\t\x15echo $((40 + 2))\r`] as const),
    [/READY> /, 'exit\r'],
  ]);
  const texts = screen.replace(/\x1b\[[\d;?]*[A-Za-z]/g, '').split(/^42\r?$/m);
  return texts.slice(0, -1).map(text => text.match(/(?<![\w-])(?:--?)?\w[\w.-]*/g) ?? []);
};

const OFFERS: [line: string, expected: string[], inZsh?: string[]][] = [
  ['sqldump --', ['--output', '--list-instances', '--help']],
  ['sqldump --via ', ['auto', 'catalogue', 'database']],
  ['sqlapply p', ['prod', 'preview']],
  ['sqldiff prod s', ['schema.sql']],
  ['sqlsplit s', ['schema.sql']],
  ['sqldump -o s', ['schema.sql']],
  ['sqldump --include T', ['TABLES']],
  ['sqldiff --exclude TABLES,V', ['TABLES,VIEWS'], ['VIEWS']],
  ['sqlgrep --kind t', ['table']],
  ['sqlapply --yes-to p', ['prod', 'preview']],
  ['sqlpipe d', ['dump', 'diff']],
  ['sqlpipe --', ['--version', '--help']],
  ['sqlpipe dump --l', ['--list-instances']],
  ['sqlpipe dump --via ', ['auto', 'catalogue', 'database']],
  ['sqlpipe apply p', ['prod', 'preview']],
  ['sqlpipe check p', ['prod', 'preview']],
  ['sqlpipe check --t', ['--timeout', '--token-file']],
  ['sqlpipe c', ['copy', 'check', 'completion']],
  ['sqlpipe copy prod p', ['prod', 'preview']],
  ['sqlpipe copy --if-exists ', ['compare', 'fail', 'skip']],
];

for (const [name, complete, testHere] of [
  ['bash', inBash, test],
  ['fish', inFish, testWith('fish')],
  ['zsh', inZsh, testWith('zsh')],
] as const)
  testHere(`${name} completes programs, options, their values, instances and files`, async t => {
    const offers = await complete(
      t,
      OFFERS.map(([line]) => line),
    );
    t.is(offers.length, OFFERS.length);
    for (const [i, [line, expected, inZsh]] of OFFERS.entries())
      for (const word of (name === 'zsh' && inZsh) || expected)
        t.true(offers[i]?.includes(word), `${line}: ${word} among ${offers[i]?.join(' ')}`);
  });

const VIA = ['auto', 'database', 'catalogue'];
const ANSWERS: [question: string, expected: string[]][] = [
  ["sqldump --complete --via ''", VIA],
  ['sqldump --complete --via=a', VIA],
  ['sqldump --complete --via =', VIA], // bash splits at `=`
  ['sqldump --complete --via = a', VIA],
  ["sqldump --complete --timeout ''", []],
  ['sqldump --complete -- -', [':instances']],
  ["sqldiff --complete a ''", [':instances', ':files']],
  [
    'sqlpipe --complete help sp',
    ['dump', 'split', 'join', 'apply', 'diff', 'grep', 'sort', 'tr', 'serve', 'copy', 'check'],
  ],
  ["sqlpipe --complete completion ''", ['bash', 'zsh', 'fish']],
  ["sqlpipe --complete constructor ''", []],
  ["sqlpipe --complete dump --via ''", VIA],
];

for (const [question, expected] of ANSWERS)
  test(`${question} lists what may replace the last argument`, async t => {
    const run = await inProcess(t);
    const { stdout, stderr, code } = await run(question);
    t.deepEqual([stdout.split('\n').slice(0, -1), stderr, code], [expected, '', 0]);
  });

test('the script of sqlpipe completes all programs in bash', async t => {
  const run = await shell(t);
  const names = PROGRAMS.filter(name => name !== 'sqlpipe');
  const { stdout, stderr } = await run(`${SETUP}source <(sqlpipe completion bash)
for name in ${names.join(' ')}; do
  complete -p $name
  COMP_WORDS=($name --vers); COMP_CWORD=1; _sqlpipe; echo "\${COMPREPLY[@]}"
done`);
  t.is(stderr, '');
  t.is(stdout, names.map(name => `complete -F _sqlpipe ${name}\n--version\n`).join(''));
});

testWith('fish')('the script of sqlpipe completes all programs in fish', async t => {
  const run = await shell(t);
  const { stdout, stderr } = await run(
    `${SETUP}fish --no-config -c 'sqlpipe completion fish | source
for name in ${PROGRAMS.join(' ')}; complete -C "$name --vers"; end'`,
  );
  t.is(stderr, '');
  t.is(stdout, '--version\tprint the version\n'.repeat(PROGRAMS.length));
});

for (const [title, setUp, names] of [
  ['all programs in zsh with', 'autoload -U compinit; compinit -u; ', PROGRAMS.filter(name => name !== 'sqlpipe')],
  ['programs in zsh without', '', ['sqldump', 'sqltr']],
] as const)
  testWith('zsh')(`the script of sqlpipe completes ${title} compinit`, async t => {
    const on = await terminal(t);
    const { screen } = await on(`${SETUP}PS1='READY> ' zsh -f -i`, [
      [/READY> /, `${setUp}source <(sqlpipe completion zsh)\r`],
      ...names.map(name => [/READY> /, `${name} --vers\t\x15\r`] as const),
      [/READY> /, 'exit\r'],
    ]);
    t.notRegex(screen, /not found/);
    for (const name of names) t.true(screen.includes(`${name} --version`), `${name} in ${screen}`);
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

test('each option of --help is completed', async t => {
  const programs = [...PROGRAMS, 'sqlpipe check', 'sqlpipe copy'];
  const run = await inProcess(t);
  const options: string[][] = [];
  for (const program of programs) options.push(optionsIn((await run(`${program} --help`)).stdout).sort());
  const offers = await inBash(
    t,
    programs.map(program => `${program} -`),
  );
  t.deepEqual(
    offers.map((offer, i) => [programs[i], ...offer.sort()]),
    options.map((option, i) => [programs[i], ...option]),
  );
});

test('--completion without a value selects the script by $SHELL, bash by default', async t => {
  const run = await inProcess(t);
  for (const [shell, title] of Object.entries({ zsh: 'zsh', fish: 'fish', dash: 'bash' }))
    t.regex(
      (await run(`SHELL=/usr/bin/${shell} sqljoin --completion`)).stdout,
      new RegExp(`^# ${title} completion for sqljoin;`, 'm'),
    );
});

test('--completion rejects an unsupported shell', async t => {
  const run = await inProcess(t);
  const { code, stderr } = await run('sqljoin --completion tcsh');
  t.deepEqual(
    [code, stderr.split('\n')[0]],
    [64, 'sqljoin: no completion script for tcsh; there are scripts for bash, zsh, fish'],
  );
});
