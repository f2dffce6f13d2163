import { Exit, type Io } from '@sqlpipe/cli';
import { decodeRecords, writeRecords } from '@sqlpipe/records';
import { collectStatements, deduplicate, dumpOrder, type Entry, findCycle, Schema } from '@sqlpipe/schema';
import { displayName } from '@sqlpipe/sql';
import { CodedError } from '@sqlpipe/text';
import { formatDot, formatMermaid } from './graph.js';

/** @throws DuplicateNameError if two statements of one name differ, CodedError for a cycle, and the errors of the input */
async function readSchema(statements: AsyncIterable<string>): Promise<Schema> {
  const schema = new Schema(deduplicate(await collectStatements(statements)));
  const cycle = findCycle(schema.objectReferences());
  if (cycle) throw new CodedError('DAMAGED', `dependency cycle: ${formatCycle(schema, cycle)}`);
  return schema;
}

/** The statements in the order of a dump. Yields none before the input has ended. @throws as `readSchema` */
export async function* sortStatements(statements: AsyncIterable<string>): AsyncGenerator<string> {
  for (const { statement } of dumpOrder(await readSchema(statements))) yield statement;
}

const MAX_LISTED = 20;

/** `view 'a' needs view 'b', which needs view 'a'`. */
function formatCycle(schema: Schema, cycle: string[]): string {
  const names = [...cycle.slice(0, MAX_LISTED), ...cycle.slice(0, 1)].map(name =>
    displayName(schema.findObject(name) as Entry),
  );
  if (cycle.length > MAX_LISTED) names.splice(-1, 0, `${cycle.length - MAX_LISTED} more`);
  return names.join(', which needs ').replace(', which needs ', ' needs ');
}

export async function writeSortedSchema(
  { graph, maxRecord }: { graph?: 'dot' | 'mermaid' | undefined; maxRecord: number },
  io: Io,
): Promise<number> {
  const input = decodeRecords(io.stdin(), { maxRecord });
  if (graph) await io.write({ dot: formatDot, mermaid: formatMermaid }[graph](await readSchema(input)));
  else await writeRecords(sortStatements(input), io.stdout, 'sqlsort', maxRecord);
  return Exit.ok;
}
