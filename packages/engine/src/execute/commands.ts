/*! Executes the statements that both editions have, except CREATE and queries. The first word of a statement selects its handler. */
import {
  type Alter,
  applyAlteration,
  type Command,
  findColumn,
  findWalObjects,
  isPartitionCommand,
  objectsOf,
  type PartitionCommand,
  permissionOfAlteration,
  permissionOfCommand,
  printResumeWal,
} from '@sqlpipe/ddl';
import {
  type Body,
  type Cursor,
  catchRejection,
  isWord,
  missingError,
  parseCommandAfter,
  RejectionError,
  readCode,
  unexpectedTokenError,
  unquoteToken,
} from '@sqlpipe/ddl/parser';
import type { ChangeOfBaseReason } from '@sqlpipe/schema';
import { displayName, isStoredViewKind } from '@sqlpipe/sql';
import { analyzeRelation } from '../analyze/analyze-relation.js';
import { findColumnsRead, requireQueryReadAccess } from '../analyze/query-scope.js';
import type { Catalogue } from '../catalogue.js';
import { type CatalogueObject, type ColumnPair, type MaterializedView, pairColumns } from '../catalogue-objects.js';
import { type Effect, effectOn, lossOf } from '../effects.js';
import { OpaqueError, unknownSyntaxError } from '../errors.js';
import { parseBody, parseQueryText } from '../parse/parse-query.js';
import type { MutableSession, ResultSet, Session } from '../session.js';
import { createView, defaultStart } from './create.js';
import {
  findUnrefreshableReason,
  findViewsThatNeedWal,
  invalidateLiveViews,
  invalidateMaterializedViews,
  invalidateStoredViews,
  recordFilledViews,
} from './validity.js';

/** Parses and executes a statement from its second word on. If it returns no rows, the reply is OK. @param verb the first word */
// biome-ignore lint/suspicious/noConfusingVoidType: most handlers have no rows, and return nothing
export type StatementHandler = (cursor: Cursor, session: MutableSession, verb: string) => ResultSet | undefined | void;

export type StatementHandlers = ReadonlyMap<string, StatementHandler>;

export const forVerbs = (handler: StatementHandler, ...verbs: string[]) => verbs.map(verb => [verb, handler] as const);

export const statementHandlers: StatementHandlers = new Map([
  // Statements about a client's session have no effect.
  ...forVerbs(() => {}, 'set', 'begin', 'commit', 'rollback'),
  ...forVerbs(parseAndExecute, 'alter', 'compile', 'drop', 'refresh', 'rename', 'truncate', 'vacuum'),
  ...forVerbs(executeRowStatement, 'insert', 'update', 'copy', 'reindex', 'backup', 'checkpoint', 'snapshot', 'cancel'),
]);

function parseAndExecute(cursor: Cursor, session: MutableSession, verb: string): void {
  let query: Body | undefined;
  const command = parseCommandAfter(cursor, verb, {
    ...session,
    // A loaded view has no columns until `compileAndFind` compiles the view. Only ALTER needs the columns.
    find(name) {
      const object = verb === 'alter' ? session.catalogue.compileAndFind(name) : session.catalogue.find(name);
      // An object of unknown syntax can be dropped, but not altered or renamed.
      if (object?.opaqueStatement !== undefined && (verb === 'alter' || verb === 'rename'))
        throw unknownSyntaxError(object);
      return object?.opaqueStatement === undefined ? object : { kind: object.kind, name: object.name };
    },
    checkQuery(body) {
      const parsed = parseBody(body);
      if (verb === 'insert') analyzeRelation(parsed, session.catalogue);
      query = body;
    },
  });
  authorizeCommand(command, session);
  if (query && verb === 'insert') requireQueryReadAccess(session, parseBody(query));
  rejectSuspended(command, session);
  executeCommand(command, session, query);
}

function executeRowStatement(cursor: Cursor, session: MutableSession, verb: string): void {
  if (!session.assumesRows)
    throw new RejectionError(
      cursor.start,
      `this server keeps the schema and no rows, so it rejects ${verb.toUpperCase()}; use a real QuestDB for tests that need rows`,
    );
  if (verb === 'insert' || verb === 'update') return parseAndExecute(cursor, session, verb);
  if (verb === 'copy') rejectBadCopy(cursor, session.catalogue);
  throw new OpaqueError(`the result of ${verb.toUpperCase()} depends on rows or files of the server`);
}

/** With IF EXISTS, the object may be missing. Then the caller needs no permission. @throws DenialError */
function authorizeCommand(command: Command, { catalogue, authorize }: Session): void {
  if (command.action === 'drop all' || command.action === 'rebase wal') return authorize(permissionOfCommand(command));
  for (const object of objectsOf(command).flatMap(({ name }) => catalogue.find(name) ?? [])) {
    if (command.action === 'alter')
      for (const { alteration } of command.alters) {
        const isOfColumn =
          'column' in alteration && alteration.action !== 'add column' && alteration.action !== 'rename column';
        const columns = isOfColumn ? [findColumn(object, alteration.column)?.name ?? alteration.column] : undefined;
        authorize(permissionOfAlteration(alteration), object.name, columns);
      }
    else
      authorize(permissionOfCommand(command), object.name, command.action === 'update' ? command.columns : undefined);
  }
}

/** A server does not apply changes to a suspended table until the suspension ends. @throws OpaqueError */
function rejectSuspended(command: Command, { catalogue }: Session): void {
  for (const { name } of findWalObjects(command)) {
    const table = catalogue.find(name);
    if (table?.kind === 'table' && table.isSuspended)
      throw new OpaqueError(
        `table '${table.name}' is suspended, so the server applies no change to it; repair it with ${printResumeWal(table)}`,
      );
  }
}

/** @param lossPhrase what happens to transactions that are not applied, such as `skips transactions`; undefined if all are applied */
function resumeWal(object: CatalogueObject | undefined, lossPhrase: string | undefined, session: MutableSession): void {
  if (object && lossPhrase !== undefined)
    session.directEffects.push(lossOf(object, 'drop', `${lossPhrase} of ${displayName(object)} that are not applied`));
  if (object?.kind === 'table' && object.isSuspended) session.catalogue.put({ ...object, isSuspended: false });
}

function executeCommand(command: Command, session: MutableSession, query: Body | undefined): void {
  const { catalogue } = session;
  const object = 'name' in command ? catalogue.find(command.name) : undefined;
  const table = object?.kind === 'table' ? object : undefined;
  switch (command.action) {
    case 'alter': {
      const [first] = command.alters;
      if (first?.kind === 'table') return executeAlterTable(command.alters, session);
      if (first && isStoredViewKind(first.kind)) return executeAlterStoredView(first, session);
      const view = first && catalogue.find(first.name);
      if (view?.kind !== 'view' || !query) return;
      const replacement = { definition: view, nameStart: query.outerStart, body: query };
      return createView(session, { ...replacement, ifNotExists: false, orReplace: true });
    }
    case 'drop':
    case 'rename':
      if (!object) return;
      catalogue.drop(object.name);
      invalidateStoredViews(catalogue, object.name, 'base table is dropped or renamed');
      if (command.action === 'rename') catalogue.put({ ...object, name: command.to });
      return;
    case 'drop all':
      return catalogue.clear();
    case 'refresh':
      return executeRefresh(command.name, command.isFull, session);
    case 'resume wal':
      return resumeWal(object, command.skips ? 'skips transactions' : undefined, session);
    case 'suspend wal':
      if (table && !table.isSuspended) catalogue.put({ ...table, isSuspended: true });
      return;
    case 'set type':
      if (table) catalogue.setWalBypass(table.id, !command.wal && table.wal);
      return;
    case 'rebase wal':
      resumeWal(object, 'loses the transactions', session);
      return invalidateStoredViews(catalogue, command.name, 'base table rebase');
    case 'compile':
      // COMPILE changes nothing here: the engine compiles a view when a statement needs it.
      if (object?.kind === 'view' && object.rejection)
        throw new RejectionError(command.position, object.rejection.reason);
      return;
    case 'refresh range':
    case 'refresh stats':
    case 'set refresh limit':
    case 'squash partitions':
    case 'vacuum':
      return;
    default:
      recordRowEffects(command, session);
  }
}

/**
 * A full refresh repairs an invalid view, unless `findUnrefreshableReason` gives a reason. The server empties the view before it fills the
 * view again. This makes the views over it invalid (observed on 9.3.4; documented for live views).
 */
function executeRefresh(name: string, isFull: boolean, { catalogue, directEffects }: MutableSession): void {
  const view = catalogue.compileAndFind(name);
  if (view?.kind !== 'materialized view') return;
  const { invalidReason, isInvalidEarly: _, isPartlyRefreshed: __, ...rest } = view;
  const reason = isFull ? findUnrefreshableReason(view, catalogue) : invalidReason;
  const refreshed: MaterializedView = { ...rest, wasNeverRefreshed: false };
  catalogue.put(reason === undefined ? refreshed : { ...refreshed, invalidReason: reason });
  if (!isFull) return;
  const text = `recomputes ${displayName(view)} from what '${view.base}' holds`;
  directEffects.push(effectOn(view, 'rewritten', text));
  invalidateMaterializedViews(catalogue, view.name, 'truncate operation');
  invalidateLiveViews(catalogue, view.name, () => 'base materialized view is refreshed in full');
}

function executeAlterTable(alters: readonly Alter[], { catalogue, setColumnOwner }: MutableSession): void {
  const table = catalogue.find(alters[0]?.name ?? '');
  if (table?.kind !== 'table') return;
  let changed = table;
  for (const { alteration } of alters) {
    if (alteration.action === 'add column' && !findColumn(changed, alteration.column.name))
      setColumnOwner(table.name, alteration.column.name, alteration.owner);
    changed = applyAlteration(changed, alteration);
  }
  const pairs = pairColumns(table, changed);
  const isRestructured = changed.columns.length > table.columns.length || pairs.some(isRenamedOrGone);
  const reason = findChangeOfBase(pairs);
  // This comes before `put`. After `put`, the query may no longer fit the base, so the columns that it reads could not be found.
  if (reason)
    invalidateLiveViews(catalogue, table.name, view => {
      const read = catchRejection(() => findColumnsRead(parseQueryText(view.body), catalogue, table.name));
      const mayRead = ({ column }: ColumnPair) => read instanceof RejectionError || read.includes(column.name);
      const pair = pairs.find(each => isChanged(each) && mayRead(each));
      return pair && `${reason} [column=${pair.column.name}]`;
    });
  catalogue.put(isRestructured ? { ...changed, structureVersion: (table.structureVersion ?? 0) + 1 } : changed);
  if (reason) invalidateMaterializedViews(catalogue, table.name, reason);
}

/** The server's reason why a change of columns makes stored views invalid; undefined if the views stay valid. */
function findChangeOfBase(pairs: readonly ColumnPair[]): ChangeOfBaseReason | undefined {
  if (pairs.some(({ current }) => !current)) return 'drop column operation';
  if (pairs.some(isRenamedOrGone)) return 'rename column operation';
  return pairs.some(isChanged) ? 'change column type operation' : undefined;
}

const isRenamedOrGone = ({ column, current }: ColumnPair): boolean => column.name !== current?.name;

const isChanged = (pair: ColumnPair): boolean => isRenamedOrGone(pair) || pair.column.type !== pair.current?.type;

function executeAlterStoredView({ name, alteration }: Alter, { catalogue }: MutableSession): void {
  const view = catalogue.compileAndFind(name);
  const changed = view && applyAlteration(view, alteration);
  if (!changed) return;
  if (changed.kind !== 'materialized view' || alteration.action !== 'refresh') return catalogue.put(changed);
  const { start = defaultStart(alteration.refresh), ...refresh } = changed.refresh;
  catalogue.put({ ...changed, refresh: { ...refresh, start } });
}

type RowCommand = Extract<Command, { action: 'insert' | 'update' | 'truncate' }> | PartitionCommand;

function recordRowEffects(command: RowCommand, { catalogue, assumesRows, directEffects }: MutableSession): void {
  // The message has the first word of the action, without FORCE: `force drop partition` becomes `drop`.
  if (!assumesRows && isPartitionCommand(command))
    throw new RejectionError(
      command.position,
      `this server keeps no rows: nothing to ${command.action.replace('force ', '').split(' ', 1)[0]}`,
    );
  const [type, phrase, operation] = EFFECTS_ON_ROWS[command.action];
  const details = type === 'lost' ? ({ lossKind: 'drop' } as const) : {};
  for (const name of 'names' in command ? command.names : [command.name]) {
    const table = catalogue.find(name); // with IF EXISTS there may be none
    if (table) directEffects.push(effectOn(table, type, `${phrase} ${displayName(table)}`, details));
    if (operation !== undefined) invalidateMaterializedViews(catalogue, name, operation);
    recordFilledViews(catalogue, name);
    // A live view keeps rows that its base loses. So TRUNCATE and DROP PARTITION leave it valid, but UPDATE does not.
    if (command.action === 'update') invalidateLiveViews(catalogue, name, () => operation);
  }
}

/** `operation` is the server's reason why materialized views over the table become invalid; undefined if they stay valid. */
type EffectOnRows = readonly [type: 'rewritten' | 'lost', phrase: string, operation?: ChangeOfBaseReason];

const PARTITIONS_LOST: EffectOnRows = ['lost', 'loses some rows of', 'drop partition operation'];
const PARTITIONS_REWRITTEN: EffectOnRows = ['rewritten', 'rewrites partitions of'];

const EFFECTS_ON_ROWS: Readonly<Record<RowCommand['action'], EffectOnRows>> = {
  insert: ['rewritten', 'writes rows to'],
  update: ['rewritten', 'rewrites rows of', 'update operation'],
  truncate: ['lost', 'loses all rows of', 'truncate operation'],
  'drop partition': PARTITIONS_LOST,
  'force drop partition': PARTITIONS_LOST,
  'detach partition': PARTITIONS_LOST,
  'attach partition': PARTITIONS_REWRITTEN,
  'convert partition to parquet': PARTITIONS_REWRITTEN,
  'convert partition to native': PARTITIONS_REWRITTEN,
};

/** COPY TO needs an existing table. COPY FROM creates a missing table (observed on 9.3.4). */
function rejectBadCopy(cursor: Cursor, catalogue: Catalogue): void {
  const source = cursor.requireNoSemicolon('copy source');
  if (source === '(') {
    const start = cursor.reach;
    const query = ' '.repeat(start) + readCode(cursor, start, { isEnclosed: true }); // blanks keep positions
    return void analyzeRelation(parseQueryText(query), catalogue);
  }
  const direction = cursor.requireNoSemicolon("'from' or 'to' or 'cancel'");
  if (!['from', 'to', 'cancel'].some(word => isWord(direction, word)))
    throw unexpectedTokenError(cursor.start, direction);
  const name = unquoteToken(source);
  if (isWord(direction, 'to') && !catalogue.find(name)) throw missingError(0, name);
}

/**
 * What the next restart of the server does to tables that SET TYPE BYPASS WAL has named: it skips what a suspended table has not applied,
 * ends deduplication, and makes the materialized views over the table invalid (observed on 9.3.4).
 */
export function findEffectsOfRestart(catalogue: Catalogue): Effect[] {
  return [...catalogue.walBypassingIds].flatMap(id => {
    const table = catalogue.findById(id);
    if (table?.kind !== 'table') return [];
    const hasKeys = table.columns.some(({ dedup }) => dedup);
    const skipped = `skips transactions of ${displayName(table)} that are not applied, ${AT_RESTART}`;
    return [
      ...(table.isSuspended ? [lossOf(table, 'drop', skipped)] : []),
      ...(hasKeys ? [lossOf(table, 'keys', `switches deduplication off, ${AT_RESTART}`)] : []),
      ...findViewsThatNeedWal(catalogue, table.name).map(([view, reason]) =>
        effectOn(view, 'invalidated', `invalidates ${displayName(view)} ${AT_RESTART}: ${reason}`),
      ),
    ];
  });
}

const AT_RESTART = 'after a restart of the server';
