/*! Executes statements, one after the other: each is parsed, checked against the catalog and applied. */

import { DEFAULTS, printDefinition } from '@sqlpipe/ddl';
import { type Body, type LocatedName, RejectionError } from '@sqlpipe/ddl/grammar';
import { findBaseTable } from './analysis/materialized-view.js';
import { answerQuery, listColumns, noRowsError, PARAMETERS, showSetting } from './catalog-functions.js';
import { createLiveView, createMaterializedView, createTable, createView } from './create.js';
import type { Edition } from './edition.js';
import type { Journal } from './journal.js';
import type { CatalogObject } from './objects.js';
import { loadGrammarFor, parsedQuery, parseQueryStatement } from './parser/queries.js';
import type { ObjectKind, Show } from './parser/show.js';
import { parseStatement, type Statement } from './parser/statement.js';
import type { ColumnHead, ExecutionResult, Value } from './reply.js';
import { ServerCatalog } from './server-catalog.js';
import { requireReadable, type Session } from './session.js';
import { recompile } from './validity.js';

export interface ServiceDeps {
  readonly edition: Edition;
  readonly catalog?: ServerCatalog;
  /** Changes are written here before they are acknowledged. Without a journal they are not stored. */
  readonly journal?: Journal | undefined;
}

export class Service {
  readonly edition: Edition;
  readonly catalog: ServerCatalog;
  readonly #journal: Journal | undefined;
  readonly #verbs: ReadonlySet<string>;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ edition, catalog = new ServerCatalog(), journal }: ServiceDeps) {
    this.edition = edition;
    this.catalog = catalog;
    this.#journal = journal;
    this.#verbs = new Set(Object.keys(edition.handlers));
  }

  /** Executes one statement for a caller. Its changes are on disk when the promise resolves. @throws RejectionError */
  async execute(text: string, caller = ''): Promise<ExecutionResult> {
    // One at a time, because a statement may wait for the grammar between its checks and its changes.
    const run = this.#last.then(() => this.#execute(text, caller));
    this.#last = run.catch(() => {});
    const result = await run;
    const changes = [...this.catalog.takeChanges(), ...this.edition.takeChanges().map(acl => ({ acl }))];
    if (changes.length > 0) await this.#journal?.append(changes);
    return result;
  }

  async #execute(text: string, caller: string): Promise<ExecutionResult> {
    const dialect = {
      ...this.edition.dialect,
      verbs: this.#verbs,
      defaults: DEFAULTS,
      checkQuery: (body: Body) => void parsedQuery(body),
      findBase: (body: Body, given: LocatedName | undefined) => findBaseTable(body, given, this.catalog),
    };
    const session = this.edition.session(this.catalog, caller);
    session.authorize('HTTP');
    await loadGrammarFor(text);
    const statement = parseStatement(text, dialect);
    if (!statement) return { kind: 'empty' };
    const result = await this.#run(statement, session);
    await recompile(this.catalog, [...this.catalog.changes]);
    return result;
  }

  async #run(statement: Statement, session: Session): Promise<ExecutionResult> {
    switch (statement.statement) {
      case 'create table':
        createTable(session, statement);
        return done;
      case 'create view':
        createView(session, statement);
        return done;
      case 'create materialized view':
        createMaterializedView(session, statement);
        return done;
      case 'create live view':
        createLiveView(session, statement);
        return done;
      case 'change':
        return (await this.edition.handlers[statement.verb]?.(statement.cursor, session)) ?? done;
      case 'explain show create database':
        return rows([{ name: 'QUERY PLAN', type: 'STRING' }], [['show_create_database']]);
      case 'table': {
        const { name, position } = statement;
        if (this.catalog.find(name)) throw noRowsError();
        throw new RejectionError(position, `table does not exist [table=${name}]`);
      }
      case 'query':
        return toRows(answerQuery(await parseQueryStatement(statement.text), session));
      default:
        return this.#show(statement, session);
    }
  }

  #show(show: Show, session: Session): ExecutionResult {
    switch (show.statement) {
      case 'show create':
        return ddlRows(
          show.parts.map(({ kind, name, position }) => printDefinition(requireObject(session, kind, name, position))),
        );
      case 'show create database':
        return this.#dump(show.categories, session);
      case 'show tables': {
        const names = this.catalog.list().filter(({ name }) => session.canRead(name));
        return rows(
          [{ name: 'table_name', type: 'STRING' }],
          names.map(({ name }) => [name]),
        );
      }
      case 'show columns': {
        const object = this.catalog.find(show.name);
        if (!object) throw new RejectionError(show.position, `table does not exist [table=${show.name}]`);
        requireReadable(session, object.name);
        return toRows(listColumns(object));
      }
      case 'show acl':
        return this.edition.show(show, session);
      case 'show parameters':
        return toRows(PARAMETERS);
      default:
        return toRows(showSetting(show.setting));
    }
  }

  #dump(selectedCategories: ReadonlySet<string>, session: Session): ExecutionResult {
    const { before, after } = this.edition.dump(selectedCategories, session);
    const objects = this.catalog.inDependencyOrder(
      ({ kind, name }) => selectedCategories.has(categories[kind]) && session.canRead(name),
    );
    return ddlRows([...before, ...objects.map(object => printDefinition(object)), ...after]);
  }
}

/** The object of that name and kind. @throws RejectionError with an error message of that kind's own */
function requireObject(session: Session, kind: ObjectKind, name: string, position: number): CatalogObject {
  const object = session.catalog.find(name);
  if (!object) throw new RejectionError(position, missingMessage(kind, name));
  requireReadable(session, object.name);
  if (object.kind === kind) return object;
  if (kind === 'table') throw new RejectionError(position, 'table name expected, got view or materialized view name');
  throw new RejectionError(position, `${kind} name expected, got ${object.kind} name`);
}

const categories = {
  table: 'TABLES',
  view: 'VIEWS',
  'materialized view': 'MATERIALIZED_VIEWS',
  'live view': 'LIVE_VIEWS',
} as const;

const missingMessage = (kind: ObjectKind, name: string): string =>
  `${kind} does not exist [${kind === 'table' ? 'table' : 'view'}=${name}]`;

const done: ExecutionResult = { kind: 'ddl' };

const rows = (columns: readonly ColumnHead[], rows: readonly (readonly Value[])[]): ExecutionResult => ({
  kind: 'rows',
  columns,
  rows,
});

const toRows = ({ heads, rows: values }: ReturnType<typeof listColumns>): ExecutionResult => rows(heads, values);

const ddlRows = (statements: readonly string[]): ExecutionResult =>
  rows(
    [{ name: 'ddl', type: 'VARCHAR' }],
    statements.map(statement => [statement]),
  );
