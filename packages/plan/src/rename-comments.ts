/*! Parses the comments in a schema that state renames: `-- renamed from qty`. */
import { identify, keywordOf, significantTokens, type Token, tokens, unquote } from '@sqlpipe/sql';

/** A comment about the former names of an object or a column of A. */
export interface RenameComment {
  /** The column; undefined if the comment is about the object. */
  readonly column: string | undefined;
  /** The former names; empty if the comment cannot be understood. */
  readonly from: readonly string[];
  /** The comment as written. */
  readonly text: string;
}

const RENAMED = /^--\s*renam/i;

/**
 * Reads the comments of a CREATE statement that begin with `-- renam`. Several names are separated by commas.
 * - Before the first token or after the last one, a comment is about the object.
 * - On the line of a table's column, or on a line of its own above it, it is about the column.
 */
export function parseRenameComments(statement: string): RenameComment[] {
  if (!/--\s*renam/i.test(statement)) return [];
  const comments: RenameComment[] = [];
  const columns = identify(statement).kind === 'table' ? new ColumnNames() : undefined;
  /** Comments on lines of their own: they are about the next column. */
  let above: Omit<RenameComment, 'column'>[] = [];
  /** Comments after the last token so far: at the end of the statement they are about the object. */
  let trailing: Omit<RenameComment, 'column'>[] = [];
  let [hasBegun, isLineEmpty] = [false, true];
  for (const token of tokens(statement)) {
    if (token.type === 'comment' && RENAMED.test(token.text)) {
      const comment = { from: parseNames(token.text), text: token.text.trim() };
      if (!hasBegun) comments.push({ column: undefined, ...comment });
      else if (columns?.last !== undefined && !isLineEmpty) comments.push({ column: columns.last, ...comment });
      else {
        if (isLineEmpty) above.push(comment);
        trailing.push(comment);
      }
    } else if (token.type !== 'comment' && token.type !== 'space') {
      [hasBegun, isLineEmpty] = [true, false];
      if (token.text !== ';') trailing = [];
      if (!columns?.read(token)) continue;
      comments.push(...above.map(comment => ({ column: columns.last, ...comment })));
      above = [];
    }
    if (token.type === 'comment' || token.type === 'space') isLineEmpty ||= token.text.includes('\n');
  }
  return [...comments, ...trailing.map(comment => ({ column: undefined, ...comment }))];
}

/** Reads the tokens of a CREATE TABLE, and knows to which column they belong. */
class ColumnNames {
  /** The name of the last column that has begun; undefined before and after the list of columns. */
  last: string | undefined;
  #depth = 0;
  #isNameNext = false;
  #isListOver = false;
  #previous: Token | undefined;

  /** @returns whether the token is the name of a column */
  read(token: Token): boolean {
    const isName = this.#isNameNext;
    if (isName) this.last = unquote(token.text);
    this.#isNameNext = false;
    if (token.text === '(' && ++this.#depth === 1 && !this.#isListOver)
      this.#isNameNext = keywordOf(this.#previous) !== 'AS';
    if (token.text === ',' && this.#depth === 1 && !this.#isListOver) this.#isNameNext = true;
    if (token.text === ')' && --this.#depth === 0) this.#isListOver = true;
    if (this.#isListOver) this.last = undefined;
    this.#previous = token;
    return isName;
  }
}

/** The names in `-- renamed from qty, "a b"`. A comma at the end is that of the column list, and no name follows it. */
function parseNames(comment: string): string[] {
  const [, list = ''] = /^--\s*renamed\s+from\s+(.*)$/is.exec(comment.trim()) ?? [];
  const parts = [...significantTokens(list.replace(/,\s*$/, ''))];
  const isList = parts.every(({ type, text }, i) => (i % 2 === 0 ? type !== 'sign' : text === ','));
  return isList && parts.length % 2 === 1 ? parts.filter((_, i) => i % 2 === 0).map(({ text }) => unquote(text)) : [];
}
