/*! Statements that B needs, in the file or on the stream that the command line names. */
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { styleText } from 'node:util';
import type { Io } from '@sqlpipe/cli';
import { formatSqlText, isStdout, isTextOutput, writeOutput, writeSqlText } from '@sqlpipe/files';
import { createCommitWriter, encodeRecords } from '@sqlpipe/records';
import { significantTokens } from '@sqlpipe/sql';
import { escapeLines } from '@sqlpipe/text';

/** Where statements are written, and in which form. */
export interface OutputOptions {
  /** A file, or `-` for standard output, which is the default. */
  readonly output?: string | undefined;
  readonly maxRecord: number;
}

/** Writes statements: as text on a terminal and into a `.sql` file, otherwise as a stream. */
export async function writeStatements(
  statements: readonly string[],
  { output, maxRecord }: OutputOptions,
  io: Io,
): Promise<void> {
  if (isStdout(output) && io.colors && statements.length > 0)
    return io.print(statements.map(each => formatSqlText(colorStatement(escapeLines(each)))).join(''));
  const write = (out: Writable) =>
    isTextOutput(output, io.stdout)
      ? writeSqlText(Readable.from(statements), out)
      : pipeline(Readable.from(statements), encodeRecords(maxRecord), createCommitWriter(out, 'sqldiff'));
  await writeOutput(output, io.stdout, write, () => io.interrupted);
}

/** What cannot be undone. */
const REMOVAL = /^(?:DROP|REVOKE|REMOVE|TRUNCATE)\b|^ALTER .*\bDROP COLUMN\b/is;

/** A statement with dim comments before it, and in red if it removes something. */
function colorStatement(text: string): string {
  const paint = (format: 'dim' | 'red', lines: string) => styleText(format, lines, { validateStream: false });
  const [first] = significantTokens(text);
  const [comments, statement] = [text.slice(0, first?.start), text.slice(first?.start)];
  return (comments && paint('dim', comments)) + (REMOVAL.test(statement) ? paint('red', statement) : statement);
}
