/*! Statements in, outcomes out: each is parsed, checked against the catalogue and applied, one after the other. */
import { baseOf } from './analysis/materialized.js';
import { Catalogue } from './catalogue.js';
import { changes } from './change/index.js';
import { createMaterializedViewIn, createTableIn, createViewIn } from './create.js';
import { answer, columnsOf } from './functions.js';
import type { CatalogueObject } from './objects.js';
import { query } from './parser/body.js';
import { Refusal } from './parser/refusal.js';
import type { Kind, Show } from './parser/show.js';
import { parse, type Statement } from './parser/statement.js';
import type { ColumnHead, Outcome, Value } from './reply.js';
import { statementOf } from './text.js';

export class Service {
  constructor(readonly catalogue: Catalogue = new Catalogue()) {}

  /** Runs one statement. @throws Refusal */
  async execute(text: string): Promise<Outcome> {
    const statement = await parse(text, verbs, (body, given) => baseOf(body, given, this.catalogue));
    return statement ? this.#run(statement) : { kind: 'empty' };
  }

  async #run(statement: Statement): Promise<Outcome> {
    switch (statement.statement) {
      case 'create table':
        createTableIn(this.catalogue, statement);
        return { kind: 'ddl' };
      case 'create view':
        createViewIn(this.catalogue, statement);
        return { kind: 'ddl' };
      case 'create materialized view':
        createMaterializedViewIn(this.catalogue, statement);
        return { kind: 'ddl' };
      case 'change':
        await changes[statement.verb]?.(statement.cursor, { catalogue: this.catalogue, allow: () => {} });
        return { kind: 'ddl' };
      case 'explain show create database':
        return rows([{ name: 'QUERY PLAN', type: 'STRING' }], [['show_create_database']]);
      case 'query': {
        const { heads, rows } = answer(await query(statement.text), this.catalogue);
        return { kind: 'rows', columns: heads, rows };
      }
      default:
        return this.#show(statement);
    }
  }

  #show(show: Show): Outcome {
    switch (show.statement) {
      case 'show create':
        return ddl(show.parts.map(({ kind, name, position }) => statementOf(this.#find(kind, name, position))));
      case 'show create database':
        return ddl(
          this.catalogue.inDependencyOrder(object => show.categories.has(categories[object.kind])).map(statementOf),
        );
      case 'show tables':
        return rows(
          [{ name: 'table_name', type: 'STRING' }],
          this.catalogue.list().map(({ name }) => [name]),
        );
      case 'show columns': {
        const object = this.catalogue.find(show.name);
        if (!object) throw new Refusal(show.position, `table does not exist [table=${show.name}]`);
        const { heads, rows } = columnsOf(object);
        return { kind: 'rows', columns: heads, rows };
      }
      default:
        return rows([{ name: 'setting', type: 'STRING' }], []);
    }
  }

  /** The object of that kind. Each kind has its own words for what it is not. */
  #find(kind: Kind, name: string, position: number): CatalogueObject {
    const object = this.catalogue.find(name);
    if (!object) throw new Refusal(position, missing(kind, name));
    if (object.kind === kind) return object;
    if (kind === 'table') throw new Refusal(position, 'table name expected, got view or materialized view name');
    throw new Refusal(position, `${kind} name expected, got ${object.kind} name`);
  }
}

const verbs = new Set(Object.keys(changes));

const categories = { table: 'TABLES', view: 'VIEWS', 'materialized view': 'MATERIALIZED_VIEWS' } as const;

const missing = (kind: Kind, name: string): string =>
  `${kind} does not exist [${kind === 'table' ? 'table' : 'view'}=${name}]`;

const rows = (columns: readonly ColumnHead[], rows: readonly (readonly Value[])[]): Outcome => ({
  kind: 'rows',
  columns,
  rows,
});

const ddl = (statements: readonly string[]): Outcome =>
  rows(
    [{ name: 'ddl', type: 'VARCHAR' }],
    statements.map(statement => [statement]),
  );
