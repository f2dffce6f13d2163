/*! Adapts the tokens of a query to the grammar of @questdb/sql-parser. Syntax that only QuestDB accepts is left out or rewritten. */
import { TYPE_NAMES, withDepths } from '@sqlpipe/ddl/parser';
import { inlineWindows } from './windows.js';

export type Grammar = typeof import('./grammar.js');

export type GrammarToken = ReturnType<Grammar['tokenize']>['tokens'][number];

export const tokensForGrammar = (text: string, tokenize: Grammar['tokenize']): GrammarToken[] =>
  adaptTokens(inlineWindows(withDepths(tokensOfQuery(text, tokenize))), tokenize);

/** A view may be over SHOW TABLES, which is not a query in this grammar. */
function tokensOfQuery(text: string, tokenize: Grammar['tokenize']) {
  let { tokens } = tokenize(text);
  if (tokens.map(({ image }) => image.toLowerCase()).join(' ') === 'show tables')
    tokens = tokenize('select table_name::string as table_name from tables()').tokens;
  return tokens.map(token => {
    const { image, startOffset } = token;
    // In the bundles, the lexer reports only where a token begins.
    return { ...token, endOffset: startOffset + image.length - 1, text: image, start: startOffset };
  });
}

/**
 * - A comma before FROM, and the TOLERANCE of a join, are dropped. Only QuestDB accepts them.
 * - A number that the package's lexer splits becomes one token again.
 * - After an operator, `from (` calls a function, as any name would.
 * - In `SAMPLE BY h`, the interval has no number.
 * - `TIMESTAMP '2024'` becomes `'2024'::TIMESTAMP`.
 */
function adaptTokens<T extends GrammarToken & { readonly depth: number }>(
  tokens: readonly T[],
  tokenize: Grammar['tokenize'],
): T[] {
  const adapted: T[] = [];
  const joins: string[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const [token, next] = [tokens[i] as T, tokens[i + 1]];
    const [previous, beforePrevious, word] = [adapted.at(-1), adapted.at(-2), token.image.toLowerCase()];
    if (word === 'join') joins[token.depth] = previous?.image.toLowerCase() ?? '';
    const isInexact = /^(?:asof|lt)$/.test(joins[token.depth] ?? '');
    // The grammar would read TOLERANCE as an alias. It can be dropped, because it changes no column.
    if (isInexact && word === 'tolerance' && next?.tokenType.name === 'DurationLiteral') i++;
    else if (previous && isRestOfNumber(previous, token))
      adapted[adapted.length - 1] = { ...previous, image: previous.image + token.image, endOffset: endOf(token) };
    else if (word === 'from' && next?.image === '(' && isOperator(previous, beforePrevious))
      adapted.push(withTypeOf('name', token, tokenize));
    else if (TYPE_NAMES.has(word) && next?.tokenType.name === 'StringLiteral' && previous?.image !== '::') {
      adapted.push(next, { ...withTypeOf('::', token, tokenize), image: '::' }, token);
      i++;
    } else if (/^[a-z]$/.test(word) && /^sample by$/i.test(`${beforePrevious?.image} ${previous?.image}`))
      adapted.push(withTypeOf('1h', token, tokenize));
    else if (!(word === ',' && next?.image.toLowerCase() === 'from')) adapted.push(token);
  }
  return adapted;
}

/** The token with the type of another text. */
function withTypeOf<T extends GrammarToken>(text: string, token: T, tokenize: Grammar['tokenize']): T {
  const [{ tokenType, tokenTypeIdx } = token] = tokenize(text).tokens;
  return { ...token, tokenType, tokenTypeIdx };
}

/** A star is an operator unless it stands for all columns. */
export const isOperator = (token: GrammarToken | undefined, before: GrammarToken | undefined): boolean =>
  /^[-+/%]$/.test(token?.image ?? '') ||
  (token?.image === '*' && before !== undefined && !/^(?:select|distinct|[,.(])$/i.test(before.image));

export const endOf = (token: GrammarToken): number => token.endOffset ?? token.startOffset;

const isRestOfNumber = (number: GrammarToken, token: GrammarToken): boolean =>
  token.startOffset === endOf(number) + 1 &&
  ((/^[df]$/i.test(token.image) && /^\.?\d[\d._]*$/.test(number.image)) ||
    (number.image === '0' && /^x(?:[\da-f]{2})+$/i.test(token.image)));
