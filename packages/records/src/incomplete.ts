/*! What a writer that fails leaves behind its last statement, so that not even a filter that mends the end hides it. */

/** The line a failing writer adds: `-- NAME: incomplete: REASON`. */
export const incompleteLine = (name: string, reason: string): string =>
  `-- ${name}: incomplete: ${reason.replace(/[\0-\x1f\x7f]+/g, ' ').trim()}\n`;

/** `NAME: REASON` from the last line of a cut stream, or undefined where no writer left one. */
export function incompleteNote(rest: Buffer): string | undefined {
  const [, name, reason] = /(?:^|\n)-- ([\w.-]+): incomplete: ([^\n]*)\n?$/.exec(rest.subarray(-4096).toString()) ?? [];
  return name && `${name}: ${reason}`;
}
