/*! The answers of a server without rows to a plan: its assertions hold, and nothing is lost. */

/** The only column of an assertion has the name of its form as alias. */
const ASSERTIONS = [
  'nothing_is_lost',
  'none_expire',
  'none_unended',
  'is_computable',
  'none_limited',
  'is_empty',
  'none_null',
  'all_fit',
  'none_changed',
  'all_native',
  'all_attached',
  'all_writable',
  'all_applied',
  'as_many_rows',
  'all_copied',
  'none_added',
] as const;

/** The form of an assertion. */
export type AssertionForm = (typeof ASSERTIONS)[number];

/** The answers by the alias of the column. */
export const ROWLESS_ANSWERS = new Map<string, { readonly type: string; readonly value: true | 0 | null }>([
  ...ASSERTIONS.map(form => [form, { type: 'BOOLEAN', value: true }] as const),
  ['rows_lost', { type: 'LONG', value: 0 }],
  ['first_lost', { type: 'TIMESTAMP', value: null }],
  ['last_lost', { type: 'TIMESTAMP', value: null }],
]);
