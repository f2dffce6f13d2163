import { type Finding, formatMessage } from './format-text.js';

interface ErrorDetails {
  readonly cause?: unknown;
  /** Further lines of the message: why, and what can be done. */
  readonly lines?: readonly string[];
  /** What the message says, with its places in files. */
  readonly findings?: readonly Finding[] | undefined;
}

/** A failure that its message explains. Its `code`, one of those in docs/API.md, decides the exit status of a program. */
export class CodedError extends Error {
  override name = 'CodedError';
  readonly findings: readonly Finding[] | undefined;
  /** Whether the message has several lines, each safe to show. */
  readonly hasLines: boolean;

  constructor(
    readonly code: string,
    message: string,
    { cause, lines, findings }: ErrorDetails = {},
  ) {
    super(lines ? formatMessage(message, lines) : message, { cause });
    this.findings = findings;
    this.hasLines = lines !== undefined;
  }
}
