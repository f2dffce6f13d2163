import {
  ASSUMED_PARTITION,
  createFeatureCheck,
  type Defaults,
  type Definition,
  EXPLICIT,
  findReferences,
  type HasFeature,
  NO_RETENTION,
  parsePrincipal,
  printDefinition,
  printRight,
  SERVER_DEFAULTS,
} from '@sqlpipe/ddl';
import type { Body } from '@sqlpipe/ddl/parser';
import { type Entry, type Health, Schema } from '@sqlpipe/schema';
import {
  displayName,
  isObjectKind,
  isPrincipalKind,
  isSameName,
  KINDS,
  type LocatedName,
  NameMap,
  type ObjectKind,
} from '@sqlpipe/sql';
import { Acl, printPrincipals } from './acl.js';
import { requireValidBase } from './analyze/analyze-materialized-view.js';
import { type Catalogue, type ColumnNaming, MutableCatalogue } from './catalogue.js';
import { type CatalogueObject, pairColumns, toStoredColumn } from './catalogue-objects.js';
import { type Effect, findEffects, findInvalidReason, grantRemovals } from './effects.js';
import { enterpriseHandlers } from './execute/acl-statements.js';
import { findEffectsOfRestart, type StatementHandlers, statementHandlers } from './execute/commands.js';
import { executeCreate } from './execute/create.js';
import {
  compileLoaded,
  findUnresolvedReason,
  invalidateUnrefreshable,
  recompilePlainViews,
  recordFilledViews,
} from './execute/validity.js';
import { parseBody } from './parse/parse-query.js';
import { type ParsedStatement, parseStatement } from './parse/parse-statement.js';
import type { SecretFactory } from './principal.js';
import { ALL_RIGHTS, rightsOfCaller, type Session, type StatementReply } from './session.js';
import { type JournalEntry, TransactionLog, type Transition } from './transaction-log.js';

/** The server to emulate, and what a real server has reported about the objects to load. */
export interface EngineOptions {
  readonly isEnterprise?: boolean | undefined;
  /** The version of the open source edition whose features the engine has, such as `9.3.4`; by default the newest. */
  readonly version?: string | undefined;
  readonly defaults?: Defaults | undefined;
  readonly naming?: ColumnNaming;
  /** What a server reports about the loaded objects; undefined if no server was asked. */
  readonly health?: Health | undefined;
  /** With `assumed`, all tables count as having rows. With `none`, the default, statements about rows are rejected. */
  readonly rows?: 'assumed' | 'none';
  /** The name of the built-in administrator, which is the default caller. */
  readonly admin?: string;
  readonly secrets?: SecretFactory;
}

/** What one statement changed and returned. */
export interface Execution {
  readonly effects: readonly Effect[];
  readonly transitions: readonly Transition[];
  /** Only a statement that creates a token returns rows. The engine leaves a query to sqlserve, which answers it. */
  readonly reply: StatementReply | { readonly kind: 'unanswered'; readonly query: QueryStatement };
}

/** A query, SHOW or EXPLAIN. */
export type QueryStatement = Exclude<ParsedStatement, { type: 'create' | 'command' }>;

/**
 * A QuestDB schema in memory that executes statements as a server would. sqlserve is a test server with this engine. The planner and dry
 * runs use an engine to predict what statements do on a real server.
 *
 * Loading compiles no view. A view is compiled, to find its columns, when a statement needs them or changes an object that the view reads.
 */
export class Engine {
  readonly acl: Acl;
  readonly catalogue: Catalogue;
  readonly #catalogue: MutableCatalogue;
  readonly #log = new TransactionLog();
  /** The changes since the last commit. Callers commit them, or roll them back. */
  readonly log: Pick<TransactionLog, 'savepoint' | 'rollback' | 'commit' | 'journalEntries'> = this.#log;
  readonly #assumesRows: boolean;
  readonly #handlers: StatementHandlers;
  readonly hasFeature: HasFeature;

  constructor(private readonly options: EngineOptions = {}) {
    const { health, naming, admin = 'admin', isEnterprise = false, rows, version } = options;
    const compile = (object: CatalogueObject, all: Catalogue) => compileLoaded(object, all, health !== undefined);
    this.catalogue = this.#catalogue = new MutableCatalogue(naming, this.#log, compile);
    this.acl = new Acl(admin, this.#log);
    this.#assumesRows = rows === 'assumed';
    this.#handlers = isEnterprise ? enterpriseHandlers : statementHandlers;
    this.hasFeature = createFeatureCheck({ version, isEnterprise });
  }

  /** Loads the statements of a dump, in any order, without executing them. Existing objects stay as they are. Commits at the end. */
  load(statements: Iterable<string>): void {
    const { defaults, health } = this.options;
    const schema = new Schema(statements, defaults);
    for (const entry of schema.entries) {
      const { kind, name, statement } = entry;
      if (isObjectKind(kind) && !this.find(name)) this.#catalogue.put(loadObject(kind, entry, schema, health));
      else if (isPrincipalKind(kind) && !this.acl.find(name))
        this.acl.apply({ put: { kind, name, tokens: [], alias: parsePrincipal(statement)?.alias } });
    }
    for (const entry of schema.entries) for (const right of schema.rightsOf(entry) ?? []) this.acl.loadRight(right);
    for (const view of this.catalogue.list())
      if (view.kind === 'materialized view' && view.base === '')
        this.#catalogue.put({ ...view, base: this.catalogue.sources(view.references.slice(0, 1))[0] ?? '' });
    this.#log.commit();
  }

  /**
   * Executes one statement for a caller, by default the administrator. If it throws, the schema is unchanged.
   * @throws RejectionError with the server's message
   * @throws OpaqueError if the engine cannot know what the statement does
   * @throws NotReadyError if a library or the hash of a password has to be prepared first (`whenReady`)
   */
  execute(text: string, caller = this.acl.admin): Execution {
    const savepoint = this.#log.savepoint();
    try {
      return this.#executeAndUpdateDependents(text, caller, savepoint);
    } catch (error) {
      this.#log.rollback(savepoint);
      throw error;
    }
  }

  /** The result of a function. What the function changes in the schema is undone, also if it throws. */
  tryOut<T>(run: () => T): T {
    const savepoint = this.#log.savepoint();
    try {
      return run();
    } finally {
      this.#log.rollback(savepoint);
    }
  }

  #executeAndUpdateDependents(text: string, caller: string, savepoint: number): Execution {
    const catalogue = this.#catalogue;
    const listTransitions = () => this.#log.transitionsSince(savepoint);
    // Each change of a column makes a new array of columns. So it is enough to compare the identity of the arrays.
    const listChanged = () => {
      const withOtherColumns = listTransitions().filter(({ before, after }) => before?.columns !== after?.columns);
      return [...new Set(withOtherColumns.map(({ name }) => name))];
    };
    let execution = this.#executeAlone(text, caller);
    const changed = listChanged();
    const affected = [...catalogue.readersOf(changed), ...changed.flatMap(name => catalogue.find(name) ?? [])];
    const uncompiled = affected.filter(({ isUncompiled }) => isUncompiled);
    if (uncompiled.length > 0) {
      // The statement makes a view invalid only if the view was valid before. To find that out, undo the statement, compile the views over
      // the old schema, and execute the statement again.
      this.#log.rollback(savepoint);
      for (const { name } of uncompiled) catalogue.compileAndFind(name);
      execution = this.#executeAlone(text, caller);
    }
    recompilePlainViews(catalogue, listChanged());
    // If a materialized view cannot be refreshed any more, a server notices that when the next row of its base arrives. The engine
    // assumes that a row arrives.
    if (this.#assumesRows) invalidateUnrefreshable(catalogue, listChanged());
    // After any change of a table, a server fills the IMMEDIATE views over this table that have no rows yet.
    for (const { before, after } of listTransitions())
      if (before?.kind === 'table' && after) recordFilledViews(catalogue, after.name);
    const transitions = listTransitions();
    const rights = this.#updateRights(transitions);
    const effects = this.#assumesRows ? [...execution.effects, ...findEffects(transitions), ...rights] : [];
    return { ...execution, transitions, effects };
  }

  /** Executes a statement, without the consequences that `execute` adds. A query is only parsed. */
  #executeAlone(text: string, caller: string): Omit<Execution, 'transitions'> {
    const directEffects: Effect[] = [];
    const { secrets = NO_SECRETS } = this.options;
    const session = {
      ...this.session(caller),
      catalogue: this.#catalogue,
      secrets,
      assumesRows: this.#assumesRows,
      directEffects,
    };
    session.authorize('HTTP');
    const statement = parseStatement(text, this.#handlers, {
      ...session,
      maxInMemory: session.defaults.maxInMemory,
      checkQuery: (body: Body) => void parseBody(body),
      findBase: (body: Body, given: LocatedName | undefined) => requireValidBase(body, given, this.catalogue),
    });
    if (!statement) return { effects: [], reply: { kind: 'empty' } };
    if (statement.type !== 'create' && statement.type !== 'command')
      return { effects: [], reply: { kind: 'unanswered', query: statement } };
    const rows =
      statement.type === 'create'
        ? executeCreate(session, statement)
        : this.#handlers.get(statement.verb)?.(statement.cursor, session, statement.verb);
    return { effects: directEffects, reply: rows ? { kind: 'rows', ...rows } : { kind: 'ddl' } };
  }

  /** Removes the rights on dropped columns, and on dropped or renamed tables and stored views. Rights on a renamed column are kept. */
  #updateRights(transitions: readonly Transition[]): Effect[] {
    return transitions.flatMap(({ before, after }) => {
      if (!before || before.kind === 'view') return [];
      if (!after) return grantRemovals(this.acl.removeRightsOn(before.name), before);
      if (before.kind !== 'table' || after.kind !== 'table') return [];
      return pairColumns(before, after).flatMap(({ column: { name }, current }) => {
        if (isSameName(name, current?.name)) return [];
        const count = this.acl.removeRightsOn(before.name, name, current?.name);
        return current ? [] : grantRemovals(count, before, name);
      });
    });
  }

  session(caller: string): Session {
    const { catalogue, acl } = this;
    const { version, defaults = SERVER_DEFAULTS } = this.options;
    const rights = this.hasFeature('principals') ? rightsOfCaller(caller, acl, catalogue) : ALL_RIGHTS;
    return { ...rights, catalogue, acl, caller, version, hasFeature: this.hasFeature, defaults };
  }

  find(name: string): CatalogueObject | undefined {
    return this.catalogue.find(name);
  }

  /** Undefined if there is no object of this name, or if it is opaque, for example loaded from CREATE TABLE AS. */
  definitionOf(name: string): Definition | undefined {
    const object = this.find(name);
    return object && object.opaqueStatement === undefined ? object : undefined;
  }

  statementOf(name: string): string | undefined {
    const object = this.find(name);
    if (!object || object.opaqueStatement !== undefined) return object?.opaqueStatement;
    // A materialized view needs no TIMESTAMP clause, because its query determines the timestamp.
    return printDefinition(
      object.kind === 'materialized view' ? { ...object, timestamp: undefined } : object,
      EXPLICIT,
    );
  }

  /** The current objects, principals and rights as statements that create them. */
  statements(): string[] {
    return [
      ...printPrincipals(this.acl, new Set(KINDS)),
      ...this.catalogue.list().map(({ name }) => this.statementOf(name) as string),
      ...[...this.acl.rights].map(printRight),
    ];
  }

  /** The reason why a view is invalid, by the name of the view. Valid views are left out. */
  invalidViews(): NameMap<string> {
    const reasons = this.catalogue.list().map(object => [object.name, findInvalidReason(object)] as const);
    return new NameMap(reasons.filter((entry): entry is [string, string] => entry[1] !== undefined));
  }

  /** What a restart of the server would do, because of statements that were executed. */
  effectsOfRestart(): Effect[] {
    return findEffectsOfRestart(this.catalogue);
  }

  /**
   * The error if the query of this view, or its base, does not fit the current objects. Undefined also if the engine cannot parse the
   * query. A server may still reject a CREATE of this view, for example because of FILL. Only executing the CREATE shows that.
   */
  findUnresolvedReason(name: string): string | undefined {
    return findUnresolvedReason(this.find(name), this.catalogue);
  }

  /** Whether an object is a materialized view that has no rows, because it was never refreshed. False if that is not known. */
  wasNeverRefreshed(name: string): boolean {
    const object = this.find(name);
    return object?.kind === 'materialized view' && object.wasNeverRefreshed === true;
  }

  /** The changes that give an empty engine the state of this one. */
  snapshot(): JournalEntry[] {
    return [
      ...this.catalogue.listWithSystemTables().map((put): JournalEntry => ({ put })),
      ...this.acl.snapshot().map((acl): JournalEntry => ({ acl })),
    ];
  }

  /** Applies and commits a change that the journal recorded before a restart. */
  restore(entry: JournalEntry): void {
    if ('put' in entry) this.#catalogue.put(entry.put);
    else if ('drop' in entry) this.#catalogue.drop(entry.drop);
    else this.acl.apply(entry.acl);
    this.#log.commit();
  }

  displayNameOf(name: string): string {
    const object = this.find(name);
    return object ? displayName(object) : `'${name}'`;
  }
}

/** Makes an object from a statement. Most views get columns later (`compileAndFind`). Reported health of opaque objects is ignored. */
function loadObject(kind: ObjectKind, entry: Entry, schema: Schema, health: Health | undefined): CatalogueObject {
  const { name, statement } = entry;
  const parsed = schema.definitionOf(entry);
  const isKnown = parsed !== undefined && !('query' in parsed && parsed.query !== undefined);
  const definition = isKnown ? parsed : placeholderDefinition(kind, name);
  const knownHealth = isKnown ? health : undefined;
  const invalidReason = knownHealth?.invalid?.get(name);
  const invalid = invalidReason !== undefined && { invalidReason };
  const references = findReferences(statement, each => schema.findObject(each)?.kind === 'view');
  const opaque = !isKnown && { opaqueStatement: statement };
  if (definition.kind === 'table')
    return { ...definition, ...opaque, ...(knownHealth?.suspended?.has(name) && { isSuspended: true }) };
  const fields = { columns: [], references, ...(isKnown ? { isUncompiled: true } : opaque) };
  if (definition.kind === 'view') {
    if (knownHealth?.stale?.has(name)) return { ...definition, ...fields, isStale: true, sources: [] };
    return { ...definition, ...fields, ...(invalid && { rejection: { reason: invalidReason, position: 0 } }) };
  }
  const stored = { ...fields, partitionBy: definition.partitionBy ?? ASSUMED_PARTITION, ...invalid };
  if (definition.kind === 'live view') return { ...definition, ...stored, base: references[0] ?? '' };
  return {
    ...definition,
    ...stored,
    columns: knownHealth?.columns?.get(name)?.map(column => toStoredColumn(column, definition)) ?? [],
    base: definition.base ?? '', // `load` finds the base of a statement that names none
    wasNeverRefreshed: knownHealth?.neverRefreshed?.has(name) ?? false,
    ...(knownHealth?.unstarted?.has(name) && { isUnstarted: true }),
    ...(knownHealth?.partlyRefreshed?.has(name) && { isPartlyRefreshed: true }),
  };
}

/** The definition of an opaque object. It needs no columns: a view may read any column of an opaque object. */
function placeholderDefinition(kind: ObjectKind, name: string): Definition {
  const body = '';
  if (kind === 'view') return { kind, name, body };
  if (kind === 'live view') return { kind, name, body, flush: '', inMemory: '', start: 'NOW', ...NO_RETENTION };
  if (kind === 'materialized view')
    return { kind, name, body, refresh: { type: 'MANUAL', deferred: false }, ...NO_RETENTION };
  return { kind, name, columns: [], partitionBy: 'DAY', ...NO_RETENTION, wal: true, isParquet: false };
}

/** Creates an empty engine that predicts effects. An enterprise server's version is ignored: the engine knows only open source versions. */
export const createPredictingEngine = ({ isEnterprise, version, defaults, health }: EngineOptions): Engine =>
  new Engine({ isEnterprise, version: isEnterprise ? undefined : version, rows: 'assumed', defaults, health });

/** Nobody logs in to an engine without a server. So it stores no password hashes, which are slow to compute. */
const NO_SECRETS: SecretFactory = {
  hashPassword: () => '',
  generateToken: () => ({ token: '', stored: { digest: '', expiresAt: 0 } }),
  digest: () => '',
};
