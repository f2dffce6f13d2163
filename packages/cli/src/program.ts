/*! The interface of a program: its command line and its work. */
import type { ArgumentsCamelCase, Argv } from 'yargs';
import type { CompletionSpec, OperandType } from './completion-spec.js';
import type { Io } from './io.js';

/** A program: its command line and its work. */
export interface Program<Options> {
  name: string;
  /** The operands, separated by blanks: `<required>`, `[optional]`, or `[any..]` for any number. */
  operands: string;
  /** The types of operands that shells complete; none by default. */
  operandTypes?: readonly OperandType[];
  /** What the program does, in one sentence. */
  summary: string;
  /** Command lines for the end of the help, each with a description. */
  examples: readonly (readonly [line: string, effect: string])[];
  options(cli: Argv): Argv<Options>;
  /** The values of options that shells complete: a list of these words, or the names of instances. */
  values?: Readonly<Record<string, readonly string[] | 'instances'>>;
  /** Functions that write completion scripts, by shell, instead of those that all programs share. */
  completions?: Readonly<Record<string, (program: CompletionSpec) => string>>;
  /** An option that replaces the work of the program, and needs no operands. */
  standaloneOption?: string;
  /** Does the work and resolves to the exit status. An error that it throws is reported in one message. */
  run(args: Args<Options>, io: Io): Promise<number>;
}

/** The options by name (`keepGoing` for `--keep-going`) and the operands in order. */
export type Args<Options> = ArgumentsCamelCase<Options> & { operands: string[] };
