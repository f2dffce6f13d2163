import { collectStatements, deduplicate, dumpOrder, type Entry, findCycle, Schema } from '@sqlpipe/schema';
import { displayName } from '@sqlpipe/sql';

/** Objects that depend on each other, so that no order is correct. */
class CycleError extends Error {
  override name = 'CycleError';
  readonly code = 'DAMAGED';
}

/**
 * Reads a complete stream, each statement once.
 * @throws DuplicateNameError if two statements of one name differ, CycleError if objects depend on each other, and the
 * errors of the input
 */
export async function readSchema(statements: AsyncIterable<string>): Promise<Schema> {
  const schema = new Schema(deduplicate(await collectStatements(statements)));
  const cycle = findCycle(schema.dependencies());
  if (cycle) throw new CycleError(`dependency cycle: ${formatCycle(schema, cycle)}`);
  return schema;
}

/** The statements in the order of a dump. Yields none before the input has ended. @throws as `readSchema` */
export async function* sortStatements(statements: AsyncIterable<string>): AsyncGenerator<string> {
  for (const { statement } of dumpOrder(await readSchema(statements))) yield statement;
}

/** Maximum number of names that are shown of a cycle. */
const MAX_LISTED = 20;

/** `view 'a' needs view 'b', which needs view 'a'`. */
function formatCycle(schema: Schema, cycle: string[]): string {
  const names = [...cycle.slice(0, MAX_LISTED), ...cycle.slice(0, 1)].map(name =>
    displayName(schema.findObject(name) as Entry),
  );
  if (cycle.length > MAX_LISTED) names.splice(-1, 0, `${cycle.length - MAX_LISTED} more`);
  return names.join(', which needs ').replace(', which needs ', ' needs ');
}
