import type { Io } from './io.js';

/** An option: how it is read, what the help shows and what shells complete. */
export interface OptionSpec {
  readonly type?: 'boolean' | 'count' | 'number' | 'string';
  /** Another name, of one letter. */
  readonly alias?: string;
  /** Whether it may be given several times. Its default is an empty list then. */
  readonly array?: boolean;
  readonly default?: unknown;
  readonly choices?: readonly string[];
  readonly describe: string;
  /** The title above it in the help. */
  readonly group?: string;
  /** Checks a number, which is NaN if the value is none. @throws UsageError */
  coerce?(value: number): number;
  /** The placeholder for its value in the help; FILE by default. */
  readonly placeholder?: string;
  /** The values that shells complete, if they are not its choices: words, or the names of instances. */
  readonly completions?: readonly string[] | 'instances';
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

export type ProgramDescription = Omit<Program<OptionSpecs>, 'run'>;

type CamelCase<Name> = Name extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name;

type Value<Spec> = Spec extends { array: true }
  ? string[]
  : Spec extends { type: 'boolean' }
    ? boolean
    : Spec extends { type: 'number' }
      ? number
      : Spec extends { choices: readonly (infer Choice)[] }
        ? Choice
        : string;

/** The values of options by name (`keepGoing` for `--keep-going`) and the operands in order. */
export type Args<Specs extends OptionSpecs> = {
  [Name in keyof Specs as CamelCase<Name>]:
    | Value<Specs[Name]>
    | (Specs[Name] extends { default: unknown } ? never : undefined);
} & { operands: string[] };
