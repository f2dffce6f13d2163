/*! Statements in, outcomes out: each is parsed, checked against the catalogue and applied, one after the other. */

import { DEFAULTS, printDefinition } from '@sqlpipe/ddl';
import { type Body, type LocatedName, RejectionError } from '@sqlpipe/ddl/grammar';
import { baseOf } from './analysis/materialized.js';
import { answer, columnsOf, noRows, parameters, settings } from './answers.js';
import { Catalogue } from './catalogue.js';
import { createLiveViewIn, createMaterializedViewIn, createTableIn, createViewIn } from './create.js';
import type { Edition } from './edition.js';
import type { Journal } from './journal.js';
import type { CatalogueObject } from './objects.js';
import { loadGrammarFor, parseWholeQuery, queryOf } from './parser/queries.js';
import type { Kind, Show } from './parser/show.js';
import { parse, type Statement } from './parser/statement.js';
import type { ColumnHead, Outcome, Value } from './reply.js';
import { allowSeeing, type Session } from './session.js';
import { recompile } from './validity.js';

export interface Parts {
  readonly edition: Edition;
  readonly catalogue?: Catalogue;
  /** Where changes are written before they are acknowledged; nowhere without one. */
  readonly journal?: Journal | undefined;
}

export class Service {
  readonly edition: Edition;
  readonly catalogue: Catalogue;
  readonly #journal: Journal | undefined;
  readonly #verbs: ReadonlySet<string>;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ edition, catalogue = new Catalogue(), journal }: Parts) {
    this.edition = edition;
    this.catalogue = catalogue;
    this.#journal = journal;
    this.#verbs = new Set(Object.keys(edition.changes));
  }

  /** Runs one statement for a caller; what it changed is on disk then. @throws RejectionError */
  async execute(text: string, caller = ''): Promise<Outcome> {
    // One at a time, as a statement may wait for the grammar between looking and changing.
    const run = this.#last.then(() => this.#execute(text, caller));
    this.#last = run.catch(() => {});
    const outcome = await run;
    const changes = [...this.catalogue.takeChanges(), ...this.edition.takeChanges().map(acl => ({ acl }))];
    if (changes.length > 0) await this.#journal?.append(changes);
    return outcome;
  }

  async #execute(text: string, caller: string): Promise<Outcome> {
    const dialect = {
      ...this.edition.dialect,
      verbs: this.#verbs,
      defaults: DEFAULTS,
      checkQuery: (body: Body) => void queryOf(body),
      baseOf: (body: Body, given: LocatedName | undefined) => baseOf(body, given, this.catalogue),
    };
    const session = this.edition.session(this.catalogue, caller);
    session.allow('HTTP');
    await loadGrammarFor(text);
    const statement = parse(text, dialect);
    if (!statement) return { kind: 'empty' };
    const outcome = await this.#run(statement, session);
    await recompile(this.catalogue, [...this.catalogue.changes]);
    return outcome;
  }

  async #run(statement: Statement, session: Session): Promise<Outcome> {
    switch (statement.statement) {
      case 'create table':
        createTableIn(session, statement);
        return done;
      case 'create view':
        createViewIn(session, statement);
        return done;
      case 'create materialized view':
        createMaterializedViewIn(session, statement);
        return done;
      case 'create live view':
        createLiveViewIn(session, statement);
        return done;
      case 'change':
        return (await this.edition.changes[statement.verb]?.(statement.cursor, session)) ?? done;
      case 'explain show create database':
        return rows([{ name: 'QUERY PLAN', type: 'STRING' }], [['show_create_database']]);
      case 'table': {
        const { name, position } = statement;
        if (this.catalogue.find(name)) throw noRows();
        throw new RejectionError(position, `table does not exist [table=${name}]`);
      }
      case 'query':
        return relation(answer(await parseWholeQuery(statement.text), session));
      default:
        return this.#show(statement, session);
    }
  }

  #show(show: Show, session: Session): Outcome {
    switch (show.statement) {
      case 'show create':
        return ddl(show.parts.map(({ kind, name, position }) => printDefinition(find(session, kind, name, position))));
      case 'show create database':
        return this.#dump(show.categories, session);
      case 'show tables': {
        const names = this.catalogue.list().filter(({ name }) => session.maySee(name));
        return rows(
          [{ name: 'table_name', type: 'STRING' }],
          names.map(({ name }) => [name]),
        );
      }
      case 'show columns': {
        const object = this.catalogue.find(show.name);
        if (!object) throw new RejectionError(show.position, `table does not exist [table=${show.name}]`);
        allowSeeing(session, object.name);
        return relation(columnsOf(object));
      }
      case 'show acl':
        return this.edition.show(show, session);
      case 'show parameters':
        return relation(parameters);
      default:
        return relation(settings(show.setting));
    }
  }

  #dump(wanted: ReadonlySet<string>, session: Session): Outcome {
    const { before, after } = this.edition.dump(wanted, session);
    const objects = this.catalogue.inDependencyOrder(
      ({ kind, name }) => wanted.has(categories[kind]) && session.maySee(name),
    );
    return ddl([...before, ...objects.map(object => printDefinition(object)), ...after]);
  }
}

/** The object of that kind. Each kind has its own words for what it is not. */
function find(session: Session, kind: Kind, name: string, position: number): CatalogueObject {
  const object = session.catalogue.find(name);
  if (!object) throw new RejectionError(position, missing(kind, name));
  allowSeeing(session, object.name);
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

const missing = (kind: Kind, name: string): string =>
  `${kind} does not exist [${kind === 'table' ? 'table' : 'view'}=${name}]`;

const done: Outcome = { kind: 'ddl' };

const rows = (columns: readonly ColumnHead[], rows: readonly (readonly Value[])[]): Outcome => ({
  kind: 'rows',
  columns,
  rows,
});

const relation = ({ heads, rows: values }: ReturnType<typeof columnsOf>): Outcome => rows(heads, values);

const ddl = (statements: readonly string[]): Outcome =>
  rows(
    [{ name: 'ddl', type: 'VARCHAR' }],
    statements.map(statement => [statement]),
  );
