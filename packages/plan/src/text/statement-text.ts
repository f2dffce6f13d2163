/*! Shorter forms of a statement. */
import { significantTokens } from '@sqlpipe/sql';

/** A statement from its first token on. */
export const withoutComments = (statement: string): string => {
  const [first] = significantTokens(statement);
  return statement.slice(first?.start);
};

/** A statement on one line, for a list. */
export const describe = (statement: string): string => statement.replace(/;$/, '').replace(/\s+/g, ' ');
