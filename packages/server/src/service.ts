/*! Executes statements on the engine, one after the other, and answers questions about its schema. */
import { printDefinition } from '@sqlpipe/ddl';
import { missingError, RejectionError } from '@sqlpipe/ddl/parser';
import {
  type CatalogueObject,
  type Cell,
  type ColumnNaming,
  Engine,
  printPermissions,
  printPrincipals,
  type QueryStatement,
  type ResultSet,
  requirePartialReadAccess,
  type Session,
  type ShownObject,
  type StatementReply,
  whenReady,
} from '@sqlpipe/engine';
import { isPrincipalKind, type Kind } from '@sqlpipe/sql';
import { heads, listColumns } from './catalogue-functions.js';
import type { Journal } from './journal.js';
import {
  type Authenticator,
  type Caller,
  DEFAULT_ADMIN,
  type EditionName,
  type LoginCredentials,
  loginAuthenticator,
  principalAuthenticator,
} from './logins.js';
import { answerQuery } from './query-answers.js';
import { createSecretFactory } from './secrets.js';
import { showAcl } from './show-acl.js';

export class Service {
  readonly isEnterprise: boolean;
  readonly engine: Engine;
  readonly authenticate: Authenticator;
  /** Changes are written here before they are acknowledged; without a journal they are not stored. */
  journal: Pick<Journal, 'append' | 'close'> | undefined;
  #lastExecution: Promise<unknown> = Promise.resolve();

  /** @param login the only login of the open source edition, or the administrator of the enterprise edition */
  constructor(
    edition: EditionName,
    login: LoginCredentials | undefined,
    readonly options: { readonly naming: ColumnNaming; readonly version: string },
  ) {
    this.isEnterprise = edition === 'enterprise';
    const admin = login ?? DEFAULT_ADMIN;
    const enterprise = this.isEnterprise && { isEnterprise: true, admin: admin.user, secrets: createSecretFactory() };
    this.engine = new Engine({ ...options, ...enterprise });
    this.authenticate = this.isEnterprise ? principalAuthenticator(this.engine.acl, admin) : loginAuthenticator(login);
  }

  /** Executes one statement for a caller. Its changes are on disk when the promise resolves. @throws RejectionError */
  async execute(text: string, caller: Caller): Promise<StatementReply> {
    // One at a time: a statement may wait for the grammar between its checks and its changes, and for the disk after them.
    const run = this.#lastExecution.then(() => this.#executeAndStore(text, caller));
    this.#lastExecution = run.catch(() => {});
    return run;
  }

  /** Closes the journal when the statements that were accepted have ended, also those whose client has hung up. */
  async close(): Promise<void> {
    await this.#lastExecution;
    await this.journal?.close();
  }

  /** No other statement runs meanwhile. The token is renewed and stored even if the statement is rejected. */
  async #executeAndStore(text: string, { name, renewToken }: Caller): Promise<StatementReply> {
    const { engine } = this;
    const before = engine.log.savepoint();
    renewToken?.();
    try {
      return await whenReady((): StatementReply => {
        const { reply } = engine.execute(text, name);
        if (reply.kind !== 'unanswered') return reply;
        return { kind: 'rows', ...this.#answer(reply.query, engine.session(name)) };
      });
    } finally {
      await this.#store(before);
    }
  }

  /** Undoes what cannot be stored, because it would be lost after a restart. */
  async #store(savepoint: number): Promise<void> {
    const { log } = this.engine;
    const entries = log.journalEntries();
    try {
      if (entries.length > 0) await this.journal?.append(entries);
    } catch (error) {
      log.rollback(savepoint);
      throw error;
    }
    log.commit();
  }

  #answer(query: QueryStatement, session: Session): ResultSet {
    const { catalogue } = session;
    switch (query.type) {
      case 'explain show create database':
        return listOf('QUERY PLAN', 'STRING', ['show_create_database']);
      case 'query':
        return answerQuery(query.text, session);
      case 'show create':
        return ddlRows(query.parts.map(part => printDefinition(requireShownObject(session, part))));
      case 'show create database':
        return this.#dump(query.kinds, session);
      case 'show tables':
        return listOf('table_name', 'STRING', namesOf(catalogue.list()));
      case 'show columns':
        return listColumns(session, query.name, query.start);
      case 'show acl':
        return showAcl(query.list, query.entity, session);
      case 'show parameters': {
        const [texts, flags] = ['property_path env_var_name value value_source', 'sensitive reloadable'];
        // No rows, because sqlserve has none of the server's settings.
        return { columns: [...heads('STRING', texts), ...heads('BOOLEAN', flags)], rows: [] };
      }
      default:
        return listOf(query.name, typeof query.value === 'number' ? 'INT' : 'STRING', [query.value]);
    }
  }

  #dump(kinds: ReadonlySet<Kind>, session: Session): ResultSet {
    const { acl, authorize, hasFeature } = session;
    if ([...kinds].some(isPrincipalKind)) authorize('LIST USERS');
    if (kinds.has('grant')) authorize('USER DETAILS');
    const before = hasFeature('principals') ? printPrincipals(acl, kinds) : [];
    const after = hasFeature('principals') ? printPermissions(acl, kinds) : [];
    const selected = session.catalogue.list().filter(({ kind, name }) => kinds.has(kind) && session.canReadPart(name));
    const objects = session.catalogue.inDependencyOrder(namesOf(selected));
    return ddlRows([...before, ...objects.map(object => printDefinition(object)), ...after]);
  }
}

function requireShownObject(session: Session, { kind, name, start }: ShownObject): CatalogueObject {
  const object = session.catalogue.find(name);
  if (!object) throw missingError(start, name, kind);
  requirePartialReadAccess(session, object.name);
  if (object.kind === kind) return object;
  const isView = object.kind === 'view' || object.kind === 'materialized view';
  const found = kind === 'table' && isView ? 'view or materialized view' : object.kind;
  throw new RejectionError(start, `${kind} name expected, got ${found} name`);
}

const listOf = (name: string, type: string, values: readonly Cell[]): ResultSet => ({
  columns: [{ name, type }],
  rows: values.map(value => [value]),
});

const namesOf = (objects: readonly CatalogueObject[]): string[] => objects.map(({ name }) => name);

const ddlRows = (statements: readonly string[]): ResultSet => listOf('ddl', 'VARCHAR', statements);
