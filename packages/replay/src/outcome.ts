import type { StatementComparison } from '@sqlpipe/ddl';
import type { LocatedStatement } from '@sqlpipe/files';
import type { Consequence } from '@sqlpipe/schema';
import type { Identity } from '@sqlpipe/sql';

/**
 * The result of a statement; the man page has the table. `skipped`: the target has it already. `unknown`: sent, and no
 * reply came that settles it. `not reached`: never sent. `would create`, `would replace` and `would send` are a dry run's;
 * `would send` where there is nothing to compare with.
 */
export type Result =
  | 'applied'
  | 'skipped'
  | 'differs'
  | 'rejected'
  | 'unknown'
  | 'failed'
  | 'not reached'
  | 'would create'
  | 'would replace'
  | 'would send';

/** Where a statement is. */
export type Location = Omit<LocatedStatement, 'statement'>;

/** A statement and its result. */
export interface Outcome {
  /** Its number in the stream, from 1. */
  n: number;
  statement: string;
  /** Where it is, if it is in a file. */
  location?: Location;
  identity: Identity;
  result: Result;
  /** The error message of the server, or ours. */
  error?: string;
  /** Index into the statement that the error points at, in UTF-16 code units. */
  position?: number;
  /** Whether the error is a matter of permission. */
  denied?: boolean;
  /** For `rejected`: that the server has one of the name, which was not or can not be compared. */
  exists?: boolean;
  /** How it compares with what the target has, where they were compared. */
  comparison?: StatementComparison;
  /** For `applied`: whether the target's definition, read back, is the statement's in all that it says. */
  proven?: boolean;
  /** For `applied` and `would replace`: how the definition differs that CREATE OR REPLACE puts another in the place of. */
  replaced?: Partial<Outcome>;
  /** In a dry run: what the statement would do beside what it says. */
  consequences?: readonly Consequence[];
  /** In a dry run: whether it would lose what nobody has allowed to be lost. */
  breaks?: boolean | undefined;
  /** A failure of the instance, which ends the run. */
  failure?: Error;
  /** Milliseconds it took, with its reply. */
  ms: number;
}

/** Whether the statement is not in force on the target as it should be, and belongs among the rejects. */
export const isReject = ({ result }: Outcome): boolean =>
  ['differs', 'rejected', 'unknown', 'failed', 'not reached'].includes(result);
