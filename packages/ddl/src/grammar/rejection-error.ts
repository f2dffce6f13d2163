/*! A rejected statement: the server's message and the position in the text, which make up the reply. */

/** The statement is rejected. `position` counts UTF-16 code units from the start of the statement. */
export class RejectionError extends Error {
  override name = 'RejectionError';
  readonly code: string = 'REFUSED';

  constructor(
    readonly position: number,
    message: string,
  ) {
    super(message);
  }
}

/** A token that has no place there. */
export const unexpectedTokenError = (position: number, token: string) =>
  new RejectionError(position, `unexpected token [${token}]`);

/** The server's form for a token that was looked at closely and found wanting. */
export const tokenError = (position: number, token: string, problem: string) =>
  new RejectionError(position, `found [tok='${token}', len=${token.length}] ${problem}`);
