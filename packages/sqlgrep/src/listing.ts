/*! What is printed of statements instead of a stream. */
import type { Io } from '@sqlpipe/cli';
import { escapeControls, formatSafeJson, identify } from '@sqlpipe/sql';

/** `table`, a tab, `fx_trades`. */
export function formatListLine(statement: string): string {
  const { kind, name } = identify(statement);
  return `${kind}\t${escapeControls(name)}\n`;
}

/** A line of JSON: an object with `kind`, `name` and `statement`, which is as it is in the stream, secrets too. */
export function formatJsonLine(statement: string): string {
  const { kind, name } = identify(statement);
  return `${formatSafeJson({ kind, name, statement })}\n`;
}

/** Prints a line for each statement. */
export async function printLines(
  statements: AsyncIterable<string>,
  formatLine: (statement: string) => string,
  io: Io,
): Promise<void> {
  for await (const statement of statements) await io.print(formatLine(statement));
}

/** Prints how many statements there are, when all have come. */
export async function printCount(statements: AsyncIterable<string>, io: Io): Promise<void> {
  let count = 0;
  for await (const _ of statements) count++;
  await io.print(`${count}\n`);
}
