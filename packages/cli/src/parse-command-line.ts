import { basename } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { suggestWord } from '@sqlpipe/text';
import { COMPLETIONS, type Flag } from './completion.js';
import { UsageError } from './exit.js';
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
  const specs = addCommonOptions(program.options);
  const tokens = splitCommandLine(host.args, specs);
  const options = tokens.filter(token => token.kind === 'option');
  const asksFor = (name: string) => options.some(option => option.name === name);
  // Errors in other options do not matter to these two.
  const values = asksFor('help') || asksFor('version') ? {} : readOptions(options, specs);
  const verbosity = { quiet: values['quiet'] === true, verbose: Number(values['verbose'] ?? 0) };
  if (asksFor('help')) return { ...verbosity, output: `${formatHelp(program, specs, host.stdout.columns)}\n` };
  if (asksFor('version')) return { ...verbosity, output: `${formatVersion(program.name)}\n` };
  if (asksFor('completion'))
    return { ...verbosity, output: formatCompletion(program, specs, String(values['completion']), host.env) };
  const usage = program.standaloneOption && asksFor(program.standaloneOption) ? '' : program.operands;
  const operands = requireOperands(
    tokens.flatMap(token => (token.kind === 'positional' ? token.value : [])),
    usage,
  );
  return { ...verbosity, args: { ...values, operands } as unknown as Args<Specs> };
}

const formatVersion = (name: string): string =>
  `${name.startsWith('sqlpipe') ? 'sqlpipe' : `${name} (sqlpipe)`} ${VERSION}`;

function addCommonOptions(own: OptionSpecs): OptionSpecs {
  const isTaken = Object.values(own).some(({ alias }) => alias === 'v'); // as in grep
  return {
    ...own,
    quiet: { alias: 'q', type: 'boolean', describe: 'print errors only, no warnings' },
    verbose: {
      ...(!isTaken && { alias: 'v' }),
      type: 'count',
      describe: `print more messages on stderr${'connect-timeout' in own ? '; -vv: also requests' : ''}`,
    },
    completion: {
      type: 'string',
      isValueOptional: true,
      placeholder: 'SHELL',
      completions: Object.keys(COMPLETIONS),
      describe: 'print a completion script for bash, zsh or fish',
    },
    version: { alias: 'V', type: 'boolean', describe: 'print the version' },
    help: { alias: 'h', type: 'boolean', describe: 'print this help' },
  };
}

/** Node splits, and values are checked here, because Node's messages suggest nothing. */
function splitCommandLine(args: readonly string[], specs: OptionSpecs) {
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const [name, spec] of Object.entries(specs))
    options[name] = { type: takesValue(spec) ? 'string' : 'boolean', ...(spec.alias && { short: spec.alias }) };
  return parseArgs({ args: [...args], options, strict: false, tokens: true }).tokens;
}

const takesValue = ({ type }: OptionSpec): boolean => type !== 'boolean' && type !== 'count';

type GivenOption = Extract<ReturnType<typeof splitCommandLine>[number], { kind: 'option' }>;

/** The values by name, as in `keepGoing`. @throws UsageError */
function readOptions(given: readonly GivenOption[], specs: OptionSpecs): Record<string, unknown> {
  const values = new Map(Object.entries(specs).map(([name, spec]) => [name, spec.default]));
  for (const option of given) {
    const { name } = option;
    const spec = Object.hasOwn(specs, name) ? specs[name] : undefined;
    // Only the first unknown option is named: in `-pSECRET` each letter is an option.
    if (!spec) throw new UsageError(unknownOption(name, specs));
    const value = takesValue(spec) ? readValue(option, spec) : (option.value ?? 'true') === 'true';
    const before = values.get(name);
    if (spec.array) values.set(name, [...(before as unknown[]), value]);
    else values.set(name, spec.type === 'count' ? Number(before ?? 0) + 1 : value);
  }
  const toProperty = (name: string) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  const set = [...values].filter(([, value]) => value !== undefined);
  return Object.fromEntries(set.map(([name, value]) => [toProperty(name), value]));
}

function readValue({ name, rawName, value: given, inlineValue }: GivenOption, spec: OptionSpec): string | number {
  const isMissing = given === undefined || (!inlineValue && /^-\D/.test(given));
  if (isMissing && !spec.isValueOptional) throw new UsageError(`missing value for option: ${name}`);
  const value = rawName.startsWith('--') ? (given ?? '') : (given ?? '').replace(/^=/, '');
  if (value === '' && !spec.isValueOptional) throw new UsageError(`${formatFlag(name)} is empty; is a variable unset?`);
  if (spec.choices && !spec.choices.includes(value))
    throw new UsageError(
      `invalid value for --${name}: '${value}'; it must be one of ${spec.choices.join(', ')}${suggestWord(value, spec.choices)}`,
    );
  if (spec.type !== 'number') return value;
  const number = Number(value);
  spec.check?.(number);
  if (!(number >= 0 && number < Number.POSITIVE_INFINITY))
    throw new UsageError(`${formatFlag(name)} must be a number of at least 0`);
  return number;
}

function unknownOption(option: string, specs: OptionSpecs): string {
  const known = Object.entries(specs).flatMap(([name, spec]) => namesOf(name, spec));
  return `unknown option: ${formatFlag(option)}${suggestWord(formatFlag(option), known)}`;
}

const formatFlag = (option: string): string => (option.length > 1 ? `--${option}` : `-${option}`);

/** Checks the number of operands. A surplus operand is not shown, because it may be a password. */
function requireOperands(operands: string[], usage: string): string[] {
  const wanted = usage.split(' ').filter(Boolean);
  if (operands.includes('')) throw new UsageError('an operand is empty; is a variable unset?');
  const missing = wanted.filter(operand => operand.startsWith('<'))[operands.length];
  if (missing) throw new UsageError(`missing operand: ${missing}`);
  if (!usage.includes('..') && operands.length > wanted.length)
    throw new UsageError(`too many operands: ${operands.length} given, ${wanted.length} accepted`);
  return operands;
}

/** An option as it can be typed: `--output`, `-o`. */
const namesOf = (option: string, { alias }: OptionSpec): string[] =>
  [option, ...(alias ? [alias] : [])].map(formatFlag);

/** The completion script for a shell; by default for the user's shell. @throws UsageError for an unknown shell */
function formatCompletion(
  { name, operandTypes: operands = [], completions = COMPLETIONS }: ProgramDescription,
  specs: OptionSpecs,
  shell: string,
  env: NodeJS.ProcessEnv,
): string {
  const own = basename(env['SHELL'] ?? '');
  const wanted = shell || (completions[own] ? own : 'bash');
  const script = Object.hasOwn(completions, wanted) ? completions[wanted] : undefined;
  if (!script)
    throw new UsageError(
      `no completion script for ${wanted}; there are scripts for ${Object.keys(completions).join(', ')}`,
    );
  const flags = Object.entries(specs).map(([option, spec]): Flag => {
    const value = valuesOf(spec);
    return { names: namesOf(option, spec), describe: spec.describe ?? '', ...(value && { value }) };
  });
  return script({ name: name.replace(' ', '_'), operands, flags });
}

function valuesOf({ type, array, choices, completions }: OptionSpec): Flag['value'] {
  if (completions === 'instances') return 'instance';
  if (completions) return array ? { list: completions } : completions;
  if (choices) return choices;
  return type === 'number' ? 'number' : type === 'string' ? 'text' : undefined;
}

const WIDTH = 80;

const INDENT = 31;

/** Formats the help of a program with these options. @param columns the width of the terminal, if there is one */
function formatHelp({ name, operands, summary, examples }: ProgramDescription, options: OptionSpecs, columns = WIDTH) {
  const width = Math.min(WIDTH, columns || WIDTH);
  const groups = new Map<string, string[]>();
  for (const [option, spec] of Object.entries(options)) {
    const { group = 'Options:' } = spec;
    groups.set(group, [...(groups.get(group) ?? []), ...formatOption(option, spec, width)]);
  }
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
  const { alias, choices, placeholder = 'FILE', describe = '', default: given } = spec;
  const value = takesValue(spec) ? ` ${choices?.join('|') ?? placeholder}` : '';
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
