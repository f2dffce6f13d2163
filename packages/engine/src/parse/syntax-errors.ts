/*! What QuestDB says of a query that the grammar of @questdb/sql-parser rejects. */
import {
  type Body,
  catchRejection,
  RejectionError,
  rejectReserved,
  tokenError,
  unexpectedTokenError,
} from '@sqlpipe/ddl/parser';
import { endOf, type GrammarToken, isOperator } from './grammar-tokens.js';

/** Where a query is in its statement. */
export type QueryOrigin = Pick<Body, 'start' | 'isEnclosed'>;

/** @param bad the token that the grammar does not expect; undefined, or without a position, at the end */
export function toRejectionError(
  bad: GrammarToken | undefined,
  tokens: readonly GrammarToken[],
  text: string,
  { start: queryStart, isEnclosed }: QueryOrigin,
): RejectionError {
  if (!bad || Number.isNaN(bad.startOffset)) return endOfInputError(tokens, queryStart + text.trimEnd().length);
  const start = queryStart + bad.startOffset;
  const showEnd = findEndOfShow(tokens, bad);
  if (showEnd !== undefined) return new RejectionError(queryStart + showEnd, "')' expected");
  const preceding = tokensOfClause(tokens.filter(token => token.startOffset < bad.startOffset));
  const [last, beforeLast] = [preceding.at(-1)?.image.toLowerCase() ?? '', preceding.at(-3)?.image];
  const isOperandMissing = isOperator(preceding.at(-1), preceding.at(-2)) || BEFORE_OPERAND.test(last);
  const reserved =
    isOperandMissing && !/^limit$/i.test(bad.image) && catchRejection(() => rejectReserved(bad.image, start));
  if (reserved) return reserved;
  const expected = last === '[' && beforeLast === '::' ? "']' expected" : EXPECTED_AFTER.get(last);
  if (expected !== undefined) return new RejectionError(start, expected);
  if (bad.image === '.' && tokens.some(token => token.startOffset === bad.startOffset + 1 && token.image === '.'))
    return new RejectionError(start + 1, 'too many dots');
  const inSelectList =
    preceding[0]?.image.toLowerCase() === 'select' && !preceding.some(token => token.image.toLowerCase() === 'from');
  if (inSelectList && last === '*' && preceding.length === 2)
    return new RejectionError(start, 'wildcard cannot have alias');
  if (inSelectList && preceding.length > 2) return tokenError(start, bad.image, "',', 'from' or 'over' expected");
  return isEnclosed ? new RejectionError(start, "')' expected") : unexpectedTokenError(start, bad.image);
}

/** The tokens after the last parenthesis that is still open. */
function tokensOfClause(tokens: readonly GrammarToken[]): readonly GrammarToken[] {
  let depth = 0;
  const open = tokens.findLastIndex(({ image }) => {
    if (image === ')') depth++;
    return image === '(' && depth-- === 0;
  });
  return tokens.slice(open + 1);
}

/** The other operators and words after which QuestDB reads a reserved word as a name. */
const BEFORE_OPERAND = /^(?:[=<>~&|^]|[<>!]=|<>|!~|\|\||::|and|or|not|in|where|by)$/;

const EXPECTED_AFTER = new Map([
  ['sample', "'by' expected"],
  ['order', "'by' expected"],
  ['group', "'by' expected"],
  ['latest', "'on' or 'by' expected"],
]);

/** QuestDB ends a SHOW in parentheses at its parenthesis, and expects another one there. */
function findEndOfShow(tokens: readonly GrammarToken[], bad: GrammarToken): number | undefined {
  const start = tokens.findIndex(({ image }, i) => image === '(' && tokens[i + 1]?.image.toLowerCase() === 'show');
  const close = tokens.findIndex(({ image }, i) => i > start && image === ')');
  const closing = tokens[close];
  if (start < 0 || !closing || tokens.indexOf(bad) < start || bad.startOffset > closing.startOffset) return;
  return tokens[close + 1]?.startOffset ?? endOf(closing) + 1;
}

function endOfInputError(tokens: readonly GrammarToken[], position: number): RejectionError {
  const last = tokens.at(-1)?.image.toLowerCase();
  if (last === 'select') return new RejectionError(position, '[distinct] column expected');
  return new RejectionError(position, last === 'from' ? 'table name or sub-query expected' : 'Expression expected');
}
