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
 * Reads the comments of a CREATE statement that begin with `-- renam`. Several names are separated by commas.
 * - Before the first token or after the last one, or on the line of the name or of the parenthesis after it, a comment is about the object.
 * - On the line of a table's column, or on a line of its own above it, it is about the column.
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

/** Parses the names in `-- renamed from qty, "a b"`. A comma at the end belongs to the column list, and no name follows it. */
function parseNames(comment: string): string[] {
  const [, list = ''] = /^--\s*renamed\s+from\s+(.*)$/is.exec(comment.trim()) ?? [];
  const parts = [...significantTokens(list.replace(/,\s*$/, ''))];
  const isList = parts.every(({ type, text }, i) => (i % 2 === 0 ? type !== 'sign' : text === ','));
  return isList && parts.length % 2 === 1 ? parts.filter((_, i) => i % 2 === 0).map(({ text }) => unquote(text)) : [];
}
