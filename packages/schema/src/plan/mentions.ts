/*! Whether a query uses a column, told from its tokens alone. */
import { tokenizeQuery } from '@sqlpipe/ddl';
import { foldCase, unquote } from '@sqlpipe/sql';

/** After these an expression comes, and a name in it is that of a column; after anything else it is an alias. */
const BEFORE_EXPRESSION = new Set(
  '( , . [ = == < > <= >= != <> ~ !~ + - * / % & | ^ || := select distinct where and or not by on in between case when then else like ilike within is from'.split(
    ' ',
  ),
);

/** What is known of a query without its tables. */
export interface QueryMentions {
  /** Whether a column of that name is used. */
  mentions(column: string): boolean;
  /** Whether it takes all columns of what it reads from. */
  readonly hasStar: boolean;
}

/** Reads a query once, to be asked about many columns. */
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
