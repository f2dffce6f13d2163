/*! The line in the head of a plan that lists the statements that nothing undoes. */
import { describe } from './statement-text.js';

/** The line for the statements that nothing undoes, with their numbers in the plan; undefined if there are none. */
export function describeIrreversible(
  statements: readonly { statement: string; lost: readonly string[] }[],
): string | undefined {
  const found = statements.flatMap(({ statement, lost }, i) => (lost.length > 0 ? [{ statement, n: i + 1 }] : []));
  const [numbers, texts] = [found.map(({ n }) => n), found.map(({ statement }) => describe(statement))];
  const what = numbers.length === 1 ? 'statement' : 'statements';
  return found.length > 0 ? `nothing undoes ${what} ${numbers.join(', ')} (${texts.join('; ')})` : undefined;
}

/** The numbers of the statements that nothing undoes, from the comments before the first statement of a plan. */
export function parseIrreversible(comments: string): ReadonlySet<number> {
  const [, numbers = ''] = /^-- nothing undoes statements? ([\d, ]+) \(/m.exec(comments) ?? [];
  return new Set(numbers.split(', ').filter(Boolean).map(Number));
}
