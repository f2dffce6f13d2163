/*! How QuestDB names the columns of a query that have no alias. */
import type { Expression, SelectItem } from '@questdb/sql-parser';
import { NameMap, NameSet } from '@sqlpipe/sql';
import type { ColumnNaming } from '../catalogue.js';
import type { ParsedQuery } from '../parse/parse-query.js';
import { type NameResolver, printExpression } from './infer-type.js';

/** The name of a column without that of its table; undefined for any other expression. */
export const columnName = (expression: Expression): string | undefined =>
  expression.type === 'column' ? expression.name.parts.at(-1) : undefined;

/** The name of a column in the result, unless QuestDB makes one from the expression. */
export const nameOfItem = (item: SelectItem): string | undefined =>
  item.type === 'selectItem' ? (item.alias ?? columnName(item.expression)) : undefined;

export function chooseAlias(expression: Expression, names: NameResolver, taken: TakenNames, naming: ColumnNaming) {
  const usesExpression = naming === 'by expression';
  const base = usesExpression ? printExpressionAlias(expression, names) : findFunctionAlias(expression, names.query);
  return taken.findUnused(base, n => (usesExpression ? `${base}_${n + 1}` : `${base}${n}`));
}

function printExpressionAlias(expression: Expression, names: NameResolver): string {
  const column = columnName(expression);
  if (column !== undefined) return column;
  const declared = expression.type === 'variable' ? names.findVariable(expression.name) : undefined;
  if (declared) return printExpressionAlias(declared, names);
  const text = printExpression(expression, names);
  return text.includes('.') ? `"${text}"` : text;
}

function findFunctionAlias(expression: Expression, query: ParsedQuery): string {
  switch (expression.type) {
    case 'function':
      return expression.name;
    case 'paren':
      return findFunctionAlias(expression.expression, query);
    case 'cast':
    case 'typeCast':
      return 'cast';
    case 'case':
      return 'case';
    case 'literal': {
      const text = query.text(expression).replace(/^'(.*)'$/s, '$1');
      return text.includes('.') ? 'column' : text;
    }
    default:
      return columnName(expression) ?? 'column';
  }
}

export function findAliasPosition(query: ParsedQuery, item: SelectItem): number {
  return query.text(item, 'As') === '' ? query.positionOf(item, 'identifier') : query.positionOf(item, 'As');
}

export class TakenNames {
  readonly #names = new NameSet();
  /** The number that was last found free for a name. Lower numbers stay taken. */
  readonly #numbers = new NameMap<number>();

  has(name: string): boolean {
    return this.#names.has(name);
  }

  add(name: string): void {
    this.#names.add(name);
  }

  findUnused(name: string, numbered: (n: number) => string): string {
    if (!this.has(name)) return name;
    let n = this.#numbers.get(name) ?? 1;
    while (this.has(numbered(n))) n++;
    this.#numbers.set(name, n);
    return numbered(n);
  }
}
