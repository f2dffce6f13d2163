import type { ArgumentsCamelCase, InferredOptionTypes, Options } from 'yargs';
import type { Io } from './io.js';

/** The group of options that the help shows last. */
export const CONNECTION_GROUP = 'Connection options:';

/** An option as yargs declares it, with what the help shows and shells complete. */
export interface OptionSpec extends Options {
  /** The placeholder for its value in the help; FILE by default. */
  placeholder?: string;
  /** The values that shells complete, if they are not its choices: words, or the names of instances. */
  completions?: readonly string[] | 'instances';
}

export type OperandType = 'instances' | 'files';

/** Options by name. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

export interface Program<Specs extends OptionSpecs> {
  name: string;
  /** The operands, separated by blanks: `<required>`, `[optional]`, or `[any..]` for any number. */
  operands: string;
  /** The types of operands that shells complete; none by default. */
  operandTypes?: readonly OperandType[];
  /** What the program does, in one sentence. */
  summary: string;
  /** Command lines for the end of the help, each with a description. */
  examples: readonly (readonly [line: string, effect: string])[];
  /** Its own options; all programs share some more. */
  options: Specs;
  /** The commands that its completion script completes, separated by blanks; by default its own. */
  completedCommands?: string;
  /** What may replace the last argument, see `listCompletions`; undefined for its options and operands. */
  completions?(): string[] | undefined;
  /** An option that replaces the work of the program, and needs no operands. */
  standaloneOption?: string;
  /** Does the work and resolves to the exit status. An error that it throws is reported in one message. */
  run(args: Args<Specs>, io: Io): Promise<number>;
}

/** The values of options by name (`keepGoing` for `--keep-going`) and the operands in order. */
export type Args<Specs extends OptionSpecs> = ArgumentsCamelCase<InferredOptionTypes<Specs>> & { operands: string[] };
