/*! Shorter forms of a statement, and the form of a column in one. */
import { joinTokens, significantTokens } from '@sqlpipe/sql';

/** A statement from its first token on. */
export const withoutComments = (statement: string): string => {
  const [first] = significantTokens(statement);
  return statement.slice(first?.start);
};

/** A column in a query. */
export const doubleQuote = (name: string): string => `"${name}"`;

/** A statement on one line, for a list: without its comments, and with one space where there was any. */
export const printOnOneLine = (statement: string): string => joinTokens(significantTokens(statement.replace(/;$/, '')));
