/*!
 * Parses a query with the grammar of @questdb/sql-parser. Records the positions of its parts, because rejections need them and the
 * package's syntax tree has none.
 */
import type { SelectStatement } from '@questdb/sql-parser';
import { withDepths } from '@sqlpipe/ddl';
import {
  type Body,
  Cursor,
  orRejection,
  RejectionError,
  readCode,
  rejectReserved,
  tokenError,
  unexpectedTokenError,
} from '@sqlpipe/ddl/parser';
import { NotReadyError } from '../not-ready.js';
import { inlineWindows } from './windows.js';

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
export interface ParsedQuery {
  readonly select: SelectStatement;
  readonly position: number;
  /** QuestDB reports the position of a node's first token, of a binary expression's operator, or of a named part. */
  positionOf(node: object, part?: string): number;
  /** The text of a node or of a part of it. `operator` is a part of a binary expression. */
  text(node: object, part?: string): string;
  rejection(message: string, node: object, part?: string): RejectionError;
}

interface Cst {
  readonly name: string;
  readonly children: Readonly<Record<string, readonly (Cst | CstToken)[]>>;
}
interface CstToken {
  readonly image: string;
  readonly startOffset: number;
  readonly endOffset: number;
}

type Grammar = typeof import('./grammar.js');

type IToken = ReturnType<Grammar['tokenize']>['tokens'][number];

interface Span {
  readonly start: number;
  readonly end: number;
}

const isToken = (element: Cst | CstToken): element is CstToken => 'image' in element;

function tokensOf(element: Cst | CstToken): CstToken[] {
  return isToken(element) ? [element] : Object.values(element.children).flat().flatMap(tokensOf);
}

function spanOf(element: Cst | CstToken): Span {
  const tokens = tokensOf(element);
  return {
    start: Math.min(...tokens.map(token => token.startOffset)),
    end: Math.max(...tokens.map(token => token.endOffset + 1)),
  };
}

const RULES = new Map<string, 'withStatement' | 'selectStatement'>([
  ['with', 'withStatement'],
  ['select', 'selectStatement'],
  ['declare', 'selectStatement'],
]);

let grammar: Grammar | undefined;

function requireGrammar(): Grammar {
  if (grammar) return grammar;
  throw new NotReadyError(async () => {
    grammar = await import('./grammar.js');
  });
}

export function parseBody(body: Body): ParsedQuery {
  return parseQuery(body.code, body);
}

/** @throws RejectionError if it is not a query; NotReadyError */
export function parseQueryText(text: string): ParsedQuery {
  const cursor = new Cursor(text);
  const code = readCode(cursor, 0, false);
  for (let token = cursor.next(); token !== undefined; token = cursor.next())
    if (token !== ';') throw unexpectedTokenError(cursor.at, token);
  return parseQuery(code, { position: 0, isEnclosed: false });
}

type Place = Pick<Body, 'position' | 'isEnclosed'>;

interface ParsedText {
  readonly select: SelectStatement;
  readonly nodes: NodePositions;
}

/** Cached by text: each change of a table compiles the views over it again. */
const parsed = new Map<string, ParsedText>();

function parseQuery(text: string, place: Place): ParsedQuery {
  const { select, nodes } = parsed.get(text) ?? parseByGrammar(text, place);
  const positionOf = (node: object, part?: string) => place.position + nodes.span(node, part).start;
  return {
    select,
    position: place.position,
    positionOf,
    rejection: (message, node, part) => new RejectionError(positionOf(node, part), message),
    text: (node, part) => {
      const { start, end } = nodes.span(node, part);
      return text.slice(start, end);
    },
  };
}

function parseByGrammar(text: string, place: Place): ParsedText {
  const { parser, tokenize, visitor } = requireGrammar();
  const tokens = adaptTokens(inlineWindows(withDepths(tokensOfQuery(text, tokenize))), tokenize);
  parser.input = tokens;
  const rule = RULES.get(tokens[0]?.image.toLowerCase() ?? '') ?? 'implicitSelectStatement';
  const cst = runRule(() => parser[rule](), place.position);
  const [error] = parser.errors;
  if (error) {
    const { position: at, message } = toRejectionError(error.token, tokens, text, place);
    throw new QuerySyntaxError(at, message);
  }
  const nodes = new NodePositions(visitor);
  const query = { select: nodes.visit(cst as Cst) as SelectStatement, nodes };
  if (parsed.size === 1000) parsed.clear();
  parsed.set(text, query);
  return query;
}

/** A view may be over SHOW TABLES, which is not a query in this grammar. */
function tokensOfQuery(text: string, tokenize: Grammar['tokenize']): (IToken & { text: string; at: number })[] {
  const { tokens } = tokenize(text);
  if (tokens.map(({ image }) => image.toLowerCase()).join(' ') === 'show tables')
    return tokensOfQuery('select table_name::string as table_name from tables()', tokenize);
  return tokens.map(token => {
    const { image, startOffset } = token;
    // In the bundles, the lexer reports only where a token begins.
    return { ...token, endOffset: startOffset + image.length - 1, text: image, at: startOffset };
  });
}

/** The grammar recurses for each parenthesis, so thousands of them overflow the stack. */
function runRule<T>(rule: () => T, position: number): T {
  try {
    return rule();
  } catch (error) {
    if (error instanceof RangeError) throw new RejectionError(position, 'SQL model is too complex');
    throw error;
  }
}

/** Records from which part of the concrete syntax tree the package's visitor makes each node. */
class NodePositions {
  readonly #nodes = new WeakMap<object, Cst>();
  readonly #operators = new WeakMap<object, CstToken>();
  readonly #visitor: Grammar['visitor'];

  constructor(readonly visitor: Grammar['visitor']) {
    this.#visitor = Object.create(visitor, { visit: { value: (node: Cst | readonly Cst[]) => this.visit(node) } });
  }

  visit(node: Cst | readonly Cst[]): unknown {
    const cst = Array.isArray(node) ? (node as readonly Cst[])[0] : (node as Cst);
    const result: unknown = this.visitor.visit.call(this.#visitor, node as never);
    if (cst && typeof result === 'object' && result && !this.#nodes.has(result)) {
      this.#nodes.set(result, cst);
      this.#recordOperators(result as { type?: string; left?: object }, cst);
    }
    return result;
  }

  /** `a + b - c` is one node of the grammar, and two of the syntax tree, with the last operator outermost. */
  #recordOperators(result: { type?: string; left?: object }, cst: Cst): void {
    const operators = Object.values(cst.children)
      .flat()
      .filter(isToken)
      .sort((a, b) => b.startOffset - a.startOffset);
    let node: { type?: string; left?: object } | undefined = result;
    for (const operator of operators) {
      if (node?.type !== 'binary') return;
      this.#operators.set(node, operator);
      node = node.left;
    }
  }

  span(node: object, part?: string): Span {
    const operator = this.#operators.get(node);
    if (operator && (part === undefined || part === 'operator')) return spanOf(operator);
    const cst = this.#nodes.get(node);
    const element = part === undefined ? cst : cst?.children[part]?.[0];
    return element ? spanOf(element) : { start: 0, end: 0 };
  }
}

/**
 * QuestDB accepts a comma before FROM and the TOLERANCE of a join, and the package's grammar does not, so they are dropped. A number that
 * the package's lexer splits becomes one token again. After an operator, `from (` calls a function, as any name would.
 */
function adaptTokens<T extends IToken & { readonly depth: number }>(
  tokens: readonly T[],
  tokenize: Grammar['tokenize'],
): T[] {
  const adapted: T[] = [];
  const joins: string[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const [token, next] = [tokens[i] as T, tokens[i + 1]];
    const [previous, word] = [adapted.at(-1), token.image.toLowerCase()];
    if (word === 'join') joins[token.depth] = previous?.image.toLowerCase() ?? '';
    const isInexact = /^(?:asof|lt)$/.test(joins[token.depth] ?? '');
    // The grammar takes the word as an alias. TOLERANCE changes no column.
    if (isInexact && word === 'tolerance' && next?.tokenType.name === 'DurationLiteral') i++;
    else if (previous && isRestOfNumber(previous, token))
      adapted[adapted.length - 1] = { ...previous, image: previous.image + token.image, endOffset: endOf(token) };
    else if (word === 'from' && next?.image === '(' && isOperator(previous, adapted.at(-2))) {
      const [{ tokenType, tokenTypeIdx } = token] = tokenize('name').tokens;
      adapted.push({ ...token, tokenType, tokenTypeIdx });
    } else if (!(word === ',' && next?.image.toLowerCase() === 'from')) adapted.push(token);
  }
  return adapted;
}

/** A star is an operator unless it stands for all columns. */
const isOperator = (token: IToken | undefined, before: IToken | undefined): boolean =>
  /^[-+/%]$/.test(token?.image ?? '') ||
  (token?.image === '*' && before !== undefined && !/^(?:select|distinct|[,.(])$/i.test(before.image));

const endOf = (token: IToken): number => token.endOffset ?? token.startOffset;

const isRestOfNumber = (number: IToken, token: IToken): boolean =>
  token.startOffset === endOf(number) + 1 &&
  ((/^[df]$/i.test(token.image) && /^\.?\d[\d._]*$/.test(number.image)) ||
    (number.image === '0' && /^x(?:[\da-f]{2})+$/i.test(token.image)));

function toRejectionError(
  bad: IToken | undefined,
  tokens: readonly IToken[],
  text: string,
  { position, isEnclosed }: Place,
): RejectionError {
  if (!bad || Number.isNaN(bad.startOffset)) return endOfInputError(tokens, position + text.trimEnd().length);
  const at = position + bad.startOffset;
  const showEnd = findEndOfShow(tokens, bad);
  if (showEnd !== undefined) return new RejectionError(position + showEnd, "')' expected");
  const preceding = tokensOfClause(tokens.filter(token => token.startOffset < bad.startOffset));
  const [last, beforeLast] = [preceding.at(-1)?.image.toLowerCase() ?? '', preceding.at(-3)?.image];
  const isOperandMissing = isOperator(preceding.at(-1), preceding.at(-2)) || BEFORE_OPERAND.test(last);
  const reserved = isOperandMissing && !/^limit$/i.test(bad.image) && orRejection(() => rejectReserved(bad.image, at));
  if (reserved) return reserved;
  const expected = last === '[' && beforeLast === '::' ? "']' expected" : EXPECTED_AFTER.get(last);
  if (expected !== undefined) return new RejectionError(at, expected);
  if (bad.image === '.' && tokens.some(token => token.startOffset === bad.startOffset + 1 && token.image === '.'))
    return new RejectionError(at + 1, 'too many dots');
  const inSelectList =
    preceding[0]?.image.toLowerCase() === 'select' && !preceding.some(token => token.image.toLowerCase() === 'from');
  if (inSelectList && last === '*' && preceding.length === 2)
    return new RejectionError(at, 'wildcard cannot have alias');
  if (inSelectList && preceding.length > 2) return tokenError(at, bad.image, "',', 'from' or 'over' expected");
  return isEnclosed ? new RejectionError(at, "')' expected") : unexpectedTokenError(at, bad.image);
}

/** The tokens after the last parenthesis that is still open. */
function tokensOfClause(tokens: readonly IToken[]): readonly IToken[] {
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
function findEndOfShow(tokens: readonly IToken[], bad: IToken): number | undefined {
  const start = tokens.findIndex(({ image }, i) => image === '(' && tokens[i + 1]?.image.toLowerCase() === 'show');
  const close = tokens.findIndex(({ image }, i) => i > start && image === ')');
  const closing = tokens[close];
  if (start < 0 || !closing || tokens.indexOf(bad) < start || bad.startOffset > closing.startOffset) return;
  return tokens[close + 1]?.startOffset ?? endOf(closing) + 1;
}

function endOfInputError(tokens: readonly IToken[], position: number): RejectionError {
  const last = tokens.at(-1)?.image.toLowerCase();
  if (last === 'select') return new RejectionError(position, '[distinct] column expected');
  return new RejectionError(position, last === 'from' ? 'table name or sub-query expected' : 'Expression expected');
}
