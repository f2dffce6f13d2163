import { Catalog, collectStatements, deduplicate, dumpOrder, type Entry, findCycle } from '@sqlpipe/schema';
import { displayName } from '@sqlpipe/sql';

/** Objects that need one another, which no order can be right for. */
class CycleError extends Error {
  override name = 'CycleError';
  readonly code = 'DAMAGED';
}

/**
 * All that a stream holds, each statement once.
 * @throws DuplicateNameError where two of one name differ, Cycle where objects need one another, and whatever the input throws
 */
export async function readCatalog(statements: AsyncIterable<string>): Promise<Catalog> {
  const catalog = new Catalog(deduplicate(await collectStatements(statements)));
  const cycle = findCycle(catalog.dependencies());
  if (cycle) throw new CycleError(`dependency cycle: ${formatCycle(catalog, cycle)}`);
  return catalog;
}

/** The statements in the order of a dump; the first when all have come. @throws as `readCatalog` */
export async function* sortStatements(statements: AsyncIterable<string>): AsyncGenerator<string> {
  for (const { statement } of dumpOrder(await readCatalog(statements))) yield statement;
}

/** Maximum number of names shown of a cycle. */
const MAX_LISTED = 20;

/** `view 'a' needs view 'b', which needs view 'a'`. */
function formatCycle(catalog: Catalog, cycle: string[]): string {
  const named = [...cycle.slice(0, MAX_LISTED), ...cycle.slice(0, 1)].map(name =>
    displayName(catalog.findObject(name) as Entry),
  );
  if (cycle.length > MAX_LISTED) named.splice(-1, 0, `${cycle.length - MAX_LISTED} more`);
  return named.join(', which needs ').replace(', which needs ', ' needs ');
}
