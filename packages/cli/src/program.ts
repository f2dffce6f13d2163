/*! What a program of the family is: the words of its command line, and its work. */
import type { ArgumentsCamelCase, Argv } from 'yargs';
import type { CompletionSpec, OperandType } from './completion-spec.js';
import type { Io } from './io.js';

/** A program of the family: the words of its command line, and its work. */
export interface Program<Options> {
  name: string;
  /** Each `<needed>`, `[optional]`, or `[any..]`, separated by blanks. */
  operands: string;
  /** What operands can be, for shells to complete; nothing unless given. */
  operandTypes?: readonly OperandType[];
  /** What the program does, in one sentence. */
  summary: string;
  /** Command lines for the foot of the help, each with what it does. */
  examples: readonly (readonly [line: string, effect: string])[];
  options(cli: Argv): Argv<Options>;
  /** What the values of options can be, for shells to complete: some of these words, or names of instances. */
  values?: Readonly<Record<string, readonly string[] | 'instances'>>;
  /** Makers of completion scripts by shell, in place of those that all programs share. */
  completions?: Readonly<Record<string, (program: CompletionSpec) => string>>;
  /** An option that does something else, and wants no operands. */
  standaloneOption?: string;
  /** Does the work and resolves to the exit status. What it throws is reported in one message. */
  run(args: Args<Options>, io: Io): Promise<number>;
}

/** The options by name (`keepGoing` for `--keep-going`) and the operands in order. */
export type Args<Options> = ArgumentsCamelCase<Options> & { operands: string[] };

/** What a program receives whose options this function declares. */
export type ArgsOf<Declare> = Declare extends (cli: never) => Argv<infer Options> ? Args<Options> : never;
