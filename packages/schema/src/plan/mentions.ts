/*! Finds the columns that a query uses, from its tokens alone. */
import { tokenizeQuery } from '@sqlpipe/ddl';
import { foldCase, unquote } from '@sqlpipe/sql';

/** The tokens before an expression. A name after such a token is a column; after any other token it is an alias. */
const BEFORE_EXPRESSION = new Set(
  '( , . [ = == < > <= >= != <> ~ !~ + - * / % & | ^ || := select distinct where and or not by on in between case when then else like ilike within is from'.split(
    ' ',
  ),
);

/** What a query uses, as far as its text alone shows. */
export interface QueryMentions {
  /** Whether the query uses a column of this name. */
  mentions(column: string): boolean;
  /** Whether the query selects `*`. */
  readonly hasStar: boolean;
}

/** Reads a query once; the result can be checked for many columns. */
export function readMentions(query: string): QueryMentions {
  const tokens = tokenizeQuery(query).map(({ text }) => text);
  const used = new Set<string>();
  let hasStar = false;
  tokens.forEach((token, at) => {
    const before = tokens[at - 1]?.toLowerCase() ?? '';
    const after = tokens[at + 1];
    if (token === '*') hasStar ||= ['select', 'distinct', ',', '.'].includes(before);
    else if (BEFORE_EXPRESSION.has(before) && before !== 'from' && after !== '(') used.add(foldCase(unquote(token)));
  });
  return { mentions: column => used.has(foldCase(column)), hasStar };
}
