/*! The description of a program that a shell needs to complete its command line. */

/** An option. */
export interface Flag {
  /** The names as typed: `--output`, `-o`. */
  names: string[];
  /** One line that says what the option does. */
  describe: string;
  /**
   * The type of its value, if it has one: one of several words, a list of such words separated by commas, a number, an
   * instance, or text, which may be the name of a file.
   */
  value?: readonly string[] | { list: readonly string[] } | 'number' | 'instance' | 'text';
}

/** The types of operands. */
export type OperandType = 'instances' | 'files';

/** A program. */
export interface CompletionSpec {
  /** `sqldump`; `sqlpipe_copy` for `sqlpipe copy`. */
  name: string;
  flags: Flag[];
  operands: readonly OperandType[];
}

/** A shell command that prints the names of instances, each with a tab and its address. */
export const LIST_INSTANCES_COMMAND = 'sqldump --list-instances 2>/dev/null';
