/*!
 * The marker that a failing writer leaves after its last statement, so that not even a filter that completes the end
 * hides the failure.
 */

/** The program that left a marker, and the reason. */
export interface FailureMarker {
  readonly name: string;
  readonly reason: string;
}

/** The line a failing writer adds: `-- NAME: incomplete: REASON`, with its LF. */
export const formatFailureMarker = ({ name, reason }: FailureMarker): string =>
  `-- ${name}: incomplete: ${reason.replace(/[\0-\x1f\x7f]+/g, ' ').trim()}\n`;

/** Whether a text may hold a marker; found fast, as hardly any does. */
export const mayContainFailureMarker = (text: string): boolean => text.includes(': incomplete: ');

/** What a line comment says if it is a marker. */
export function parseFailureMarker(comment: string): FailureMarker | undefined {
  const [, name, reason = ''] = /^-- ([\w.-]+): incomplete: (.*)/s.exec(comment) ?? [];
  return name === undefined ? undefined : { name, reason };
}
