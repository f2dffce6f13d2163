/*! A failure marker reports the failure of a writer even if a filter adds the missing NUL. */

type FailureMarker = Readonly<Record<'name' | 'reason', string>>;

/** Prints the line that a failing writer adds: `-- NAME: incomplete: REASON`, with an LF. */
export const printFailureMarker = ({ name, reason }: FailureMarker): string =>
  `-- ${name}: incomplete: ${reason.replace(/[\0-\x1f\x7f]+/g, ' ').trim()}\n`;

/** Parses a line comment; undefined if it is not a marker. */
export function parseFailureMarker(comment: string): FailureMarker | undefined {
  const [, name, reason = ''] = /^-- ([\w.-]+): incomplete: (.*)/s.exec(comment) ?? [];
  return name === undefined ? undefined : { name, reason };
}

/**
 * Matches the start of a plan, a comment of its first statement, and the fingerprint in it. If only comments are left, the plan is
 * incomplete.
 */
export const PLAN_START = /^-- plan for state ([0-9a-f]{16})\b/m;
