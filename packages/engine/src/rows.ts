/*! Statements about rows, where tables have some: what they do to the objects, whatever the rows are. */
import { parseChange } from '@sqlpipe/ddl';
import { RejectionError } from '@sqlpipe/ddl/grammar';
import type { Catalogue } from './catalogue.js';
import { type Effect, titleOf } from './effects.js';
import { invalidate } from './validity.js';

/**
 * Executes INSERT, UPDATE, TRUNCATE and statements about partitions.
 * @returns the effects on the tables; undefined for any other statement
 * @throws RejectionError for a table that does not exist
 */
export function executeRowStatement(statement: string, catalogue: Catalogue): Effect[] | undefined {
  const change = parseChange(statement);
  switch (change?.verb) {
    case 'insert':
      return [effectOn(change.name, 'rewritten', 'writes rows to', catalogue)];
    case 'update':
      return invalidating(
        'update operation',
        effectOn(change.name, 'rewritten', 'rewrites rows of', catalogue),
        catalogue,
      );
    case 'truncate':
      return change.names.flatMap(name =>
        invalidating('truncate operation', effectOn(name, 'lost', 'loses all rows of', catalogue), catalogue),
      );
    case 'drop partition':
    case 'force drop partition':
    case 'detach partition':
      return invalidating(
        'drop partition operation',
        effectOn(change.name, 'lost', 'loses some rows of', catalogue),
        catalogue,
      );
    case 'attach partition':
    case 'convert partition':
      return [effectOn(change.name, 'rewritten', 'rewrites partitions of', catalogue)];
    default:
      return undefined;
  }
}

function effectOn(name: string, effect: 'rewritten' | 'lost', what: string, catalogue: Catalogue): Effect {
  const table = catalogue.find(name);
  if (!table) throw new RejectionError(0, `table does not exist [table=${name}]`);
  const loss = effect === 'lost' ? ({ loss: 'drop' } as const) : {};
  return { effect, kind: table.kind, object: table.name, text: `${what} ${titleOf(table)}`, ...loss };
}

function invalidating(reason: string, effect: Effect, catalogue: Catalogue): Effect[] {
  invalidate(catalogue, effect.object, reason);
  return [effect];
}
