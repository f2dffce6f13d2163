/*! An instance's schema as statements: each is fetched, repaired and checked. */
import { isCleanTable, repair } from '@sqlpipe/ddl';
import { NameSelection, parseSelection, type Selection } from '@sqlpipe/schema';
import { displayName, identify, isAcl, KINDS, type Kind, MAX_RECORD, normalizeStatement, redact } from '@sqlpipe/sql';
import { maskSecrets, truncate } from '@sqlpipe/text';
import { BestEffortClient } from './best-effort-client.js';
import { addMissingRows, MissingObjects, ObjectCheck, type ObjectReadOptions } from './completeness.js';
import { requestSecrets } from './connection.js';
import type { ConnectionConfig } from './connection-config.js';
import { fetchInvalidViews, VIEW_LISTS } from './fetch-health.js';
import { connect, type Instance } from './instance.js';
import { InstanceError } from './instance-error.js';
import { fetchObjectRows } from './object-dump.js';
import { SymbolCapacities } from './symbol-capacities.js';

/** What to dump, how to query it, and where warnings go. By default everything is dumped and repaired. */
export interface DumpOptions {
  selection: Selection;
  /** Globs of the names of the objects to dump; all if there are none. */
  names: readonly string[];
  /** Dump what the named objects need, too. */
  withDeps: boolean;
  /** How to query the server: by SHOW CREATE DATABASE, object by object, or by whichever of these it supports. */
  via: 'auto' | 'database' | 'catalogue';
  /** Pass statements on as the server printed them, without repairs. */
  verbatim: boolean;
  /** The maximum length of a record in bytes; its row may be longer, because JSON escapes characters. */
  maxRecord: number;
  /** Leave out the views that the instance reports as invalid. */
  skipInvalid: boolean;
  /** Warn of the views that the instance reports as invalid. */
  reportInvalid: boolean;
  /** Accept a dump without the objects that the account may not read; each is a warning. */
  partial: boolean;
  /** Receives what a reader of the dump should know, one line each. */
  warn(message: string): void;
  /** Receives what was repaired, what changed while the dump was read, and what could not be checked, one line each. */
  note(message: string): void;
  /** Ends the dump with an error when it aborts, also while the server is silent. */
  signal?: AbortSignal;
}

const DEFAULTS: DumpOptions = {
  selection: parseSelection(),
  names: [],
  withDeps: false,
  via: 'auto',
  verbatim: false,
  maxRecord: MAX_RECORD,
  skipInvalid: false,
  reportInvalid: true,
  partial: false,
  warn() {},
  note() {},
};

/**
 * The statements of an instance's schema in dependency order, normalized. They are passed on in batches as they arrive,
 * because one by one that would take longer than reading them. The generator ends without an error only if the dump
 * is complete: it has every selected object that the server lists.
 * @throws InstanceError; PROTOCOL if a row is not one statement, DENIED if the account may not read an object, REJECTED if a
 *   name matches nothing
 */
export async function* dump(target: ConnectionConfig, given: Partial<DumpOptions> = {}): AsyncGenerator<string[]> {
  const options = { ...DEFAULTS, ...given };
  const { note } = options;
  options.note = message => note(`${target.label}: ${message}`);
  const [source, client] = [connect(target), new BestEffortClient(target)];
  const close = () => Promise.all([source.close(), client.close()]);
  options.signal?.addEventListener('abort', close);
  try {
    yield* dumpStatements(target, source, client, options);
  } finally {
    await close();
  }
}

async function* dumpStatements(
  target: ConnectionConfig,
  source: Instance,
  client: BestEffortClient,
  options: DumpOptions,
): AsyncGenerator<string[]> {
  const invalid = new Map<Kind, Map<string, string>>();
  let hasAcl = false;
  let n = 0;
  const names = new NameSelection(options.names, options.withDeps);
  const [missing, capacities] = [new MissingObjects(), new SymbolCapacities(use => client.attempt(use))];
  for await (const batch of names.select(fetchRows(target, source, client, options, { names, missing }))) {
    const statements: string[] = [];
    for (const row of batch) {
      n++;
      if (isCleanTable(row)) {
        statements.push(row);
        continue;
      }
      const { statement, identity } = toStatement(row, n, target, options);
      const { kind, name } = identity;
      if (isAcl(kind)) {
        hasAcl = true;
        if (!options.selection.selects(kind)) continue; // the server has one category for several kinds
      }
      const list = VIEW_LISTS.get(kind);
      if (list) {
        if (!invalid.has(kind)) invalid.set(kind, await fetchInvalidViews(query => client.table(query), [list]));
        const reason = invalid.get(kind)?.get(name);
        if (reason && options.reportInvalid)
          options.warn(
            `${displayName(identity)} is invalid on the source; ${options.skipInvalid ? 'left out' : 'the target may reject it'}: ${quoteSafely(reason, target)}`,
          );
        if (reason && options.skipInvalid) continue;
      }
      statements.push(statement);
    }
    yield options.verbatim ? statements : await capacities.addTo(statements);
  }
  if (options.selection.requestsAcl && !hasAcl && !options.names.length)
    options.warn('access control was requested, but the server reports none; it may be disabled there');
  missing.report(target, names, options);
  const unmatched = names.describeUnmatched();
  if (unmatched) throw new InstanceError('REJECTED', `${target.label}: ${unmatched}`);
}

function toStatement(row: string, n: number, target: ConnectionConfig, { verbatim, warn, note }: DumpOptions) {
  const { statement: text, notes, warnings } = verbatim ? { statement: row, notes: [], warnings: [] } : repair(row);
  const statement = requireStatement(text, n, target);
  const identity = identify(statement);
  for (const warning of warnings) warn(`${displayName(identity)}: ${warning}`);
  for (const repaired of notes) note(`${displayName(identity)}: ${repaired}`);
  return { statement, identity };
}

/** In bytes. More than a record may have: a statement that is too long is reported later, with its number. */
const MAX_ROW = 32 * 1024 * 1024;

/** The server's rows, queried in the way that `via` selects. Objects that it does not show are added to `read.missing`. */
async function* fetchRows(
  target: ConnectionConfig,
  source: Instance,
  client: BestEffortClient,
  { via, selection, maxRecord, note }: DumpOptions,
  read: Pick<ObjectReadOptions, 'names' | 'missing'>,
): AsyncGenerator<string[]> {
  const { selects, clause } = selection;
  const fetchAllObjectRows = () => fetchObjectRows(source, client, { ...read, selects, note });
  if (via === 'catalogue') return yield await fetchAllObjectRows();
  const check = new ObjectCheck(target, client, { ...read, selects, note });
  try {
    yield* addMissingRows(source.rows(`SHOW CREATE DATABASE${clause}`, Math.max(MAX_ROW, 2 * maxRecord)), check);
  } catch (error) {
    if (!isTooOld(error)) throw addAclHint(error, selection);
    if (via === 'database')
      throw error.withMessage(`${error.message}; it has no SHOW CREATE DATABASE, so use --via catalogue`);
    yield await fetchAllObjectRows();
  }
}

/** The permissions that access control needs, as the server's messages name them. */
const ACL_RIGHTS = /\[(?:LIST|USER DETAILS|LIST USERS)\b/;

function addAclHint(error: unknown, { selects }: Selection): unknown {
  if (!(error instanceof InstanceError) || error.code !== 'DENIED') return error;
  if (!error.matches(ACL_RIGHTS) || !KINDS.some(kind => isAcl(kind) && selects(kind))) return error;
  return error.withMessage(`${error.message}; hint: --include SCHEMA leaves it out`);
}

/**
 * Whether an error is that of a server without SHOW CREATE DATABASE (observed on 8.1.4 to 9.3.4): it lists the keywords
 * that it expects after SHOW CREATE, or after SHOW, and DATABASE is not among them.
 */
function isTooOld(error: unknown): error is InstanceError {
  if (!(error instanceof InstanceError) || error.code !== 'REJECTED') return false;
  return error.matches(/^expected 'TABLES?'/) && !error.matches(/DATABASE/);
}

function requireStatement(row: string, n: number, target: ConnectionConfig): string {
  try {
    const statement = normalizeStatement(row);
    if (statement) return statement;
    throw new Error('only comments');
  } catch (error) {
    throw new InstanceError(
      'PROTOCOL',
      `${target.label}: row ${n} is not one statement (${(error as Error).message}); is this the schema of a QuestDB server? ${quoteSafely(row, target)}`,
      { cause: error },
    );
  }
}

/** A text of the server, without secrets of its statements or of the requests to it. */
const quoteSafely = (text: string, target: ConnectionConfig): string =>
  truncate(maskSecrets(redact(text).slice(0, MAX_QUOTED), requestSecrets(target)), 200);

/** In UTF-16 code units; longer than the longest secret, so that secrets are found before the text is truncated. */
const MAX_QUOTED = 64 * 1024;
