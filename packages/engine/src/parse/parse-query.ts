/*!
 * Parses a query with the grammar of @questdb/sql-parser. Records the positions of its parts, because rejections need them and the
 * package's syntax tree has none.
 */
import type { SelectStatement } from '@questdb/sql-parser';
import { type Body, Cursor, expectOnlySemicolons, RejectionError, readCode } from '@sqlpipe/ddl/parser';
import { NotReadyError } from '../errors.js';
import { type Grammar, tokensForGrammar } from './grammar-tokens.js';
import { type QueryOrigin, toRejectionError } from './syntax-errors.js';

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
  const tokens = tokensOf(element);
  return {
    start: Math.min(...tokens.map(token => token.startOffset)),
    end: Math.max(...tokens.map(token => token.endOffset + 1)),
  };
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
  const { select, nodes } = parsed.get(text) ?? parseByGrammar(text, origin);
  /** QuestDB reports the position of a node's first token, of a binary expression's operator, or of a named part. */
  const positionOf = (node: object, part?: string) => origin.start + nodes.span(node, part).start;
  return {
    select,
    start: origin.start,
    positionOf,
    rejection: (message: string, node: object, part?: string) => new RejectionError(positionOf(node, part), message),
    /** The text of a node or of a part of it. `operator` is a part of a binary expression. */
    text: (node: object, part?: string) => {
      const { start, end } = nodes.span(node, part);
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
  const nodes = new NodePositions(visitor);
  const query = { select: nodes.visit(cst as Cst) as SelectStatement, nodes };
  if (parsed.size === 1000) parsed.clear();
  parsed.set(text, query);
  return query;
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

  /** The grammar has one node for `a + b - c`, but the syntax tree has two. The node of the last operator is the outer one. */
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

  span(node: object, part?: string) {
    const operator = this.#operators.get(node);
    if (operator && (part === undefined || part === 'operator')) return spanOf(operator);
    const cst = this.#nodes.get(node);
    const element = part === undefined ? cst : cst?.children[part]?.[0];
    return element ? spanOf(element) : { start: 0, end: 0 };
  }
}
