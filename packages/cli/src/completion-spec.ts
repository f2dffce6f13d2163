/*! A program as a shell has to know it to complete its command line. */

/** An option. */
export interface Flag {
  /** As they are typed: `--output`, `-o`. */
  names: string[];
  /** What it does; one line. */
  describe: string;
  /**
   * What its value is, if it has one: one of these, some of these with commas between them, a number, an instance, or
   * text, which may be the name of a file.
   */
  value?: readonly string[] | { list: readonly string[] } | 'number' | 'instance' | 'text';
}

/** What operands can be. */
export type OperandType = 'instances' | 'files';

/** A program. */
export interface CompletionSpec {
  name: string;
  flags: Flag[];
  operands: readonly OperandType[];
}

/** A shell command that prints the names of instances, each with a tab and its address. */
export const LIST_INSTANCES_COMMAND = 'sqldump --list-instances 2>/dev/null';
