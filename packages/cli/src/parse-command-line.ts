/*! The only file that uses yargs. Operands are checked here, because yargs loses a `-` and what follows `--`. */
import { basename } from 'node:path';
import { addToList } from '@sqlpipe/sql';
import { formatSuggestion } from '@sqlpipe/text';
import yargs from 'yargs';
import { COMPLETE, flagsOf, formatFlag, listCompletions, SCRIPTS } from './completion.js';
import { UsageError } from './exit-status.js';
import type { Verbosity } from './io.js';
import type { ProcessLike } from './process-like.js';
import { type Args, CONNECTION_GROUP, type OptionSpec, type OptionSpecs, type Program } from './program.js';

/** The version of the package, inserted by the bundler. */
declare const VERSION: string;

/** Arguments to run with, or text to print instead: help, version, completions. */
type Parsed<Specs extends OptionSpecs> = Verbosity &
  ({ args: Args<Specs>; output?: undefined } | { args?: undefined; output: string });

type Values = Readonly<Record<string, unknown>> & { readonly _: readonly (string | number)[] };

/** @throws UsageError for an unknown option, a missing or surplus operand, or a value of the wrong type */
export function parseCommandLine<Specs extends OptionSpecs>(program: Program<Specs>, host: ProcessLike): Parsed<Specs> {
  const words = [...host.args];
  const specs = addCommonOptions(program.options);
  if (words[0] === COMPLETE) {
    const completions = program.completions?.() ?? listCompletions(words.slice(1), specs, program.operandTypes ?? []);
    return { quiet: false, verbose: 0, output: completions.map(word => `${word}\n`).join('') };
  }
  rejectPropertyNames(words, specs);
  const values: Values = createParser(specs).parseSync(words);
  const verbosity = { quiet: values['quiet'] === true, verbose: Number(values['verbose'] ?? 0) };
  const output = formatRequestedText(program, specs, values, host);
  if (output !== undefined) return { ...verbosity, output };
  const usage = program.standaloneOption && values[program.standaloneOption] ? '' : program.operands;
  const operands = requireOperands(values._.map(String), usage);
  return { ...verbosity, args: { ...takeLastValues(values, specs), operands } as unknown as Args<Specs> };
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
    version: { alias: 'V', type: 'boolean', skipValidation: true, describe: 'print the version' },
    help: { alias: 'h', type: 'boolean', skipValidation: true, describe: 'print this help' },
  };
}

const createParser = (specs: OptionSpecs) =>
  yargs()
    .help(false) // yargs' own help and version are words too: `sqlgrep help` would print the help
    .version(false)
    .locale('en')
    .parserConfiguration({
      'boolean-negation': false,
      'camel-case-expansion': false, // otherwise it reports an unknown option twice
      'dot-notation': false,
      'greedy-arrays': false,
      'parse-positional-numbers': false,
    })
    .options(Object.fromEntries(Object.entries(specs).map(([option, spec]) => [option, toYargsOption(spec)])))
    .strictOptions()
    .fail(message => {
      throw new UsageError(formatParseError(message, specs));
    });

/**
 * yargs accepts `0x2`, `1e3` and `+5` as numbers. So it reads numbers as text, of which only decimal ones are converted. It takes a word
 * `true` or `false` after a flag for the value of the flag, unless the flag accepts no word.
 */
function toYargsOption(spec: OptionSpec): OptionSpec {
  if (spec.type === 'boolean') return { ...spec, nargs: 0 };
  if (spec.type !== 'number') return spec;
  const { coerce = (value: unknown) => value } = spec;
  const toDecimal = (text: string) => (/^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN);
  const toNumber = (given: unknown) => (typeof given === 'string' && given !== '' ? toDecimal(given) : given);
  return { ...spec, type: 'string', coerce: given => coerce([given].flat().map(toNumber)) };
}

function formatRequestedText(program: Program<OptionSpecs>, specs: OptionSpecs, values: Values, host: ProcessLike) {
  const { name } = program;
  const { help, version, completion } = values;
  if (help) return `${formatHelp(program, specs, host.stdout.columns)}\n`;
  if (version) return `${name.startsWith('sqlpipe') ? 'sqlpipe' : `${name} (sqlpipe)`} ${VERSION}\n`;
  return completion === undefined ? undefined : formatCompletionScript(program, String(completion), host.env);
}

/** Rejects options such as `--toString`: yargs looks options up in plain objects, which have properties of that name. */
function rejectPropertyNames(words: string[], specs: OptionSpecs): void {
  const options = words.slice(0, words.includes('--') ? words.indexOf('--') : undefined);
  for (const [, name = ''] of options.map(word => /^--?([^=]*)/.exec(word) ?? []))
    if (name in Object.prototype) throw new UsageError(formatUnknownOption(name, specs));
}

/** Rewords a message of yargs, with a suggestion. Only the first unknown option is named: in `-pSECRET` each letter is an option. */
function formatParseError(message: string, specs: OptionSpecs): string {
  const [, option] = /^Unknown arguments?: ([^,]*)/.exec(message) ?? [];
  if (option !== undefined) return formatUnknownOption(option, specs);
  const [, incomplete] = /^Not enough arguments following: (.*)/.exec(message) ?? [];
  if (incomplete !== undefined) return `missing value for option: ${incomplete}`;
  const [, name = '', value] = /^Invalid values:\s+Argument: (.*), Given: "(.*)", Choices: /m.exec(message) ?? [];
  const choices = specs[name]?.choices?.map(String);
  if (value === undefined || !choices) return message;
  return `invalid value for --${name}: '${value}'; it must be one of ${choices.join(', ')}${formatSuggestion(value, choices)}`;
}

function formatUnknownOption(option: string, specs: OptionSpecs): string {
  const known = Object.entries(specs).flatMap(([name, spec]) => flagsOf(name, spec));
  return `unknown option: ${formatFlag(option)}${formatSuggestion(formatFlag(option), known)}`;
}

/** Takes the last value of a repeated option, as curl does, unless the option accepts several. */
function takeLastValues(values: Values, specs: OptionSpecs): object {
  const given = Object.entries(specs).filter(([option]) => option in values);
  return Object.fromEntries(
    given.map(([option, { array }]) => {
      const value = Array.isArray(values[option]) && !array ? values[option].at(-1) : values[option];
      if (typeof value === 'number' && !(value >= 0 && value < Number.POSITIVE_INFINITY))
        throw new UsageError(`${formatFlag(option)} must be a decimal number of at least 0`);
      if (value === '' || (Array.isArray(value) && value.includes('')))
        throw new UsageError(`${formatFlag(option)} is empty; is a variable unset?`);
      const property = option.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()); // `keepGoing`
      return [property, value];
    }),
  );
}

/** Checks the number of operands. A surplus operand is not shown, because it may be a password. */
function requireOperands(operands: string[], usage: string): string[] {
  const wanted = usage.split(' ').filter(Boolean);
  if (operands.includes('')) throw new UsageError('an operand is empty; is a variable unset?');
  const missing = wanted.filter(operand => operand.startsWith('<'))[operands.length];
  if (missing) throw new UsageError(`missing operand: ${missing}`);
  if (operands[0] === '-' && wanted[0] === '<instance>')
    throw new UsageError('missing operand: <instance>; it comes before - (standard input)');
  if (!usage.includes('..') && operands.length > wanted.length)
    throw new UsageError(`too many operands: ${operands.length} given, ${wanted.length} accepted`);
  return operands;
}

/** The completion script for a shell; by default for the user's shell. @throws UsageError for an unknown shell */
function formatCompletionScript(program: Program<OptionSpecs>, shell: string, env: NodeJS.ProcessEnv): string {
  const own = basename(env['SHELL'] ?? '');
  const wanted = shell || (SCRIPTS[own] ? own : 'bash');
  const script = Object.hasOwn(SCRIPTS, wanted) ? SCRIPTS[wanted] : undefined;
  if (!script)
    throw new UsageError(
      `no completion script for ${wanted}; there are scripts for ${Object.keys(SCRIPTS).join(', ')}`,
    );
  const [command = ''] = program.name.split(' '); // `sqlpipe copy` is completed by the script of sqlpipe
  return script(command, program.completedCommands ?? command);
}

const WIDTH = 80;

const INDENT = 31;

/** Formats the help of a program with these options. @param columns the width of the terminal, if there is one */
function formatHelp({ name, operands, summary, examples }: Program<OptionSpecs>, specs: OptionSpecs, columns = WIDTH) {
  const width = Math.min(WIDTH, columns || WIDTH);
  const groups = new Map<string, string[]>();
  for (const [option, spec] of Object.entries(specs))
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
