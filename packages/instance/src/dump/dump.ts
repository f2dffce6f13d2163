import { isCleanTable, removeOwner, repair } from '@sqlpipe/ddl';
import { NameSelection, parseSelection, type Selection } from '@sqlpipe/schema';
import { displayName, identify, isAclKind, KINDS, MAX_RECORD, normalizeStatement, redact } from '@sqlpipe/sql';
import { formatExcerpt, maskSecrets } from '@sqlpipe/text';
import type { ConnectionConfig } from '../configuration/connection-config.js';
import { type Client, connect } from '../http/client.js';
import { requestSecrets } from '../http/connection.js';
import { BestEffortClient, tryQuery, UNKNOWN_SHOW, UNKNOWN_SHOW_CREATE } from '../http/optional-queries.js';
import { MAX_MASKED_LENGTH } from '../http/reply.js';
import { InstanceError } from '../instance-error.js';
import { fetchInvalidViews, VIEW_LISTS } from '../reports/health.js';
import { fetchCatalogueDump } from './catalogue-dump.js';
import { addMissingRows, CompletenessCheck } from './completeness-check.js';
import { SymbolCapacities } from './symbol-capacities.js';
import { type ObjectReadOptions, UnreadableObjects } from './unreadable-objects.js';

/** Options for dumping. By default everything is dumped and repaired. */
export interface DumpOptions {
  selection: Selection;
  /** Globs for the names of the objects to dump; if there are none, all are dumped. */
  names: readonly string[];
  withDeps?: boolean;
  /** By SHOW CREATE DATABASE, or object by object (`catalogue`). `auto` means by SHOW CREATE DATABASE if the server has it. */
  via?: 'auto' | 'database' | 'catalogue';
  verbatim?: boolean;
  noOwner?: boolean;
  /** The maximum length of a record in bytes. The row in the server's JSON may be longer, because of escapes. */
  maxRecord: number;
  skipInvalid?: boolean;
  reportInvalid: boolean;
  /** Whether to accept a dump without the objects that the account may not read. Each is a warning. */
  partial?: boolean;
  /** Receives what a reader of the dump should know, one line each. */
  warn(message: string): void;
  /** Receives what was repaired, what changed while the dump was read, and what could not be checked, one line each. */
  info(message: string): void;
  /** If it aborts, the dump ends with an error at once, even while the server sends nothing. */
  signal?: AbortSignal;
}

const DEFAULTS = { selection: parseSelection(), names: [], maxRecord: MAX_RECORD, reportInvalid: true } as const;

/**
 * Dumps the normalized statements of a schema in dump order. They come in batches, because passing them on one by one would take longer
 * than reading them. Without `partial` and `skipInvalid`, an end without an error means that the dump has every selected object that the
 * server lists. If the server does not list its objects, a warning says so.
 * @throws InstanceError: PROTOCOL if a row is not one statement, DENIED if the account may not read an object, REJECTED if a
 *   name matches nothing
 */
export async function* dump(config: ConnectionConfig, given: Partial<DumpOptions> = {}): AsyncGenerator<string[]> {
  const { warn = () => {}, info = () => {}, ...others } = given;
  const options: DumpOptions = {
    ...DEFAULTS,
    ...others,
    warn: (message: string) => warn(`${config.label}: ${message}`),
    info: (message: string) => info(`${config.label}: ${message}`),
  };
  // If the server is down, both clients retry. Only the first one reports that.
  const [rows, checks] = [connect(config), connect({ ...config, warn: undefined })];
  const clients = { rows, checks, bestEffort: new BestEffortClient(config) };
  const close = () => Promise.all(Object.values(clients).map(client => client.close()));
  options.signal?.addEventListener('abort', close);
  try {
    if (options.signal?.aborted) await close();
    for await (const batch of dumpStatements(config, clients, options))
      yield options.noOwner ? batch.map(removeOwner) : batch;
  } finally {
    options.signal?.removeEventListener('abort', close);
    await close();
  }
}

interface Clients {
  readonly rows: Client;
  /** Sends the queries that a user asked for or relies on, while `rows` reads the dump. */
  readonly checks: Client;
  readonly bestEffort: BestEffortClient;
}

async function* dumpStatements(config: ConnectionConfig, clients: Clients, options: DumpOptions) {
  /** Why views are invalid, by kind and name. Fetched before the first view of a kind. */
  const invalid = new Map<string, Map<string, string>>();
  let hasAcl = false;
  let count = 0;
  const { selection, skipInvalid, reportInvalid, verbatim, warn, info } = options;
  const { checks, bestEffort } = clients;
  const names = new NameSelection(options.names, options.withDeps ?? false);
  const [unreadable, capacities] = [new UnreadableObjects(), new SymbolCapacities(use => bestEffort.attempt(use))];
  const readOptions = { names, unreadable, selects: selection.selects, warn, info };
  const warnOfUnknown = ({ message }: InstanceError): true => {
    warn(`invalid views may be in the dump despite --skip-invalid, because the server does not list them: ${message}`);
    return true;
  };
  const attempt: BestEffortClient['attempt'] = use =>
    skipInvalid ? tryQuery(use(checks), warnOfUnknown) : bestEffort.attempt(use);
  for await (const batch of names.select(fetchRows(clients, options, readOptions))) {
    const statements: string[] = [];
    for (const row of batch) {
      count++;
      // Nearly all rows are clean tables, and parsing them would be slow.
      if (isCleanTable(row)) {
        statements.push(row);
        continue;
      }
      const { statement, identity } = toStatement(row, count, config, options);
      const { kind, name } = identity;
      if (isAclKind(kind)) {
        hasAcl = true;
        if (!selection.selects(kind)) continue; // a category of the server may have more kinds of access control than were selected
      }
      if (VIEW_LISTS.has(kind) && (reportInvalid || skipInvalid)) {
        if (!invalid.has(kind)) invalid.set(kind, (await fetchInvalidViews(attempt, [kind])).invalid);
        const reason = invalid.get(kind)?.get(name);
        if (reason && reportInvalid)
          warn(
            `${displayName(identity)} is invalid on the source (${quoteSafely(reason, config)}); ${skipInvalid ? 'left out' : 'the target may reject it'}`,
          );
        if (reason && skipInvalid) continue;
      }
      statements.push(statement);
    }
    yield verbatim ? statements : await capacities.complete(statements);
  }
  if (selection.requestsAcl && !hasAcl && !options.names.length)
    warn('access control was requested, but the server reports none; it may be disabled there');
  unreadable.report(config, names, options);
  const unmatched = names.formatUnmatched();
  if (unmatched) throw new InstanceError('REJECTED', `${config.label}: ${unmatched}`);
}

function toStatement(row: string, rowNumber: number, config: ConnectionConfig, { verbatim, warn, info }: DumpOptions) {
  const { statement: text, notes, warnings } = verbatim ? { statement: row, notes: [], warnings: [] } : repair(row);
  let statement: string;
  try {
    statement = normalizeStatement(text);
    if (!statement) throw new Error('only comments');
  } catch (error) {
    throw new InstanceError(
      'PROTOCOL',
      `${config.label}: row ${rowNumber} is not one statement (${(error as Error).message}); is this the schema of a QuestDB server? ${quoteSafely(text, config)}`,
      { cause: error },
    );
  }
  const identity = identify(statement);
  for (const warning of warnings) warn(`${displayName(identity)}: ${warning}`);
  for (const note of notes) info(`${displayName(identity)}: ${note}`);
  return { statement, identity };
}

async function* fetchRows(
  { rows, checks, bestEffort }: Clients,
  { via, selection, maxRecord }: DumpOptions,
  readOptions: ObjectReadOptions,
): AsyncGenerator<string[]> {
  if (via === 'catalogue') return yield await fetchCatalogueDump(rows, bestEffort, readOptions);
  const check = new CompletenessCheck(checks, readOptions);
  const query = `SHOW CREATE DATABASE${selection.clause}`;
  // What is too long for a record is rejected later, with the name of the statement.
  const maxRowLength = Math.max(32 * 1024 * 1024, 2 * maxRecord);
  try {
    yield* addMissingRows(rows.streamFirstColumn(query, maxRowLength), check);
  } catch (error) {
    if (!(error instanceof InstanceError)) throw error;
    const isUnknown = error.matches(UNKNOWN_SHOW) || error.matches(UNKNOWN_SHOW_CREATE);
    // Without SHOW CREATE DATABASE, the message does not list DATABASE.
    if (error.code !== 'REJECTED' || !isUnknown || error.matches(/DATABASE/)) {
      const isAclDenied = error.code === 'DENIED' && error.matches(/\[(?:LIST|USER DETAILS|LIST USERS)\b/);
      if (!isAclDenied || !KINDS.some(kind => isAclKind(kind) && selection.selects(kind))) throw error;
      throw error.withMessage(`${error.message}; hint: sqldump --include SCHEMA dumps without access control`);
    }
    if (via === 'database')
      throw error.withMessage(`${error.message}; it has no SHOW CREATE DATABASE, so use --via catalogue`);
    await check.listRequest; // one request at a time
    yield await fetchCatalogueDump(rows, bestEffort, readOptions);
  }
}

/** Without the secrets of statements and requests. */
const quoteSafely = (text: string, config: ConnectionConfig): string =>
  formatExcerpt(maskSecrets(redact(text).slice(0, MAX_MASKED_LENGTH), requestSecrets(config)), 200);
