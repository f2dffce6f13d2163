/*!
 * QuestDB's own grammar, asked for one query, and a syntax tree that remembers where things stood: the tree as the
 * package builds it has no positions, but the service's refusals do.
 */
import { parser, type SelectStatement, tokenize, visitor } from '@questdb/sql-parser';
import { Refusal, unexpected } from './refusal.js';

export interface Query {
  readonly select: SelectStatement;
  /** Where a node of the tree starts, counted in the whole statement. */
  readonly at: (node: object) => number;
}

/** A concrete syntax tree of chevrotain, as far as positions need it. */
interface Cst {
  readonly children: Readonly<Record<string, readonly (Cst | CstToken)[]>>;
}
interface CstToken {
  readonly image: string;
  readonly startOffset: number;
}

const isToken = (element: Cst | CstToken): element is CstToken => 'image' in element;

function startOf(node: Cst): number {
  const elements = Object.values(node.children).flat();
  return Math.min(...elements.map(element => (isToken(element) ? element.startOffset : startOf(element))));
}

/** Parses a query that stands at `position` of its statement. */
export function parseQuery(text: string, position: number): Query {
  const { tokens } = tokenize(text);
  const first = tokens[0]?.image.toLowerCase();
  parser.input = tokens;
  const rule =
    first === 'with'
      ? 'withStatement'
      : first === 'select' || first === 'declare'
        ? 'selectStatement'
        : 'implicitSelectStatement';
  const cst = parser[rule]();
  const [error] = parser.errors;
  if (error) throw refusal(error.token, text, position);

  const starts = new WeakMap<object, number>();
  const located = Object.create(visitor, {
    visit: {
      value(node: Cst | Cst[], ...rest: unknown[]) {
        const result = visitor.visit.call(located, node as never, ...(rest as [])) as unknown;
        const start = Array.isArray(node) ? node[0] : node;
        if (typeof result === 'object' && result && start && !starts.has(result)) starts.set(result, startOf(start));
        return result;
      },
    },
  }) as typeof visitor;
  const select = located.visit(cst) as SelectStatement;
  return { select, at: node => position + (starts.get(node) ?? 0) };
}

function refusal(token: { image: string; startOffset: number } | undefined, text: string, position: number): Refusal {
  return token && !Number.isNaN(token.startOffset)
    ? unexpected(position + token.startOffset, token.image)
    : new Refusal(position + text.length, 'unexpected end of query');
}
