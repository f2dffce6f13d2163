import { CodedError, type ErrorCode } from '@sqlpipe/text';

/** The exit statuses by meaning: 0 for success, 1 for a negative result, higher ones for failures (sysexits(3)). */
export const Exit = {
  ok: 0,
  negative: 1,
  usage: 64,
  damaged: 65,
  noInput: 66,
  unreachable: 69,
  bug: 70,
  io: 74,
  protocol: 76,
  denied: 77,
  config: 78,
} as const;

const STATUS_BY_CODE: Record<ErrorCode, number> = {
  REJECTED: Exit.negative,
  USAGE: Exit.usage,
  DAMAGED: Exit.damaged,
  NOINPUT: Exit.noInput,
  UNREACHABLE: Exit.unreachable,
  IO: Exit.io,
  PROTOCOL: Exit.protocol,
  DENIED: Exit.denied,
  CONFIG: Exit.config,
};

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
  return STATUS_BY_CODE[code as ErrorCode] ?? (syscall ? Exit.io : Exit.bug);
}
