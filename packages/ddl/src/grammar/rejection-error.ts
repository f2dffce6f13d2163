/*! The rejection of a statement: the server's message, and the position in the text that the message is about. */
import type { ObjectKind } from '@sqlpipe/sql';

/** The statement is rejected. `position` counts UTF-16 code units from the start of the statement. */
export class RejectionError extends Error {
  override name = 'RejectionError';
  readonly code: string = 'REJECTED';

  constructor(
    readonly position: number,
    message: string,
  ) {
    super(message);
  }
}

/** The rejection of a token that is not allowed in its position. */
export const unexpectedTokenError = (position: number, token: string) =>
  new RejectionError(position, `unexpected token [${token}]`);

/** The rejection of an invalid token, in the form of the server's messages. */
export const tokenError = (position: number, token: string, problem: string) =>
  new RejectionError(position, `found [tok='${token}', len=${token.length}] ${problem}`);

/** The rejection of the name of an object that does not exist. */
export const missingError = (position: number, name: string, kind: ObjectKind = 'table') =>
  new RejectionError(position, `${kind} does not exist [${kind === 'table' ? 'table' : 'view'}=${name}]`);

/** What a function returns, or the rejection that it throws. */
export function orRejection<T>(run: () => T): T | RejectionError {
  try {
    return run();
  } catch (error) {
    if (error instanceof RejectionError) return error;
    throw error;
  }
}

/** What a function returns; undefined if it throws a rejection. */
export function unlessRejected<T>(run: () => T): T | undefined {
  const result = orRejection(run);
  return result instanceof RejectionError ? undefined : result;
}
