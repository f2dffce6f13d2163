/*! Shortens statements, and quotes the columns in them. */
import { joinTokens, significantTokens } from '@sqlpipe/sql';

/** Removes the comments before the first token of a statement. */
export const withoutComments = (statement: string): string => {
  const [first] = significantTokens(statement);
  return statement.slice(first?.start);
};

export const doubleQuote = (name: string): string => `"${name}"`;

/** Prints a statement on one line, for a list: without comments, and with one space for any white space. */
export const printOnOneLine = (statement: string): string => joinTokens(significantTokens(statement.replace(/;$/, '')));
