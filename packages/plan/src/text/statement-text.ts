/*! Small parts of SQL text. */
import { joinTokens, significantTokens } from '@sqlpipe/sql';

/** Removes the comments before the first token of a statement. */
export const withoutComments = (statement: string): string => {
  const [first] = significantTokens(statement);
  return statement.slice(first?.start);
};

/** Chooses the start of the aliases in a question: no column of the question begins with it. */
export function chooseAliasPrefix(columns: readonly string[]): string {
  const lengths = columns.map(name => /^sqlpipe(_+)/i.exec(name)?.[1]?.length ?? 0);
  return `sqlpipe_${'_'.repeat(lengths.reduce((longest, length) => Math.max(longest, length), 0))}`;
}

export const doubleQuote = (name: string): string => `"${name}"`;

/** Prints a statement on one line, for a list: without comments, and with one space for any white space. */
export const printOnOneLine = (statement: string): string => joinTokens(significantTokens(statement.replace(/;$/, '')));
