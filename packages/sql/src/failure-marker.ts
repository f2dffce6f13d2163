/*! The marker that a failing writer adds after its last statement. It reports the failure even if a filter adds the missing NUL. */

/** The program that wrote a marker, and the reason of its failure. */
export interface FailureMarker {
  readonly name: string;
  readonly reason: string;
}

/** Formats the line that a failing writer adds: `-- NAME: incomplete: REASON`, with an LF. */
export const formatFailureMarker = ({ name, reason }: FailureMarker): string =>
  `-- ${name}: incomplete: ${reason.replace(/[\0-\x1f\x7f]+/g, ' ').trim()}\n`;

/** Whether a text may contain a marker: a fast check, because hardly any text does. */
export const mayContainFailureMarker = (text: string): boolean => text.includes(': incomplete: ');

/** Parses a line comment; undefined if it is not a marker. */
export function parseFailureMarker(comment: string): FailureMarker | undefined {
  const [, name, reason = ''] = /^-- ([\w.-]+): incomplete: (.*)/s.exec(comment) ?? [];
  return name === undefined ? undefined : { name, reason };
}

/** Matches the first line of a plan. It is a comment of the first statement, so without statements a plan would be an empty stream. */
export const PLAN_HEAD = /^-- plan for state [0-9a-f]{16}\b/m;
