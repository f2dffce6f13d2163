/*! What QuestDB knows of an expression: its type, whether it aggregates, and the name of its column in a result. */
import type { Expression, SelectItem } from '@questdb/sql-parser';
import { findFunction, isDecimal, isTimestamp, printGeohashType } from '@sqlpipe/ddl';
import { Cursor, parseColumnType } from '@sqlpipe/ddl/parser';
import { NameMap, NameSet } from '@sqlpipe/sql';
import type { ColumnNaming } from '../catalogue.js';
import { childrenOf, type ParsedQuery, type TreeNode } from '../parse/parse-query.js';

/** What the names in an expression mean, except those of columns. A `QueryScope` knows it. */
interface Names {
  readonly query: ParsedQuery;
  readonly catalogue: { readonly columnNaming: ColumnNaming };
  findVariable(name: string): Expression | undefined;
}

/** Finds the type of a column. @throws RejectionError if there is no column of that name */
type FindColumnType = (parts: readonly string[], expression: Expression) => string | undefined;

/** @returns undefined for an unknown type @throws RejectionError if a column does not exist */
export function inferType(expression: Expression, names: Names, findColumnType: FindColumnType): string | undefined {
  const { query } = names;
  const type = (inner: Expression) => inferType(inner, names, findColumnType);
  switch (expression.type) {
    case 'column':
      return findColumnType(expression.name.parts, expression);
    case 'variable': {
      const value = names.findVariable(expression.name);
      return value && type(value);
    }
    case 'literal':
      return inferLiteralType(expression, query);
    case 'function': {
      const types = expression.args.map(type);
      const sizedType = SIZED_TYPES.get(expression.name.toLowerCase());
      const [first, second] = expression.args.map(argument => Number(query.text(argument)));
      return sizedType?.(first ?? 0, second) ?? inferFunctionType(expression.name, types);
    }
    case 'paren':
      return type(expression.expression);
    case 'cast':
    case 'typeCast':
      type(expression.expression);
      return parseCastType(query.text(expression, 'dataType') || expression.dataType, expression.type === 'typeCast');
    case 'unary': {
      const operand = type(expression.operand);
      return expression.operator.toUpperCase() === 'NOT' ? 'BOOLEAN' : operand;
    }
    case 'binary':
      return inferBinaryType(expression.operator, type(expression.left), type(expression.right));
    case 'case': {
      const { operand, whenClauses, elseClause } = expression;
      if (operand) type(operand);
      for (const { when } of whenClauses) type(when);
      const branches = [...whenClauses.map(({ then }) => then), ...(elseClause ? [elseClause] : [])].map(type);
      const known = branches.map(branch => (branch === 'CHAR' || branch === 'SYMBOL' ? 'STRING' : branch));
      return known.reduce((united, branch) => unifyTypes(united, branch));
    }
    case 'arrayLiteral':
      // The type of `ARRAY[]` is ARRAY, and so is the name of its column (observed).
      return expression.elements.length === 0 ? 'ARRAY' : `DOUBLE${'[]'.repeat(dimensions(expression))}`;
    case 'arrayAccess': {
      const single = expression.subscripts.filter(subscript => subscript.type !== 'arraySlice').length;
      return type(expression.array)?.replace(new RegExp(`(?:\\[\\]){${single}}$`), '');
    }
    case 'in':
    case 'within':
    case 'between':
    case 'isNull':
      for (const inner of childrenOf(expression)) type(inner as Expression);
      return 'BOOLEAN';
    default:
      return;
  }
}

/** The types of functions whose arguments say how large a value is. */
const SIZED_TYPES = new Map<string, (first: number, second: number | undefined) => string>([
  ['rnd_geohash', bits => printGeohashType(bits)],
  ['rnd_double_array', dimensions => `DOUBLE${'[]'.repeat(dimensions || 1)}`],
  ['rnd_decimal', (precision, scale) => `DECIMAL(${precision},${scale})`],
]);

function inferLiteralType(literal: Extract<Expression, { type: 'literal' }>, query: ParsedQuery): string | undefined {
  const { literalType, value } = literal;
  const text = query.text(literal);
  if (literalType === 'string') return typeof value === 'string' && value.length === 1 ? 'CHAR' : 'STRING';
  if (literalType === 'boolean') return 'BOOLEAN';
  if (literalType === 'null' || /^nan$/i.test(text)) return 'NULL';
  if (literalType === 'geohash')
    return printGeohashType(text.startsWith('##') ? text.length - 2 : (text.replace(/\/.*/, '').length - 1) * 5);
  if (/^0x/i.test(text)) return 'LONG256';
  if (/^\d[\d_]*$/.test(text)) return Number(text.replaceAll('_', '')) > 2 ** 31 - 1 ? 'LONG' : 'INT';
  if (/l$/i.test(text)) return 'LONG';
  if (/f$/i.test(text)) return 'FLOAT';
  return /m$/i.test(text) ? 'DECIMAL(18,3)' : 'DOUBLE';
}

/** DECIMAL( 10,2 ) is printed as `DECIMAL_10_2`, and `geohash(5c)` as `geohash5c`. @param isPostgres as in `parseCastType` */
function printCastType(text: string, isPostgres: boolean): string {
  const [type = text, size] = text.replace(/\s+(?:precision)?|\)/gi, '').split('(');
  if (isPostgres && type.toLowerCase() === 'float') return 'DOUBLE';
  return size === undefined ? type : `${type}${isDecimal(type.toUpperCase()) ? `_${size.replace(',', '_')}` : size}`;
}

/** In `x::float`, the type is DOUBLE, as in PostgreSQL. In `CAST(x AS float)`, it is QuestDB's FLOAT. */
function parseCastType(text: string, isPostgres: boolean): string | undefined {
  if (isPostgres && /^float(?![a-z0-9_])/i.test(text)) return text.replace(/^float/i, 'DOUBLE');
  const cursor = new Cursor(text);
  const token = cursor.next();
  return token === undefined ? undefined : parseColumnType(cursor, token);
}

const NUMBERS = ['BYTE', 'SHORT', 'CHAR', 'INT', 'LONG', 'FLOAT', 'DOUBLE'];
const BOOLEAN_OPERATORS = new Set(['=', '!=', '<>', '<', '<=', '>', '>=', '~', '!~', 'LIKE', 'ILIKE', 'AND', 'OR']);

function inferBinaryType(operator: string, left: string | undefined, right: string | undefined): string | undefined {
  if (BOOLEAN_OPERATORS.has(operator.toUpperCase())) return 'BOOLEAN';
  if (operator === '||') return left === 'VARCHAR' || right === 'VARCHAR' ? 'VARCHAR' : 'STRING';
  if (left !== undefined && right !== undefined && (isTimestamp(left) || left === 'DATE'))
    return left === right && operator === '-' ? 'LONG' : left;
  if (right !== undefined && isTimestamp(right)) return right;
  return isDecimal(left) || isDecimal(right) ? undefined : findWiderType(left, right, 'INT');
}

function findWiderType(left: string | undefined, right: string | undefined, floor: string): string | undefined {
  const ranks = [left, right, floor].map(type => NUMBERS.indexOf(type === 'NULL' ? 'BYTE' : (type ?? '')));
  return ranks.includes(-1) ? (left ?? right) : NUMBERS[Math.max(...ranks)];
}

export function unifyTypes(left: string | undefined, right: string | undefined): string | undefined {
  if (left === right) return left;
  if (right === 'NULL') return left === 'CHAR' ? 'STRING' : left;
  if (left === 'NULL') return right;
  if (isDecimal(left) || isDecimal(right)) return undefined;
  if (left !== undefined && right !== undefined && NUMBERS.includes(left) && NUMBERS.includes(right))
    return findWiderType(left, right, 'BYTE');
  return left === 'VARCHAR' || right === 'VARCHAR' ? 'VARCHAR' : 'STRING';
}

function dimensions(array: Extract<Expression, { type: 'arrayLiteral' }>): number {
  const [first] = array.elements;
  return first?.type === 'arrayLiteral' ? dimensions(first) + 1 : 1;
}

/** QuestDB's operators, highest precedence first. They decide where a printed expression has parentheses. */
const PRECEDENCE = [
  ['::'],
  ['*', '/', '%'],
  ['+', '-'],
  ['<<', '>>', '<<=', '>>='],
  ['||'],
  ['&'],
  ['^'],
  ['|'],
  ['in', 'between', 'within'],
  ['<', '<=', '>', '>='],
  ['=', '!=', '<>', '~', '!~', 'like', 'ilike', 'isNull'],
  ['not'],
  ['and'],
  ['or'],
];

const rankOf = (operator: string): number => PRECEDENCE.findIndex(level => level.includes(operator.toLowerCase()));

function rank(expression: Expression): number {
  const inner = stripParentheses(expression);
  if (inner.type === 'unary') return inner.operator === 'NOT' ? rankOf('not') : -1;
  return rankOf(inner.type === 'binary' ? inner.operator.replace(/^not /i, '') : inner.type);
}

const stripParentheses = (expression: Expression): Expression =>
  expression.type === 'paren' && !expression.additionalExpressions?.length
    ? stripParentheses(expression.expression)
    : expression;

function printExpression(expression: Expression, names: Names): string {
  const { query } = names;
  const text = (inner: Expression): string => printExpression(inner, names);
  const list = (inner: readonly Expression[]): string => inner.map(text).join(', ');
  const operand = (inner: Expression, ownRank: number): string =>
    rank(inner) > ownRank ? `(${text(inner)})` : text(inner);
  const negated = (printed: string, isNegated: boolean | undefined): string =>
    isNegated ? `not(${printed})` : printed;
  switch (expression.type) {
    case 'paren':
      return text(expression.expression);
    case 'variable': {
      const value = names.findVariable(expression.name);
      return value ? text(value) : `@${expression.name}`;
    }
    case 'column':
      return query.text(expression).replaceAll('"', '');
    case 'function':
      return `${expression.distinct ? 'count_distinct' : expression.name}(${list(expression.args)})`;
    case 'cast':
    case 'typeCast': {
      const inner = stripParentheses(expression.expression);
      const isCompound = ['binary', 'unary', 'case', 'between', 'in'].includes(inner.type);
      const type = query.text(expression, 'dataType') || expression.dataType;
      return `${isCompound ? `(${text(inner)})` : text(inner)}::${printCastType(type, expression.type === 'typeCast')}`;
    }
    case 'unary':
      return `${query.text(expression).startsWith('-') ? '-' : expression.operator.toLowerCase()}(${text(expression.operand)})`;
    case 'binary': {
      const operator = query.text(expression, 'operator').toLowerCase();
      if (operator === '||') return `concat(${list(flattenConcatenation(expression))})`;
      const ownRank = rank(expression);
      const printed = `${operand(expression.left, ownRank)} ${operator} ${operand(expression.right, ownRank - 1)}`;
      return negated(printed, /^not /i.test(expression.operator));
    }
    case 'in': {
      const [only, ...others] = expression.values;
      const values = only && others.length === 0 ? text(only) : `(${list(expression.values)})`;
      return negated(`${operand(expression.expression, rankOf('in'))} in ${values}`, expression.not);
    }
    case 'between':
      return negated(
        `${operand(expression.expression, rankOf('in'))} between (${list([expression.low, expression.high])})`,
        expression.not,
      );
    case 'isNull':
      return `${operand(expression.expression, rankOf('='))} ${expression.not ? '!=' : '='} NULL`;
    case 'arrayAccess':
      return `${text(expression.array)}${query.text(expression).slice(query.text(expression.array).length)}`;
    case 'case': {
      const { operand: switched, whenClauses, elseClause } = expression;
      if (switched)
        return `switch(${list([switched, ...whenClauses.flatMap(({ when, then }) => [when, then]), ...(elseClause ? [elseClause] : [])])})`;
      const branches = whenClauses.map(({ when, then }) => ` when ${text(when)} then ${text(then)}`);
      return `case${branches.join('')}${elseClause ? ` else ${text(elseClause)}` : ''} end`;
    }
    case 'arrayLiteral':
      return expression.elements.length === 0 ? 'ARRAY' : `ARRAY[${list(expression.elements)}]`;
    default:
      return query.text(expression);
  }
}

const flattenConcatenation = (expression: Expression): Expression[] => {
  const inner = stripParentheses(expression);
  return inner.type === 'binary' && inner.operator === '||'
    ? [inner.left, inner.right].flatMap(flattenConcatenation)
    : [expression];
};

/** QuestDB rejects such functions in materialized and live views. */
export const isNonDeterministic = (name: string): boolean =>
  /^rnd_|^(?:(?:now|systimestamp)(?:_ns)?|today|tomorrow|yesterday|sysdate|current_timestamp)$/i.test(name);

export function inferFunctionType(name: string, argumentTypes: readonly (string | undefined)[]): string | undefined {
  const key = name.toLowerCase();
  const known = findFunction(name);
  const [first, ...others] = argumentTypes;
  // With several arguments, the digits of a DECIMAL result depend on all of them.
  if (argumentTypes.some(isDecimal))
    return known?.hasTypeOfArgument && others.length === 0 ? first : key.startsWith('count') ? 'LONG' : undefined;
  if (key === 'sum' && ['BYTE', 'SHORT', 'INT'].includes(first ?? '')) return 'LONG';
  if (key === 'sum') return ['LONG', 'LONG256', 'FLOAT', 'DOUBLE'].find(type => type === first);
  // observed on 9.3.4
  if (first === 'SYMBOL' && ['min', 'max', 'coalesce', 'nullif'].includes(key)) return 'STRING';
  return known?.hasTypeOfArgument ? first : known?.type;
}

export const hasAggregate = (node: TreeNode): boolean => hasCall(node, false);

/** Whether a query has an aggregate, or an unknown function that may be an aggregate. */
export const mayHaveAggregate = (node: TreeNode): boolean => hasCall(node, true);

/** Calls in subqueries and with OVER do not count. */
function hasCall(node: TreeNode, orUnknown: boolean): boolean {
  const { type, name, over } = node as { type?: string; name?: string; over?: unknown };
  if (type === 'subquery') return false;
  if (type === 'function' && typeof name === 'string' && !over && (findFunction(name)?.isAggregate ?? orUnknown))
    return true;
  return childrenOf(node).some(child => hasCall(child, orUnknown));
}

/** The name of a column without that of its table; undefined for any other expression. */
export const columnName = (expression: Expression): string | undefined =>
  expression.type === 'column' ? expression.name.parts.at(-1) : undefined;

/** The name of a column in the result, unless QuestDB makes one from the expression. */
export const nameOfItem = (item: SelectItem): string | undefined =>
  item.type === 'selectItem' ? (item.alias ?? columnName(item.expression)) : undefined;

export function chooseAlias(expression: Expression, names: Names, taken: TakenNames): string {
  const usesExpression = names.catalogue.columnNaming === 'by expression';
  const base = usesExpression ? printExpressionAlias(expression, names) : findFunctionAlias(expression, names.query);
  return taken.findUnused(base, n => (usesExpression ? `${base}_${n + 1}` : `${base}${n}`));
}

function printExpressionAlias(expression: Expression, names: Names): string {
  const column = columnName(expression);
  if (column !== undefined) return column;
  const declared = expression.type === 'variable' ? names.findVariable(expression.name) : undefined;
  if (declared) return printExpressionAlias(declared, names);
  const text = printExpression(expression, names);
  return text.includes('.') ? `"${text}"` : text;
}

function findFunctionAlias(expression: Expression, query: ParsedQuery): string {
  if (expression.type === 'paren') return findFunctionAlias(expression.expression, query);
  if (expression.type === 'function') return expression.name;
  if (expression.type === 'cast' || expression.type === 'typeCast') return 'cast';
  if (expression.type === 'case') return 'case';
  if (expression.type !== 'literal') return columnName(expression) ?? 'column';
  const text = query.text(expression).replace(/^'(.*)'$/s, '$1');
  return text.includes('.') ? 'column' : text;
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
