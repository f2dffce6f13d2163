/*! Conditions on the rows of a catalogue function, as WHERE states them: comparisons of columns with constants. */
import type { Value } from '@sqlpipe/engine';
import type { Expression } from '@sqlpipe/engine/query';

/** A row of a result: the value of a column by its name in lower case. */
type Row = (column: string) => Value | undefined;

const COMPARISONS: Readonly<Record<string, (a: Value, b: Value) => boolean>> = {
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<>': (a, b) => a !== b,
  '>': (a, b) => a !== null && b !== null && a > b,
  '<': (a, b) => a !== null && b !== null && a < b,
};

/** The value of an expression in a row; undefined if it is not a simple condition. */
export function evaluateCondition(expression: Expression, row: Row): Value | undefined {
  const evaluate = (operand: Expression) => evaluateCondition(operand, row);
  switch (expression.type) {
    case 'literal':
      return expression.value;
    case 'column':
      return row((expression.name.parts.at(-1) ?? '').toLowerCase());
    case 'paren':
      return expression.additionalExpressions?.length ? undefined : evaluate(expression.expression);
    case 'function':
      return expression.name.toLowerCase() === 'lower' && expression.args[0]
        ? toLower(evaluate(expression.args[0]))
        : undefined;
    case 'unary':
      return expression.operator.toLowerCase() === 'not' ? negate(evaluate(expression.operand)) : undefined;
    case 'in': {
      const [value, ...values] = [expression.expression, ...expression.values].map(evaluate);
      if (value === undefined || values.includes(undefined)) return undefined;
      return values.includes(value) !== (expression.not ?? false);
    }
    case 'binary': {
      const [left, right] = [evaluate(expression.left), evaluate(expression.right)];
      if (left === undefined || right === undefined) return undefined;
      const operator = expression.operator.toLowerCase();
      if (operator === 'and') return left === true && right === true;
      if (operator === 'or') return left === true || right === true;
      return COMPARISONS[operator]?.(left, right);
    }
    default:
      return undefined;
  }
}

const toLower = (value: Value | undefined): Value | undefined =>
  typeof value === 'string' ? value.toLowerCase() : value;

const negate = (value: Value | undefined): Value | undefined => (typeof value === 'boolean' ? !value : undefined);
