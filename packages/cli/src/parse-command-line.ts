/*! Reads a command line. Node finds the options and operands in it; their values are checked here. */
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { addToList } from '@sqlpipe/sql';
import { formatSuggestion } from '@sqlpipe/text';
import { COMPLETE, flagsOf, formatFlag, listCompletions, SCRIPTS } from './completion.js';
import { UsageError } from './exit-status.js';
import type { Verbosity } from './io.js';
import { CONNECTION_GROUP } from './options.js';
import type { ProcessLike } from './process-like.js';
import type { Args, OptionSpec, OptionSpecs, Program, ProgramDescription } from './program.js';

/** The version of the package, inserted by the bundler. */
declare const VERSION: string;

/** Arguments to run with, or text to print instead: help, version, completions. */
type Parsed<Specs extends OptionSpecs> = Verbosity &
  ({ args: Args<Specs>; output?: undefined } | { args?: undefined; output: string });

/** @throws UsageError for an unknown option, a missing or surplus operand, or a value of the wrong type */
export function parseCommandLine<Specs extends OptionSpecs>(program: Program<Specs>, host: ProcessLike): Parsed<Specs> {
  const words = [...host.args];
  const specs = addCommonOptions(program.options);
  if (words[0] === COMPLETE) {
    const completions = program.completions?.() ?? listCompletions(words.slice(1), specs, program.operandTypes ?? []);
    return { quiet: false, verbose: 0, output: completions.map(word => `${word}\n`).join('') };
  }
  const options = Object.entries(specs).map(([name, { type, alias }]) => {
    const needsValue = type !== 'boolean' && type !== 'count' && name !== 'completion';
    return [name, { type: needsValue ? 'string' : 'boolean', ...(alias && { short: alias }) }] as const;
  });
  const { tokens } = parseArgs({ args: words, options: Object.fromEntries(options), strict: false, tokens: true });
  const given = tokens.filter(token => token.kind === 'option');
  const operands = tokens.flatMap(token => (token.kind === 'positional' ? token.value : []));
  const has = (option?: string) => given.some(({ name }) => name === option);
  const verbosity = { quiet: has('quiet'), verbose: given.filter(({ name }) => name === 'verbose').length };
  const { name } = program;
  if (has('help')) return { ...verbosity, output: `${formatHelp(program, specs, host.stdout.columns)}\n` };
  if (has('version'))
    return { ...verbosity, output: `${name.startsWith('sqlpipe') ? 'sqlpipe' : `${name} (sqlpipe)`} ${VERSION}\n` };
  const values = readValues(given, specs);
  const completion = given.find(each => each.name === 'completion');
  if (completion) {
    const shell = completion.value ?? operands.at(-1) ?? ''; // by default the user's own
    return { ...verbosity, output: formatCompletionScript(program, shell, host.env) };
  }
  requireOperands(operands, has(program.standaloneOption) ? '' : program.operands);
  return { ...verbosity, args: { ...values, operands } as unknown as Args<Specs> };
}

type GivenOption = Record<'name' | 'rawName', string> & {
  value?: string | undefined;
  inlineValue?: boolean | undefined;
};

/** The values of options by name. The last value of a repeated option counts, as in curl, unless the option accepts several. */
function readValues(given: readonly GivenOption[], specs: OptionSpecs) {
  const values = new Map<string, unknown>();
  for (const [name, spec] of Object.entries(specs)) if ('default' in spec) values.set(name, spec.default);
  for (const { name, rawName, value, inlineValue } of given) {
    const spec = Object.hasOwn(specs, name) ? specs[name] : undefined;
    // Only the first unknown option is named: in `-pSECRET` each letter is an option.
    if (!spec) {
      const known = Object.entries(specs).flatMap(([option, each]) => flagsOf(option, each));
      throw new UsageError(`unknown option: ${formatFlag(name)}${formatSuggestion(formatFlag(name), known)}`);
    }
    if (spec.type === 'count') values.set(name, Number(values.get(name) ?? 0) + 1);
    else if (spec.type === 'boolean') values.set(name, value === undefined || value === 'true');
    else if (name !== 'completion') {
      if (value === undefined || (!inlineValue && /^-[^\d]/.test(value)))
        throw new UsageError(`missing value for option: ${name}`);
      const read = readValue(name, spec, rawName.startsWith('--') ? value : value.replace(/^=/, '')); // `-o=FILE`
      values.set(name, spec.array ? [...(values.get(name) as string[]), read] : read);
    }
  }
  const toProperty = (name: string) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()); // `keepGoing`
  return Object.fromEntries(Array.from(values, ([name, value]) => [toProperty(name), value]));
}

function readValue(name: string, { type, choices, coerce }: OptionSpec, value: string): string | number {
  // JavaScript would also accept `0x2`, `1e3` and `+5`.
  const number = /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(value) ? Number(value) : Number.NaN;
  if (coerce) return coerce(number);
  if (value === '') throw new UsageError(`${formatFlag(name)} is empty; is a variable unset?`);
  if (choices && !choices.includes(value))
    throw new UsageError(
      `invalid value for --${name}: '${value}'; it must be one of ${choices.join(', ')}${formatSuggestion(value, choices)}`,
    );
  if (type !== 'number') return value;
  if (!(number < Number.POSITIVE_INFINITY))
    throw new UsageError(`${formatFlag(name)} must be a decimal number of at least 0`);
  return number;
}

function addCommonOptions(own: OptionSpecs): OptionSpecs {
  const hasOwnV = Object.values(own).some(({ alias }) => alias === 'v'); // as in grep
  return {
    ...own,
    quiet: { alias: 'q', type: 'boolean', describe: 'print errors only, no warnings' },
    verbose: {
      ...(!hasOwnV && { alias: 'v' }),
      type: 'count',
      describe: `print more messages on stderr${'connect-timeout' in own ? '; -vv: also requests' : ''}`,
    },
    completion: {
      type: 'string',
      placeholder: 'SHELL',
      completions: Object.keys(SCRIPTS),
      describe: 'print a completion script for bash, zsh or fish',
    },
    version: { alias: 'V', type: 'boolean', describe: 'print the version' },
    help: { alias: 'h', type: 'boolean', describe: 'print this help' },
  };
}

/** Checks the number of operands. A surplus operand is not shown, because it may be a password. */
function requireOperands(operands: string[], usage: string): void {
  const wanted = usage.split(' ').filter(Boolean);
  if (operands.includes('')) throw new UsageError('an operand is empty; is a variable unset?');
  const missing = wanted.filter(operand => operand.startsWith('<'))[operands.length];
  if (missing) throw new UsageError(`missing operand: ${missing}`);
  if (operands[0] === '-' && wanted[0] === '<instance>')
    throw new UsageError('missing operand: <instance>; it comes before - (standard input)');
  if (!usage.includes('..') && operands.length > wanted.length)
    throw new UsageError(`too many operands: ${operands.length} given, ${wanted.length} accepted`);
}

/** The completion script for a shell; by default for the user's shell. @throws UsageError for an unknown shell */
function formatCompletionScript(
  { name, completedCommands }: ProgramDescription,
  shell: string,
  env: NodeJS.ProcessEnv,
): string {
  const own = basename(env['SHELL'] ?? '');
  const wanted = shell || (SCRIPTS[own] ? own : 'bash');
  const script = Object.hasOwn(SCRIPTS, wanted) ? SCRIPTS[wanted] : undefined;
  if (!script)
    throw new UsageError(
      `no completion script for ${wanted}; there are scripts for ${Object.keys(SCRIPTS).join(', ')}`,
    );
  const [command = ''] = name.split(' '); // `sqlpipe copy` is completed by the script of sqlpipe
  return script(command, completedCommands ?? command);
}

const WIDTH = 80;

const INDENT = 31;

/** Formats the help of a program with these options. @param columns the width of the terminal, if there is one */
function formatHelp({ name, operands, summary, examples }: ProgramDescription, options: OptionSpecs, columns = WIDTH) {
  const width = Math.min(WIDTH, columns || WIDTH);
  const groups = new Map<string, string[]>();
  for (const [option, spec] of Object.entries(options))
    for (const line of formatOption(option, spec, width)) addToList(groups, spec.group ?? 'Options:', line);
  const isLast = (group: string) => Number(group === CONNECTION_GROUP);
  const ordered = [...groups].sort(([a], [b]) => isLast(a) - isLast(b));
  return [
    `Usage: ${name} [options] ${operands}`.trimEnd(),
    '',
    ...summary.split('\n').flatMap(line => (line.length > width ? wrap(line, width) : line)),
    ...ordered.flatMap(([group, lines]) => ['', group, ...lines]),
    '',
    'Examples:',
    ...examples.flatMap(([line, effect]) => [`  ${line}`, `        ${effect}`]),
  ].join('\n');
}

/** `  -o, --output FILE           write this file`, on several lines if it is long. */
function formatOption(option: string, spec: OptionSpec, width: number): string[] {
  const { alias, type, choices, placeholder = 'FILE', describe = '', default: given } = spec;
  const takesValue = choices || type === 'string' || type === 'number';
  const value = takesValue ? ` ${choices?.join('|') ?? placeholder}` : '';
  const head = `  ${alias ? `-${alias}, ` : '    '}--${option}${value}`;
  const hasDefault = typeof given === 'string' || typeof given === 'number';
  const [first = '', ...rest] = wrap(hasDefault ? `${describe} (default: ${given})` : describe, width - INDENT);
  const below = rest.map(line => ' '.repeat(INDENT) + line);
  if (head.length < INDENT) return [head.padEnd(INDENT) + first, ...below];
  return [head, ' '.repeat(INDENT) + first, ...below];
}

function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) as string;
    if (line && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines;
}
