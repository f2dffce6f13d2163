import { CodedError, type ErrorCode } from '@sqlpipe/text';

/** The exit statuses of results, of a bug, and of errors by their codes (sysexits(3)). */
export const Exit = {
  ok: 0,
  negative: 1,
  REJECTED: 1,
  USAGE: 64,
  DAMAGED: 65,
  NOINPUT: 66,
  UNREACHABLE: 69,
  bug: 70,
  IO: 74,
  PROTOCOL: 76,
  DENIED: 77,
  CONFIG: 78,
} as const satisfies Record<ErrorCode | 'ok' | 'negative' | 'bug', number>;

/** Wrong usage of a program, also if the option parser cannot detect it. */
export class UsageError extends CodedError {
  override name = 'UsageError';

  constructor(message: string) {
    super('USAGE', message);
  }
}

/** An error, and those that caused it. The properties are those of any of our errors. */
export function* causesOf(error: unknown): Generator<Error & Partial<CodedError> & { printedReason?: string }> {
  for (let each = error; each instanceof Error; each = each.cause) yield each;
}

/** The exit status for an error, by its `code`. Any other system error is a failed local read or write; every other error is a bug. */
export function exitStatus(error: unknown): number {
  const { code, syscall } = error as NodeJS.ErrnoException; // not `instanceof`: each bundle has a class of its own
  return Exit[code as ErrorCode] ?? (syscall ? Exit.IO : Exit.bug);
}
