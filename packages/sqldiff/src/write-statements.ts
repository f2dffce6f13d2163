import { Readable, type Writable } from 'node:stream';
import { Exit, type Io, paint } from '@sqlpipe/cli';
import { parseAlters } from '@sqlpipe/ddl';
import { isStdout, isTextOutput, printSqlText, writeOutputs, writeSqlText } from '@sqlpipe/files';
import { writeRecords } from '@sqlpipe/records';
import type { SchemaDifference } from '@sqlpipe/schema';
import { displayName, identify, significantTokens } from '@sqlpipe/sql';
import { escapeLines } from '@sqlpipe/text';

export interface OutputOptions {
  /** By default `-`, which is standard output. */
  readonly output?: string | undefined;
  readonly maxRecord: number;
}

/** Writes outputs, in this order: all or none, as far as they are files. As text on a terminal and into a `.sql` file, else as a stream. */
export function writeStatements(
  outputs: readonly (readonly [statements: readonly string[], options: OutputOptions])[],
  io: Io,
): Promise<void> {
  const write = (statements: readonly string[], { output, maxRecord }: OutputOptions, out: Writable) => {
    if (isStdout(output) && io.hasColors && statements.length > 0)
      return io.write(statements.map(each => printSqlText(colorStatement(each))).join(''));
    return isTextOutput(output, io.stdout)
      ? writeSqlText(Readable.from(statements), out)
      : writeRecords(Readable.from(statements), out, 'sqldiff', maxRecord);
  };
  return writeOutputs(
    outputs.map(([statements, options]) => ({ path: options.output, write: out => write(statements, options, out) })),
    io.stdout,
    io.catchSignals,
  );
}

function colorStatement(statement: string): string {
  const [first] = significantTokens(statement);
  const [comments, rest] = [statement.slice(0, first?.start), statement.slice(first?.start)];
  const isColumnDropped = parseAlters(statement).some(({ alteration }) => alteration.action === 'drop column');
  const isRemoval = isColumnDropped || ['DROP', 'REVOKE', 'REMOVE', 'TRUNCATE'].includes(identify(statement).verb);
  return paint(escapeLines(comments), 'dim') + paint(escapeLines(rest), isRemoval && 'red');
}

/** Writes the objects that only A has. CREATE cannot repair an object that differs, so that is a warning and a negative status. */
export async function writeMissing(differences: SchemaDifference[], output: OutputOptions, io: Io): Promise<number> {
  const different = differences.filter(({ b }) => b !== undefined);
  for (const { identity } of different)
    io.warn(`${displayName(identity)} exists and differs; CREATE cannot repair that`);
  const missing = differences.flatMap(({ a, b }) => (a !== undefined && b === undefined ? [a] : []));
  await writeStatements([[missing, output]], io);
  return different.length ? Exit.negative : Exit.ok;
}
