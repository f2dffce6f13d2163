/*! Executes the statements that both editions have, except CREATE and queries. The first word of a statement selects its handler. */
import {
  type Alter,
  type Alteration,
  applyAlteration,
  type ChangeStatement,
  findColumn,
  findWalObjects,
  objectsOf,
  type PartitionChange,
  permissionFor,
  permissionOf,
  printResumeWal,
} from '@sqlpipe/ddl';
import {
  type Body,
  type Cursor,
  isWord,
  missingError,
  parseChangeAfter,
  RejectionError,
  readCode,
  unexpectedTokenError,
  unquoteToken,
} from '@sqlpipe/ddl/grammar';
import { displayName } from '@sqlpipe/sql';
import { analyzeRelation } from '../analyze/relation.js';
import type { Catalogue } from '../catalogue.js';
import { type CatalogueObject, type ColumnPair, type MaterializedView, pairColumns } from '../catalogue-objects.js';
import { effectOn } from '../effects.js';
import { OpaqueError, unknownSyntaxError } from '../errors.js';
import { parseBody, parseQueryText } from '../parse/parsed-query.js';
import type { ExecutionResult, Session } from '../session.js';
import { createView, defaultStart } from './create.js';
import {
  findColumnsReadFromBase,
  GONE_TABLE_REASON,
  invalidateLiveViews,
  invalidateMaterializedViews,
  recordNotEmpty,
  whyNotRefreshable,
} from './validity.js';

/** Parses and executes a statement from its second word on. Without a result, the reply is OK. */
export type StatementHandler = (cursor: Cursor, session: Session) => HandlerResult;

// biome-ignore lint/suspicious/noConfusingVoidType: most handlers have no result of their own, and return nothing
type HandlerResult = ExecutionResult | undefined | void;

export type StatementHandlers = ReadonlyMap<string, StatementHandler>;

const handle = (handler: (verb: string) => StatementHandler, ...verbs: string[]) =>
  verbs.map(verb => [verb, handler(verb)] as const);

export const statementHandlers: StatementHandlers = new Map([
  // Statements about a client's session have no effect.
  ...handle(() => () => undefined, 'set', 'begin', 'commit', 'rollback'),
  ...handle(handleChange, 'alter', 'compile', 'drop', 'refresh', 'rename', 'truncate', 'vacuum'),
  ...handle(handleRows, 'insert', 'update', 'copy', 'reindex', 'backup', 'checkpoint', 'snapshot', 'cancel'),
]);

function handleChange(verb: string): StatementHandler {
  return (cursor, session) => {
    let query: Body | undefined;
    const change = parseChangeAfter(cursor, verb, {
      ...session,
      // Only ALTER needs columns, for which `resolve` may have to compile the query of a view.
      find(name) {
        const object = verb === 'alter' ? session.catalogue.resolve(name) : session.catalogue.find(name);
        // An object of unknown syntax can be dropped, but not altered or renamed.
        if (object?.opaque !== undefined && (verb === 'alter' || verb === 'rename')) throw unknownSyntaxError(object);
        return object;
      },
      rejectBadQuery(body) {
        parseBody(body);
        query = body;
      },
    });
    authorizeChange(change, session);
    requireApplied(change, session);
    return applyChange(change, session, query);
  };
}

function handleRows(verb: string): StatementHandler {
  return (cursor, session) => {
    if (!session.rowEffects)
      throw new RejectionError(
        cursor.at,
        `sqlserve keeps the schema and no rows, so it rejects ${verb.toUpperCase()}; use a real QuestDB for tests that need rows`,
      );
    if (verb === 'insert' || verb === 'update') return handleChange(verb)(cursor, session);
    if (verb === 'copy') rejectBadCopy(cursor, session.catalogue);
    throw new OpaqueError('its result depends on rows or files of the server');
  };
}

/** With IF EXISTS, a missing object needs no permission. @throws DenialError */
function authorizeChange(change: ChangeStatement, { acl, caller, catalogue, authorize }: Session): void {
  if (change.verb === 'drop all' || change.verb === 'rebase wal') return authorize(permissionOf(change));
  for (const object of objectsOf(change).flatMap(({ name }) => catalogue.find(name) ?? [])) {
    if (change.verb === 'alter')
      for (const { alteration } of change.alters)
        authorize(permissionFor(alteration), object.name, columnsOf(alteration, object));
    // The columns that an UPDATE sets are not parsed, so the permission on any column is enough.
    else if (change.verb !== 'update' || !acl.allowsPart(caller, 'UPDATE', object.name))
      authorize(permissionOf(change), object.name);
  }
}

/** The columns to which the permission for an ALTER may be limited; undefined if a permission on the table is required. */
const columnsOf = (alteration: Alteration, object: CatalogueObject): string[] | undefined =>
  'column' in alteration && alteration.action !== 'add column' && alteration.action !== 'rename column'
    ? [findColumn(object, alteration.column)?.name ?? alteration.column]
    : undefined;

/** A server applies changes of a suspended table only after RESUME WAL. @throws OpaqueError */
function requireApplied(change: ChangeStatement, { catalogue }: Session): void {
  for (const { name } of findWalObjects(change)) {
    const table = catalogue.find(name);
    if (table?.kind === 'table' && table.isSuspended)
      throw new OpaqueError(
        `table '${table.name}' is suspended, so the server applies no change to it; repair it with ${printResumeWal(table)}`,
      );
  }
}

/** @param textStart the start of the text for a loss; undefined if no transaction is lost */
function resumeWal(name: string, textStart: string | undefined, session: Session): void {
  const table = session.catalogue.find(name);
  if (table && textStart !== undefined) {
    const text = `${textStart} of ${displayName(table)} that are not applied`;
    session.rowEffects?.push(effectOn(table, 'lost', text, { loss: 'drop' }));
  }
  setSuspended(name, false, session);
}

function setSuspended(name: string, isSuspended: boolean, { catalogue }: Session): void {
  const table = catalogue.find(name);
  if (table?.kind === 'table' && (table.isSuspended ?? false) !== isSuspended) catalogue.put({ ...table, isSuspended });
}

/** Discards the transactions that a suspended table has not applied. */
function rebaseWal(name: string, session: Session): void {
  resumeWal(name, 'loses the transactions', session);
  invalidateMaterializedViews(session.catalogue, name, REBASED_REASON);
  invalidateLiveViews(session.catalogue, name, () => REBASED_REASON);
}

const REBASED_REASON = 'base table rebase';

type Changed<Verb> = Extract<ChangeStatement, { verb: Verb }>;

function applyChange(change: ChangeStatement, session: Session, query: Body | undefined): void {
  switch (change.verb) {
    case 'alter': {
      const [first] = change.alters;
      if (first?.kind === 'table') return alterTable(change.alters, session);
      if (first?.kind === 'materialized view' || first?.kind === 'live view') return alterStoredView(first, session);
      return first && query && alterView(first, query, session);
    }
    case 'drop':
      return dropObject(change.name, session);
    case 'drop all':
      return session.catalogue.clear();
    case 'rename':
      return renameTable(change, session);
    case 'refresh':
      return executeRefresh(change, session);
    case 'resume wal':
      return resumeWal(change.name, change.skips ? 'skips transactions' : undefined, session);
    case 'suspend wal':
      return setSuspended(change.name, true, session);
    case 'rebase wal':
      return rebaseWal(change.name, session);
    case 'compile':
      return executeCompile(change, session);
    default:
      if (isRowChange(change)) changeRows(change, session);
    // Other statements change nothing that the catalogue contains.
  }
}

/** There is nothing to do for a valid view: the engine compiles views when it needs them. */
function executeCompile({ name, position }: Changed<'compile'>, { catalogue }: Session): void {
  const view = catalogue.find(name);
  if (view?.kind === 'view' && view.invalid) throw new RejectionError(position, view.invalid.reason);
}

function dropObject(name: string, { catalogue }: Session): void {
  const object = catalogue.find(name);
  if (!object) return;
  catalogue.drop(object.name);
  invalidateMaterializedViews(catalogue, object.name, GONE_TABLE_REASON);
  invalidateLiveViews(catalogue, object.name, () => GONE_TABLE_REASON);
}

function renameTable({ name, to }: Changed<'rename'>, session: Session): void {
  const table = session.catalogue.find(name);
  dropObject(name, session);
  if (table) session.catalogue.put({ ...table, name: to });
}

/**
 * A full refresh makes an invalid view valid, unless `whyNotRefreshable` gives a reason. The server empties the view first, so the views
 * over it become invalid (observed on 9.3.4; documented for live views).
 */
function executeRefresh({ name, isFull }: Changed<'refresh'>, { catalogue, rowEffects }: Session): void {
  const view = catalogue.resolve(name);
  if (view?.kind !== 'materialized view') return;
  const { invalid, isInvalidEarly: _, partlyRefreshed: __, ...rest } = view;
  const reason = isFull ? whyNotRefreshable(view, catalogue) : invalid;
  const refreshed: MaterializedView = { ...rest, neverRefreshed: false };
  catalogue.put(reason === undefined ? refreshed : { ...refreshed, invalid: reason });
  if (!isFull) return;
  const text = `recomputes ${displayName(view)} from what '${view.base}' holds`;
  rowEffects?.push(effectOn(view, 'rewritten', text));
  invalidateMaterializedViews(catalogue, view.name, 'truncate operation');
  invalidateLiveViews(catalogue, view.name, () => 'base materialized view is refreshed in full');
}

function alterTable(alters: readonly Alter[], { catalogue, assignColumnOwner }: Session): void {
  const table = catalogue.find(alters[0]?.name ?? '');
  if (table?.kind !== 'table') return;
  let changed = table;
  for (const { alteration } of alters) {
    if (alteration.action === 'add column' && !findColumn(changed, alteration.column.name))
      assignColumnOwner(table.name, alteration.column.name, alteration.owner);
    changed = applyAlteration(changed, alteration);
  }
  const pairs = pairColumns(table, changed);
  const isRestructured = changed.columns.length > table.columns.length || pairs.some(isRenamedOrGone);
  const operation = findColumnOperation(pairs);
  // Before `put`, because the columns that a live view reads are known only while its query still fits its base.
  if (operation)
    invalidateLiveViews(catalogue, table.name, view => {
      const read = findColumnsReadFromBase(view, catalogue);
      const pair = pairs.filter(isChanged).find(({ column }) => read?.includes(column.name) ?? true);
      return pair && `${operation} [column=${pair.column.name}]`;
    });
  catalogue.put(isRestructured ? { ...changed, structure: (table.structure ?? 0) + 1 } : changed);
  if (operation) invalidateMaterializedViews(catalogue, table.name, operation);
}

/** What makes stored views invalid, in the words of the server; undefined if nothing does. */
function findColumnOperation(pairs: readonly ColumnPair[]): string | undefined {
  if (pairs.some(({ now }) => !now)) return 'drop column operation';
  if (pairs.some(isRenamedOrGone)) return 'rename column operation';
  return pairs.some(isChanged) ? 'change column type operation' : undefined;
}

const isRenamedOrGone = ({ column, now }: ColumnPair): boolean => column.name !== now?.name;

const isChanged = ({ column, now }: ColumnPair): boolean => column.name !== now?.name || column.type !== now.type;

function alterView({ name }: Alter, body: Body, session: Session): void {
  const view = session.catalogue.find(name);
  if (view?.kind !== 'view') return;
  createView(session, { definition: view, position: body.start, ifNotExists: false, orReplace: true, body });
}

function alterStoredView({ name, alteration }: Alter, { catalogue }: Session): void {
  const view = catalogue.resolve(name);
  const changed = view && applyAlteration(view, alteration);
  if (changed?.kind !== 'materialized view' || alteration.action !== 'refresh')
    return changed && catalogue.put(changed);
  const { start = defaultStart(alteration.refresh), ...refresh } = changed.refresh;
  catalogue.put({ ...changed, refresh: { ...refresh, start } });
}

type RowChange = Extract<ChangeStatement, { verb: 'insert' | 'update' | 'truncate' }> | PartitionChange;

const isRowChange = (change: ChangeStatement): change is RowChange => Object.hasOwn(ROW_CHANGES, change.verb);

function changeRows(change: RowChange, { catalogue, rowEffects }: Session): void {
  if (!rowEffects && 'position' in change)
    throw new RejectionError(
      change.position,
      `sqlserve keeps no rows: nothing to ${change.verb.replace('force ', '').split(' ', 1)[0]}`,
    );
  const { effect, what, operation } = ROW_CHANGES[change.verb];
  for (const name of 'names' in change ? change.names : [change.name]) {
    const table = catalogue.find(name); // with IF EXISTS there may be none
    const loss = effect === 'lost' ? ({ loss: 'drop' } as const) : {};
    if (table) rowEffects?.push(effectOn(table, effect, `${what} ${displayName(table)}`, loss));
    if (operation !== undefined) invalidateMaterializedViews(catalogue, name, operation);
    recordNotEmpty(catalogue, name);
    // Live views keep rows that their base loses. So of these changes, only UPDATE makes a live view invalid.
    if (change.verb === 'update') invalidateLiveViews(catalogue, name, () => operation);
  }
}

interface RowChangeKind {
  readonly effect: 'rewritten' | 'lost';
  readonly what: string;
  /** The server's reason why materialized views over the table become invalid; undefined if they stay valid. */
  readonly operation?: string;
}

const PARTITION_DROP: RowChangeKind = {
  effect: 'lost',
  what: 'loses some rows of',
  operation: 'drop partition operation',
};

const PARTITION_REWRITE: RowChangeKind = { effect: 'rewritten', what: 'rewrites partitions of' };

const ROW_CHANGES: Readonly<Record<RowChange['verb'], RowChangeKind>> = {
  insert: { effect: 'rewritten', what: 'writes rows to' },
  update: { effect: 'rewritten', what: 'rewrites rows of', operation: 'update operation' },
  truncate: { effect: 'lost', what: 'loses all rows of', operation: 'truncate operation' },
  'drop partition': PARTITION_DROP,
  'force drop partition': PARTITION_DROP,
  'detach partition': PARTITION_DROP,
  'attach partition': PARTITION_REWRITE,
  'convert partition to parquet': PARTITION_REWRITE,
  'convert partition to native': PARTITION_REWRITE,
};

/** Checks the source of a COPY. An export needs an existing table; an import creates a missing one (observed on 9.3.4). */
function rejectBadCopy(cursor: Cursor, catalogue: Catalogue): void {
  const source = cursor.requireNoSemicolon('copy source');
  if (source === '(') {
    const start = cursor.readPosition;
    const query = ' '.repeat(start) + readCode(cursor, start, true); // blanks, so that positions are those of the statement
    return void analyzeRelation(parseQueryText(query), catalogue);
  }
  const direction = cursor.requireNoSemicolon("'from' or 'to' or 'cancel'");
  if (!['from', 'to', 'cancel'].some(word => isWord(direction, word))) throw unexpectedTokenError(cursor.at, direction);
  const name = unquoteToken(source);
  if (isWord(direction, 'to') && !catalogue.find(name)) throw missingError(0, name);
}
