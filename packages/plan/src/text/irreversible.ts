/*! The line in the head of a plan that lists the statements that nothing undoes. */
/** The line for the statements that nothing undoes, by their numbers in the plan; their comments say why. Undefined if there are none. */
export function describeIrreversible(statements: readonly { lost: readonly string[] }[]): string | undefined {
  const numbers = statements.flatMap(({ lost }, i) => (lost.length > 0 ? [i + 1] : []));
  const what = numbers.length === 1 ? 'statement' : 'statements';
  return numbers.length > 0 ? `nothing undoes ${what} ${numbers.join(', ')}` : undefined;
}

/** The numbers of the statements that nothing undoes, from the comments before the first statement of a plan. */
export function parseIrreversible(comments: string): ReadonlySet<number> {
  const [, numbers = ''] = /^-- nothing undoes statements? ([\d, ]+)$/m.exec(comments) ?? [];
  return new Set(numbers.split(', ').filter(Boolean).map(Number));
}
