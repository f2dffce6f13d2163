import { formatMessage } from './format-text.js';

/**
 * Why something failed:
 *
 * - `REJECTED`: the server rejected a statement or a query, or this library did before sending it.
 * - `DAMAGED`: input that is incomplete, not UTF-8, or not SQL; two statements that create different objects of one name; a
 *   view that is not valid.
 * - `NOINPUT`: no such file.
 * - `UNREACHABLE`: the server is unreachable or unavailable.
 * - `PROTOCOL`: the reply is not QuestDB's, such as a login page, or it is truncated.
 * - `DENIED`: wrong credentials, or no permission.
 * - `CONFIG`: an address or a credential that cannot be used.
 * - `USAGE`: options that cannot be combined, unknown names in options, or an argument of a wrong type.
 * - `IO`: a file that cannot be written, or a schema too large for memory.
 */
export type ErrorCode =
  | 'REJECTED'
  | 'DAMAGED'
  | 'NOINPUT'
  | 'UNREACHABLE'
  | 'PROTOCOL'
  | 'DENIED'
  | 'CONFIG'
  | 'USAGE'
  | 'IO';

/** A message, and the place in a file that it is about, if it is about one. */
export interface LocatedMessage {
  readonly path?: string | undefined;
  readonly line?: number | undefined;
  readonly message: string;
}

/** A failure that its message explains. Its `code` decides the exit status of a program. */
export class CodedError extends Error {
  override name = 'CodedError';
  /** The parts of the message, each with its place in a file. */
  readonly locatedMessages: readonly LocatedMessage[] | undefined;
  /** Whether the message has several lines, each safe to show. */
  readonly hasLines: boolean;

  /** @param lines further lines of the message: why, and what can be done */
  constructor(
    readonly code: ErrorCode,
    message: string,
    details: ErrorOptions & Partial<Pick<CodedError, 'locatedMessages'>> & { lines?: readonly string[] } = {},
  ) {
    const { cause, lines, locatedMessages } = details;
    super(lines ? formatMessage(message, lines) : message, { cause });
    this.locatedMessages = locatedMessages;
    this.hasLines = lines !== undefined;
  }
}
