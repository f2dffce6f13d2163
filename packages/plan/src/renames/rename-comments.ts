/*! Parses the comments in a schema that state renames: `-- renamed from qty`. */
import { locateColumns } from '@sqlpipe/ddl';
import { significantTokens, tokens, unquote } from '@sqlpipe/sql';

export interface RenameComment {
  /** Undefined if the comment is about the object. */
  readonly column: string | undefined;
  /** Empty if the comment cannot be understood. */
  readonly from: readonly string[];
  readonly text: string;
}

const RENAMED = /^--\s*renam/i;

/**
 * Reads the comments that begin with `-- renam`. Of these two, the first is about the table, the second about the column:
 *     CREATE TABLE trades ( -- renamed from deals, old_trades
 *       qty LONG -- renamed from amount
 * A comment about the object may also be before CREATE or after the last token. One about a column may be on a line of its own above it.
 */
export function parseRenameComments(statement: string): RenameComment[] {
  if (!/--\s*renam/i.test(statement)) return [];
  const comments: RenameComment[] = [];
  const { columns, end } = locateColumns(statement);
  const names = new Map(columns.map(({ name, start }) => [start, name]));
  let column: string | undefined;
  /** Comments on lines of their own are about the next column. */
  let above: Omit<RenameComment, 'column'>[] = [];
  /** Comments after the last token so far. At the end of the statement, they are about the object. */
  let trailing: Omit<RenameComment, 'column'>[] = [];
  let [hasBegun, isLineEmpty, isOpen, isInBody] = [false, true, false, false];
  for (const token of tokens(statement)) {
    if (token.type === 'comment' && RENAMED.test(token.text)) {
      const comment = { from: parseNames(token.text), text: token.text.trim() };
      if (!hasBegun || (!isInBody && !isLineEmpty)) comments.push({ column: undefined, ...comment });
      else if (column !== undefined && !isLineEmpty) comments.push({ column, ...comment });
      else {
        if (isLineEmpty) above.push(comment);
        trailing.push(comment);
      }
    } else if (token.type !== 'comment' && token.type !== 'space') {
      [hasBegun, isLineEmpty, isInBody] = [true, false, isOpen];
      isOpen ||= token.text === '(';
      if (token.text !== ';') trailing = [];
      if (token.start === end) column = undefined;
      const name = names.get(token.start);
      if (name === undefined) continue;
      column = name;
      for (const comment of above) comments.push({ column, ...comment });
      above = [];
    }
    if (token.type === 'comment' || token.type === 'space') isLineEmpty ||= token.text.includes('\n');
  }
  return [...comments, ...trailing.map(comment => ({ column: undefined, ...comment }))];
}

/** Parses the names in `-- renamed from qty, "a b"`. A comma at the end is that of the list of columns. */
function parseNames(comment: string): string[] {
  const [, list = ''] = /^--\s*renamed\s+from\s+(.*)$/is.exec(comment.trim()) ?? [];
  const parts = [...significantTokens(list.replace(/,\s*$/, ''))];
  const isList = parts.every(({ type, text }, i) => (i % 2 === 0 ? type !== 'punctuation' : text === ','));
  return isList && parts.length % 2 === 1 ? parts.filter((_, i) => i % 2 === 0).map(({ text }) => unquote(text)) : [];
}
