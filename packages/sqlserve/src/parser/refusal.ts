/*! A refused statement: the service's words and the place in the text, which together are the reply. */

/** The statement is refused. `position` counts UTF-16 code units from the start of the statement. */
export class Refusal extends Error {
  readonly code: string = 'REFUSED';

  constructor(
    readonly position: number,
    message: string,
  ) {
    super(message);
  }
}

/** The caller may not. The service says so with 403. */
export class Denial extends Refusal {
  override readonly code = 'DENIED';
}

/** A token that has no place there. */
export const unexpected = (position: number, token: string) => new Refusal(position, `unexpected token [${token}]`);

/** The service's form for a token that was looked at closely and found wanting. */
export const found = (position: number, token: string, problem: string) =>
  new Refusal(position, `found [tok='${token}', len=${token.length}] ${problem}`);
