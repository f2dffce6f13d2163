/*!
 * Parses a query with the grammar of @questdb/sql-parser. Its tokens are adapted first, because the grammar lacks some of QuestDB's syntax.
 * Rejections have QuestDB's messages and positions, so the positions of all nodes are recorded: the package's syntax tree has none.
 */
import type { SelectStatement } from '@questdb/sql-parser';
import {
  type Body,
  Cursor,
  catchRejection,
  expectOnlySemicolons,
  RejectionError,
  readCode,
  rejectReserved,
  TYPE_NAMES,
  tokenError,
  unexpectedTokenError,
  withDepths,
} from '@sqlpipe/ddl/parser';
import { NotReadyError } from '../errors.js';
import { inlineWindows } from './windows.js';

type Grammar = typeof import('./grammar.js');

type GrammarToken = ReturnType<Grammar['tokenize']>['tokens'][number];

type NestedToken = GrammarToken & { readonly depth: number };

export interface TreeNode {
  readonly type?: string;
}

export function childrenOf(node: object): TreeNode[] {
  return Object.values(node).flatMap((child: unknown) => {
    if (typeof child !== 'object' || child === null) return [];
    return Array.isArray(child) ? childrenOf(child) : child;
  });
}

/** A text that is not a query, as far as the grammar knows. */
export class QuerySyntaxError extends RejectionError {
  override name = 'QuerySyntaxError';
}

/** A query, and the positions of its parts in the statement. */
export type ParsedQuery = ReturnType<typeof parseQuery>;

interface Cst {
  readonly children: Readonly<Record<string, readonly (Cst | CstToken)[]>>;
}
interface CstToken {
  readonly image: string;
  readonly startOffset: number;
  readonly endOffset: number;
}

const isToken = (element: Cst | CstToken): element is CstToken => 'image' in element;

function tokensOf(element: Cst | CstToken): CstToken[] {
  return isToken(element) ? [element] : Object.values(element.children).flat().flatMap(tokensOf);
}

function spanOf(element: Cst | CstToken) {
  const tokens = tokensOf(element).sort((a, b) => a.startOffset - b.startOffset);
  return { start: tokens[0]?.startOffset ?? 0, end: (tokens.at(-1)?.endOffset ?? -1) + 1 };
}

let grammar: Grammar | undefined;

export function parseBody(body: Body): ParsedQuery {
  return parseQuery(body.code, body);
}

/** @throws RejectionError if it is not a query; NotReadyError */
export function parseQueryText(text: string): ParsedQuery {
  const cursor = new Cursor(text);
  const code = readCode(cursor, 0);
  expectOnlySemicolons(cursor);
  return parseQuery(code, { start: 0, isEnclosed: false });
}

/** A cache by text, because each change of a table compiles the views over this table again. */
const parsed = new Map<string, ReturnType<typeof parseByGrammar>>();

function parseQuery(text: string, origin: QueryOrigin) {
  const { select, spanOfNode } = parsed.get(text) ?? parseByGrammar(text, origin);
  /** QuestDB reports the position of a node's first token, of a binary expression's operator, or of a named part. */
  const positionOf = (node: object, part?: string) => origin.start + spanOfNode(node, part).start;
  return {
    select,
    start: origin.start,
    positionOf,
    rejection: (message: string, node: object, part?: string) => new RejectionError(positionOf(node, part), message),
    /** The text of a node or of a part of it. `operator` is a part of a binary expression. */
    text: (node: object, part?: string) => {
      const { start, end } = spanOfNode(node, part);
      return text.slice(start, end);
    },
  };
}

function parseByGrammar(text: string, origin: QueryOrigin) {
  if (!grammar)
    throw new NotReadyError(async () => {
      grammar = await import('./grammar.js');
    });
  const { parser, tokenize, visitor } = grammar;
  const tokens = tokensForGrammar(text, tokenize);
  parser.input = tokens;
  const first = tokens[0]?.image.toLowerCase();
  const isSelect = first === 'select' || first === 'declare';
  const rule = first === 'with' ? 'withStatement' : isSelect ? 'selectStatement' : 'implicitSelectStatement';
  let cst: unknown;
  try {
    cst = parser[rule]();
  } catch (error) {
    // The grammar recurses for each parenthesis, so thousands of them overflow the stack.
    if (error instanceof RangeError) throw new RejectionError(origin.start, 'SQL model is too complex');
    throw error;
  }
  const [error] = parser.errors;
  if (error) {
    const { position, message } = toRejectionError(error.token, tokens, text, origin);
    throw new QuerySyntaxError(position, message);
  }
  const query = makeSyntaxTree(visitor, cst as Cst);
  if (parsed.size === 1000) parsed.clear();
  parsed.set(text, query);
  return query;
}

/** Makes the syntax tree. Records from which part of the concrete syntax tree the package's visitor makes each node. */
function makeSyntaxTree(visitor: Grammar['visitor'], root: Cst) {
  const nodes = new WeakMap<object, Cst>();
  const operators = new WeakMap<object, CstToken>();
  const recordingVisitor: object = Object.create(visitor, { visit: { value: visit } });
  function visit(node: Cst | readonly Cst[]): unknown {
    const cst = Array.isArray(node) ? (node as readonly Cst[])[0] : (node as Cst);
    const result: unknown = visitor.visit.call(recordingVisitor as typeof visitor, node as never);
    if (!cst || typeof result !== 'object' || !result || nodes.has(result)) return result;
    nodes.set(result, cst);
    const tokens = Object.values(cst.children).flat().filter(isToken);
    // The grammar has one node for `a + b - c`, but the syntax tree has two. The node of the last operator is the outer one.
    let operand: { type?: string; left?: object } | undefined = result;
    for (const operator of tokens.sort((a, b) => b.startOffset - a.startOffset)) {
      if (operand?.type !== 'binary') break;
      operators.set(operand, operator);
      operand = operand.left;
    }
    return result;
  }
  const spanOfNode = (node: object, part?: string) => {
    const operator = part === undefined || part === 'operator' ? operators.get(node) : undefined;
    const cst = nodes.get(node);
    const element = operator ?? (part === undefined ? cst : cst?.children[part]?.[0]);
    return element ? spanOf(element) : { start: 0, end: 0 };
  };
  return { select: visit(root) as SelectStatement, spanOfNode };
}

function tokensForGrammar(text: string, tokenize: Grammar['tokenize']): GrammarToken[] {
  let { tokens } = tokenize(text);
  // A view may be over SHOW TABLES, which is not a query in this grammar.
  if (tokens.map(({ image }) => image.toLowerCase()).join(' ') === 'show tables')
    tokens = tokenize('select table_name::string as table_name from tables()').tokens;
  const placed = tokens.map(token => {
    const { image, startOffset: start } = token;
    // In the bundles, the lexer reports only where a token begins.
    return { ...token, endOffset: start + image.length - 1, text: image, start };
  });
  return adaptTokens(inlineWindows(withDepths(placed)), tokenize);
}

/**
 * - A comma before FROM, and the TOLERANCE of a join, are dropped. Only QuestDB accepts them.
 * - A number that the package's lexer splits becomes one token again.
 * - After an operator, `from (` calls a function, as any name would.
 * - In `SAMPLE BY h`, the interval has no number.
 * - `TIMESTAMP '2024'` becomes `'2024'::TIMESTAMP`.
 */
function adaptTokens(tokens: readonly NestedToken[], tokenize: Grammar['tokenize']): GrammarToken[] {
  const adapted: GrammarToken[] = [];
  const joins: string[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const [token, next] = [tokens[i] as NestedToken, tokens[i + 1]];
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
function withTypeOf(text: string, token: GrammarToken, tokenize: Grammar['tokenize']): GrammarToken {
  const [{ tokenType, tokenTypeIdx } = token] = tokenize(text).tokens;
  return { ...token, tokenType, tokenTypeIdx };
}

/** A star is an operator unless it stands for all columns. */
const isOperator = (token: GrammarToken | undefined, before: GrammarToken | undefined): boolean =>
  /^[-+/%]$/.test(token?.image ?? '') ||
  (token?.image === '*' && before !== undefined && !/^(?:select|distinct|[,.(])$/i.test(before.image));

const endOf = (token: GrammarToken): number => token.endOffset ?? token.startOffset;

const isRestOfNumber = (number: GrammarToken, token: GrammarToken): boolean =>
  token.startOffset === endOf(number) + 1 &&
  ((/^[df]$/i.test(token.image) && /^\.?\d[\d._]*$/.test(number.image)) ||
    (number.image === '0' && /^x(?:[\da-f]{2})+$/i.test(token.image)));

/** Where a query is in its statement. */
type QueryOrigin = Pick<Body, 'start' | 'isEnclosed'>;

/** @param bad the token that the grammar does not expect; undefined, or without a position, at the end */
function toRejectionError(
  bad: GrammarToken | undefined,
  tokens: readonly GrammarToken[],
  text: string,
  { start: queryStart, isEnclosed }: QueryOrigin,
): RejectionError {
  if (!bad || Number.isNaN(bad.startOffset)) {
    const expected = EXPECTED_AT_END.get(tokens.at(-1)?.image.toLowerCase() ?? '') ?? 'Expression expected';
    return new RejectionError(queryStart + text.trimEnd().length, expected);
  }
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

const EXPECTED_AT_END = new Map([
  ['select', '[distinct] column expected'],
  ['from', 'table name or sub-query expected'],
]);

/** QuestDB ends a SHOW in parentheses at its parenthesis, and expects another one there. */
function findEndOfShow(tokens: readonly GrammarToken[], bad: GrammarToken): number | undefined {
  const start = tokens.findIndex(({ image }, i) => image === '(' && tokens[i + 1]?.image.toLowerCase() === 'show');
  const close = tokens.findIndex(({ image }, i) => i > start && image === ')');
  const closing = tokens[close];
  if (start < 0 || !closing || tokens.indexOf(bad) < start || bad.startOffset > closing.startOffset) return;
  return tokens[close + 1]?.startOffset ?? endOf(closing) + 1;
}
