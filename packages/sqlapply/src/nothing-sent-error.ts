import { Exit, exitStatus } from '@sqlpipe/cli';
import { formatError } from '@sqlpipe/sql';
import { PreflightError } from './preflight.js';

/** A failure before the first statement was sent; its message says so. The exit status is that of its cause. */
export class NothingSentError extends Error {
  override name = 'NothingSentError';
  readonly code: string | undefined;

  constructor(cause: NodeJS.ErrnoException) {
    super(`${formatError(cause)}; nothing was sent`, { cause });
    this.code = exitStatus(cause) === Exit.io ? 'IO' : cause.code;
  }
}

/** Adds to an error that nothing was sent; not to a usage error, a bug, or an error that already says so. */
export function toNothingSentError(error: unknown): unknown {
  const isPlain = [Exit.usage, Exit.bug].some(status => status === exitStatus(error));
  return isPlain || error instanceof PreflightError ? error : new NothingSentError(error as NodeJS.ErrnoException);
}
