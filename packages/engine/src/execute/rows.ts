/*! Executes statements about rows: what they do to the objects, whatever the rows are. */
import type { ChangeStatement, PartitionChange } from '@sqlpipe/ddl';
import {
  type Cursor,
  isWord,
  missingError,
  RejectionError,
  readCode,
  unexpectedTokenError,
  unquoteToken,
} from '@sqlpipe/ddl/grammar';
import { displayName } from '@sqlpipe/sql';
import { analyzeRelation } from '../analyze/relation.js';
import type { Catalogue } from '../catalogue.js';
import { parseQueryText } from '../parse/parsed-query.js';
import type { Session } from '../session.js';
import { invalidateLiveViews, invalidateMaterializedViews, recordNotEmpty } from './validity.js';

type RowChange = Extract<ChangeStatement, { verb: 'insert' | 'update' | 'truncate' }> | PartitionChange;

export const isRowChange = (change: ChangeStatement): change is RowChange => Object.hasOwn(ROW_CHANGES, change.verb);

/**
 * Executes a statement about rows: the effect on the rows, and the materialized views that become invalid.
 * @throws RejectionError for partitions of tables without rows
 */
export function changeRows(change: RowChange, { catalogue, rowEffects }: Session): void {
  if (!rowEffects && 'position' in change)
    throw new RejectionError(change.position, `sqlserve keeps no rows: nothing to ${change.verb.split(' ', 1)[0]}`);
  const { effect, what, operation } = ROW_CHANGES[change.verb];
  for (const name of 'names' in change ? change.names : [change.name]) {
    const table = catalogue.find(name); // with IF EXISTS there may be none
    const loss = effect === 'lost' && ({ loss: 'drop' } as const);
    if (table)
      rowEffects?.push({
        effect,
        kind: table.kind,
        object: table.name,
        text: `${what} ${displayName(table)}`,
        ...loss,
      });
    if (operation !== undefined) invalidateMaterializedViews(catalogue, name, operation);
    recordNotEmpty(catalogue, name);
    // Live views keep the rows that are gone from their base.
    if (change.verb === 'update') invalidateLiveViews(catalogue, name, () => operation);
  }
}

interface RowChangeKind {
  readonly effect: 'rewritten' | 'lost';
  readonly what: string;
  /** What makes the materialized views over the table invalid, in the words in which they report it. */
  readonly operation?: string;
}

const partitionDrop: RowChangeKind = {
  effect: 'lost',
  what: 'loses some rows of',
  operation: 'drop partition operation',
};

const ROW_CHANGES: Readonly<Record<RowChange['verb'], RowChangeKind>> = {
  insert: { effect: 'rewritten', what: 'writes rows to' },
  update: { effect: 'rewritten', what: 'rewrites rows of', operation: 'update operation' },
  truncate: { effect: 'lost', what: 'loses all rows of', operation: 'truncate operation' },
  'drop partition': partitionDrop,
  'force drop partition': partitionDrop,
  'detach partition': partitionDrop,
  'attach partition': { effect: 'rewritten', what: 'rewrites partitions of' },
  'convert partition': { effect: 'rewritten', what: 'rewrites partitions of' },
};

/**
 * Checks what a COPY needs besides rows and files: the table or the query that it exports. The server creates the table of
 * an import if there is none (observed on 9.3.4).
 */
export function rejectBadCopy(cursor: Cursor, catalogue: Catalogue): void {
  const source = cursor.requireNoSemicolon('copy source');
  if (source === '(') {
    const start = cursor.readOffset;
    const query = ' '.repeat(start) + readCode(cursor, start, true); // blanks, so that positions are those of the statement
    return void analyzeRelation(parseQueryText(query), catalogue);
  }
  const direction = cursor.requireNoSemicolon("'from' or 'to' or 'cancel'");
  if (!['from', 'to', 'cancel'].some(word => isWord(direction, word))) throw unexpectedTokenError(cursor.at, direction);
  const name = unquoteToken(source);
  if (isWord(direction, 'to') && !catalogue.find(name)) throw missingError(0, name);
}
