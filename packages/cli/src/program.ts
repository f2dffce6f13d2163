import type { CompletionSpec, OperandType } from './completion.js';
import type { Io } from './io.js';

/** An option of the command line, with what the help shows and shells complete. */
export interface OptionSpec {
  /** By default a string. */
  readonly type?: 'boolean' | 'count' | 'number' | 'string';
  /** One letter. */
  readonly alias?: string;
  readonly describe?: string;
  /** The title above it in the help. */
  readonly group?: string;
  readonly default?: unknown;
  readonly choices?: readonly string[];
  /** Whether it may be given several times. Otherwise the last value counts. */
  readonly array?: boolean;
  /** Whether its value may be missing, and is empty then. */
  readonly isValueOptional?: boolean;
  /** Checks a value. @throws UsageError */
  check?(value: number): void;
  /** The placeholder for its value in the help; FILE by default. */
  readonly placeholder?: string;
  /** The values that shells complete, if they are not its choices: words, or the names of instances. */
  readonly completions?: readonly string[] | 'instances';
}

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
  /** Functions that write its completion scripts, by shell; by default those of all programs. */
  completions?: Readonly<Record<string, (program: CompletionSpec) => string>>;
  /** An option that replaces the work of the program, and needs no operands. */
  standaloneOption?: string;
  /** Does the work and resolves to the exit status. An error that it throws is reported in one message. */
  run(args: Args<Specs>, io: Io): Promise<number>;
}

export type ProgramDescription = Omit<Program<OptionSpecs>, 'run'>;

type ValueOf<Spec> = Spec extends { choices: readonly (infer Choice)[] }
  ? Choice
  : Spec extends { type: 'boolean' }
    ? boolean
    : Spec extends { type: 'count' | 'number' }
      ? number
      : Spec extends { array: true }
        ? string[]
        : string;

type CamelCase<Name> = Name extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : Name;

/** The values of options by name (`keepGoing` for `--keep-going`) and the operands in order. */
export type Args<Specs extends OptionSpecs> = {
  [Name in keyof Specs as CamelCase<Name>]:
    | ValueOf<Specs[Name]>
    | (Specs[Name] extends { default: unknown } ? never : undefined);
} & { operands: string[] };
