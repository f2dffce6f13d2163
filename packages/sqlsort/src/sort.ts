import { Catalog, collectStatements, deduplicate, dumpOrder, type Entry, findCycle } from '@sqlpipe/schema';
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
export async function readCatalog(statements: AsyncIterable<string>): Promise<Catalog> {
  const catalog = new Catalog(deduplicate(await collectStatements(statements)));
  const cycle = findCycle(catalog.dependencies());
  if (cycle) throw new CycleError(`dependency cycle: ${formatCycle(catalog, cycle)}`);
  return catalog;
}

/** The statements in the order of a dump. Yields none before the input has ended. @throws as `readCatalog` */
export async function* sortStatements(statements: AsyncIterable<string>): AsyncGenerator<string> {
  for (const { statement } of dumpOrder(await readCatalog(statements))) yield statement;
}

/** Maximum number of names that are shown of a cycle. */
const MAX_LISTED = 20;

/** `view 'a' needs view 'b', which needs view 'a'`. */
function formatCycle(catalog: Catalog, cycle: string[]): string {
  const names = [...cycle.slice(0, MAX_LISTED), ...cycle.slice(0, 1)].map(name =>
    displayName(catalog.findObject(name) as Entry),
  );
  if (cycle.length > MAX_LISTED) names.splice(-1, 0, `${cycle.length - MAX_LISTED} more`);
  return names.join(', which needs ').replace(', which needs ', ' needs ');
}
