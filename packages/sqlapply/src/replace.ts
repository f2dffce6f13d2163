import { describe, meaningful } from '@sqlpipe/sql';

/** The statement without OR REPLACE, which no server prints; any other as it is. */
export function withoutReplace(statement: string): string {
  if (!describe(statement).replaces) return statement;
  const [, or, , what] = meaningful(statement);
  return or && what ? statement.slice(0, or.start) + statement.slice(what.start) : statement;
}
