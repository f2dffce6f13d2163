import { findFunction, isDecimal } from '@sqlpipe/ddl';
import { childrenOf, type TreeNode } from '../parse/parse-query.js';

/** QuestDB rejects such functions in materialized and live views. */
export const isNonDeterministic = (name: string): boolean =>
  /^rnd_|^(?:(?:now|systimestamp)(?:_ns)?|today|tomorrow|yesterday|sysdate|current_timestamp)$/i.test(name);

export function inferFunctionType(name: string, argumentTypes: readonly (string | undefined)[]): string | undefined {
  const key = name.toLowerCase();
  const known = findFunction(name)?.type;
  const [first, ...others] = argumentTypes;
  // With several arguments, the digits of a DECIMAL result depend on all of them.
  if (argumentTypes.some(isDecimal))
    return known === 'argument' && others.length === 0 ? first : key.startsWith('count') ? 'LONG' : undefined;
  if (key === 'sum' && ['BYTE', 'SHORT', 'INT'].includes(first ?? '')) return 'LONG';
  if (key === 'sum') return ['LONG', 'LONG256', 'FLOAT', 'DOUBLE'].find(type => type === first);
  // observed on 9.3.4
  if (first === 'SYMBOL' && ['min', 'max', 'coalesce', 'nullif'].includes(key)) return 'STRING';
  return known === 'argument' ? first : known === 'unknown' ? undefined : known;
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
