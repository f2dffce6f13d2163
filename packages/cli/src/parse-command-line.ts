/*!
 * Parses the command line; the only file that uses yargs. Operands are checked here, because yargs loses a `-` and what
 * follows `--`.
 */
import { basename } from 'node:path';
import { suggestWord } from '@sqlpipe/text';
import yargs, { type Argv } from 'yargs';
import { COMPLETIONS } from './completion.js';
import type { Flag } from './completion-spec.js';
import { UsageError } from './exit.js';
import { formatHelp, type HelpFlag } from './help.js';
import type { Verbosity } from './io.js';
import type { Args, Program } from './program.js';
import type { World } from './world.js';

/** The version of the package, inserted by the bundler. */
declare const VERSION: string;

/** Arguments to run with, or text to print instead: help, version, completions. */
export type Parsed<Options> = Verbosity &
  ({ args: Args<Options>; output?: undefined } | { args?: undefined; output: string });

/**
 * Parses the arguments of a program.
 * @throws UsageError for an unknown option, a missing or surplus operand, or a value of the wrong type
 */
export function parseCommandLine<Options>(program: Program<Options>, world: World): Parsed<Options> {
  const words = [...world.args];
  const cli = declareAllOptions(program);
  let parsed: Parsed<Options> | undefined;
  checkNames(words, cli);
  cli.parse(words, {}, (error, values) => {
    if (error) throw new UsageError(explainParseError(error.message, cli));
    const verbosity = { quiet: values['quiet'] === true, verbose: Number(values['verbose'] ?? 0) };
    const output = printInstead(program, cli, values, world);
    if (output !== undefined) parsed = { ...verbosity, output };
    else {
      const usage = program.standaloneOption && values[program.standaloneOption] ? '' : program.operands;
      const operands = checkOperands(values._.map(String), usage);
      parsed = { ...verbosity, args: { ...takeLastValues(values, cli), operands } as Args<Options> };
    }
  });
  return parsed as unknown as Parsed<Options>;
}

/** The text to print if an option requests one: help, version, completion. */
function printInstead<Options>(
  program: Program<Options>,
  cli: Argv<Options>,
  { help, version, completion }: Readonly<Record<string, unknown>>,
  { env, stdout }: World,
): string | undefined {
  const { name } = program;
  if (help) return `${formatHelp(program, helpFlagsOf(cli), stdout.columns)}\n`;
  if (version) return `${name.startsWith('sqlpipe') ? 'sqlpipe' : `${name} (sqlpipe)`} ${VERSION}\n`;
  return completion === undefined ? undefined : printCompletion(program, cli, String(completion), env);
}

/**
 * Rejects options such as `--toString`: yargs looks options up in plain objects, which have properties of that name.
 */
function checkNames(words: string[], cli: unknown): void {
  const options = words.slice(0, words.includes('--') ? words.indexOf('--') : undefined);
  for (const [, name = ''] of options.map(word => /^--?([^=]*)/.exec(word) ?? []))
    if (name in Object.prototype) throw new UsageError(unknownOption(name, cli));
}

/**
 * Rewords a message of yargs, with a suggestion. Only the first unknown option is named: in `-pSECRET` each letter is an
 * option.
 */
function explainParseError(message: string, cli: unknown): string {
  const [, option] = /^Unknown arguments?: ([^,]*)/.exec(message) ?? [];
  if (option !== undefined) return unknownOption(option, cli);
  const [, incomplete] = /^Not enough arguments following: (.*)/.exec(message) ?? [];
  if (incomplete !== undefined) return `missing value for option: ${incomplete}`;
  const [, name, value, list] = /^Invalid values:\s+Argument: (.*), Given: "(.*)", Choices: (.*)$/m.exec(message) ?? [];
  if (!name || value === undefined || !list) return message;
  const choices = list.match(/[^", ]+/g) ?? [];
  return `invalid value for --${name}: '${value}'; it must be one of ${choices.join(', ')}${suggestWord(value, choices)}`;
}

const unknownOption = (option: string, cli: unknown): string => {
  const { key } = optionsOf(cli);
  return `unknown option: ${formatFlag(option)}${suggestWord(formatFlag(option), Object.keys(key).map(formatFlag))}`;
};

/** The name of an option as a property: `keepGoing`. */
const camelCase = (name: string): string => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

function declareAllOptions<Options>({ name, options }: Program<Options>): Argv<Options> {
  // yargs' own help and version are words too: `sqlgrep help` would print the help.
  const own = options(yargs().help(false).version(false) as Argv<object>);
  const sendsRequests = Object.hasOwn(optionsOf(own).key, 'connect-timeout');
  const hasOwnV = Object.values(optionsOf(own).alias).flat().includes('v'); // as grep does
  return own
    .scriptName(name)
    .locale('en')
    .parserConfiguration({
      'boolean-negation': false,
      'camel-case-expansion': false, // otherwise it reports an unknown option twice
      'dot-notation': false,
      'greedy-arrays': false,
      'parse-positional-numbers': false,
    })
    .option('quiet', { alias: 'q', type: 'boolean', describe: 'print errors only, no warnings' })
    .option('verbose', {
      alias: hasOwnV ? [] : 'v',
      type: 'count',
      describe: `print more messages on stderr${sendsRequests ? '; -vv: also requests' : ''}`,
    })
    .option('completion', { type: 'string', describe: 'print a completion script for bash, zsh or fish' })
    .option('version', { alias: 'V', type: 'boolean', skipValidation: true, describe: 'print the version' })
    .option('help', { alias: 'h', type: 'boolean', skipValidation: true, describe: 'print this help' })
    .strictOptions()
    .showHelpOnFail(false)
    .exitProcess(false);
}

/** Takes the last value of a repeated option, as curl does, unless the option accepts several. */
function takeLastValues(values: object, cli: unknown): object {
  const { array: lists } = optionsOf(cli);
  const last = (option: string, value: unknown): unknown => {
    const one = Array.isArray(value) && !lists.includes(option) ? value.at(-1) : value;
    if (option !== '_') checkValue(option, one); // `_` contains the operands, which are checked elsewhere
    return one;
  };
  return Object.fromEntries(Object.entries(values).map(([option, value]) => [camelCase(option), last(option, value)]));
}

/** The properties of options that yargs stores but that its types do not include. */
const optionsOf = (cli: unknown) =>
  (
    cli as {
      getOptions(): {
        alias: Record<string, string[]>;
        array: string[];
        choices: Record<string, string[]>;
        key: Record<string, boolean>;
        default: Record<string, unknown>;
        number: string[];
        string: string[];
      };
    }
  ).getOptions();

/** Rejects a negative or infinite number, and an empty value, which an unset variable leaves. */
function checkValue(option: string, value: unknown): void {
  if (typeof value === 'number' && !(value >= 0 && value < Number.POSITIVE_INFINITY))
    throw new UsageError(`${formatFlag(option)} must be a number of at least 0`);
  if (value === '' || (Array.isArray(value) && value.includes('')))
    throw new UsageError(`${formatFlag(option)} is empty; is a variable unset?`);
}

/** An option as typed. */
const formatFlag = (option: string): string => (option.length > 1 ? `--${option}` : `-${option}`);

/** Checks the number of operands. A surplus operand is not shown, because it may be a password. */
function checkOperands(operands: string[], usage: string): string[] {
  const wanted = usage.split(' ').filter(Boolean);
  if (operands.includes('')) throw new UsageError('an operand is empty; is a variable unset?');
  const missing = wanted.filter(operand => operand.startsWith('<'))[operands.length];
  if (missing) throw new UsageError(`missing operand: ${missing}`);
  if (!usage.includes('..') && operands.length > wanted.length)
    throw new UsageError(`too many operands: ${operands.length} given, ${wanted.length} accepted`);
  return operands;
}

/** The completion script for a shell; by default for the user's shell. @throws UsageError for an unknown shell */
function printCompletion<Options>(
  program: Program<Options>,
  cli: Argv<Options>,
  shell: string,
  env: NodeJS.ProcessEnv,
): string {
  const { name, operandTypes = [], values = {}, completions = COMPLETIONS } = program;
  const own = basename(env['SHELL'] ?? '');
  const wanted = shell || (completions[own] ? own : 'bash');
  const script = Object.hasOwn(completions, wanted) ? completions[wanted] : undefined;
  if (!script)
    throw new UsageError(
      `no completion script for ${wanted}; there are scripts for ${Object.keys(completions).join(', ')}`,
    );
  return script({ name: name.replace(' ', '_'), operands: operandTypes, flags: flagsOf(cli, values) });
}

function flagsOf(cli: unknown, values: NonNullable<Program<never>['values']>): Flag[] {
  const { getUsageInstance } = (cli as { getInternalMethods(): { getUsageInstance(): Usage } }).getInternalMethods();
  return Object.entries(getUsageInstance().getDescriptions()).map(([option, describe = '']) => {
    const known = values[option];
    const value = known === 'instances' ? 'instance' : known ? { list: known } : valuesOf(cli, option);
    return {
      names: [option, ...(optionsOf(cli).alias[option] ?? [])].map(formatFlag),
      describe: describe.replace(/^__yargsString__:/, ''),
      ...(value && { value }),
    };
  });
}

/** The options with their defaults. */
const helpFlagsOf = (cli: unknown): HelpFlag[] =>
  flagsOf(cli, {}).map(flag => ({ ...flag, default: optionsOf(cli).default[flag.names[0]?.replace(/^--/, '') ?? ''] }));

function valuesOf(cli: unknown, option: string): Flag['value'] {
  const { choices, number, string } = optionsOf(cli);
  if (option === 'completion') return Object.keys(COMPLETIONS);
  if (choices[option]) return choices[option];
  return number.includes(option) ? 'number' : string.includes(option) ? 'text' : undefined;
}

interface Usage {
  getDescriptions(): Record<string, string | undefined>;
}
