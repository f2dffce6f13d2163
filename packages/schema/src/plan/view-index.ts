/*! An index of the objects and columns that views use. It is updated when the schema changes. */
import { findQueryColumns, findReferences, tokenizeQuery } from '@sqlpipe/ddl';
import { foldCase, unquote } from '@sqlpipe/sql';
import { type QueryMentions, readMentions } from './mentions.js';
import type { SchemaObject, SchemaState } from './state.js';

/** What the query of an object uses. */
interface Query extends QueryMentions {
  /** The objects that it reads from. */
  readonly sources: readonly string[];
}

/** The index. Names of objects are in lower case; names of columns are as written. */
export class ViewIndex {
  readonly #queries = new Map<string, Query>();
  /** The views that read from an object, by its name. */
  readonly #readers = new Map<string, Set<string>>();
  /** The materialized views over a base, by its name. */
  readonly #materializedViews = new Map<string, Set<string>>();
  /** What each object reads from, so that `update` can remove it from `#readers` and `#materializedViews`. */
  readonly #sources = new Map<string, { sources: readonly string[]; bases: readonly string[] }>();

  constructor(readonly state: SchemaState) {
    for (const { name } of state.objects) this.update(name);
  }

  /** Updates the index after an object was created, changed or dropped. */
  update(name: string): void {
    const key = foldCase(name);
    const before = this.#sources.get(key);
    for (const source of before?.sources ?? []) this.#readers.get(source)?.delete(key);
    for (const base of before?.bases ?? []) this.#materializedViews.get(base)?.delete(key);
    const object = this.state.find(key);
    const definition = object?.definition;
    const sources = object?.kind === 'view' ? this.queryOf(object).sources.map(foldCase) : [];
    const bases = definition?.kind === 'materialized view' && definition.base ? [foldCase(definition.base)] : [];
    for (const source of sources) addTo(this.#readers, source, key);
    for (const base of bases) addTo(this.#materializedViews, base, key);
    this.#sources.set(key, { sources, bases });
  }

  /** The materialized views over a base. */
  materializedViewsOver(base: string): Iterable<string> {
    return this.#materializedViews.get(foldCase(base)) ?? [];
  }

  /** The views that read from an object, directly or through other views. */
  viewsOver(name: string): Set<string> {
    const found = this.#withReaders([foldCase(name)]);
    found.delete(foldCase(name));
    return found;
  }

  #withReaders(names: Iterable<string>): Set<string> {
    const found = new Set(names);
    for (const name of found) for (const reader of this.#readers.get(name) ?? []) found.add(reader); // the set grows during the loop
    return found;
  }

  /**
   * Finds the views that use a column. `direct` are the views whose query names it, possibly through a view with
   * `SELECT *`; `all` are these views and all that read from them.
   */
  usersOf(relation: string, column: string): { all: Set<string>; direct: Set<string> } {
    const exposing = new Set([foldCase(relation)]);
    const direct = new Set<string>();
    for (const name of exposing)
      for (const reader of this.#readers.get(name) ?? []) {
        const query = this.queryOf(this.state.find(reader) as SchemaObject);
        if (query.mentions(column)) direct.add(reader);
        else if (query.hasStar) exposing.add(reader);
      }
    return { all: this.#withReaders(direct), direct };
  }

  /** Returns what the query of an object uses and reads from. */
  queryOf({ statement, definition }: SchemaObject): Query {
    const isView = (name: string) => this.state.find(name)?.kind === 'view';
    const known = this.#queries.get(statement);
    if (known) return known;
    const body = definition && 'body' in definition ? definition.body : statement;
    const query = { ...readMentions(body), sources: findReferences(statement, isView) };
    this.#queries.set(statement, query);
    return query;
  }

  /** The columns that query `before` has and query `after` does not; empty if the columns of one are unknown. */
  columnsLost(before: string, after: string): string[] {
    const [oldColumns, newColumns] = [this.#columnsOf(before), this.#columnsOf(after)];
    const remaining = new Set(newColumns?.map(foldCase));
    return newColumns ? (oldColumns ?? []).filter(name => !remaining.has(foldCase(name))) : [];
  }

  /**
   * The columns of a query: those that it names, or for `SELECT *` all columns of the object; undefined for other
   * queries.
   */
  #columnsOf(query: string, outerViews: readonly string[] = []): string[] | undefined {
    const [select, star, from, name = '', ...rest] = tokenizeQuery(query).map(({ text }) => text);
    const isWhole =
      select?.toLowerCase() === 'select' && star === '*' && from?.toLowerCase() === 'from' && rest.length === 0;
    if (!isWhole) return findQueryColumns(query)?.map(column => column.name);
    const definition = outerViews.includes(name) ? undefined : this.state.find(unquote(name))?.definition;
    if (definition?.kind === 'table') return definition.columns.map(column => column.name);
    return definition?.kind === 'view' ? this.#columnsOf(definition.body, [...outerViews, name]) : undefined;
  }
}

function addTo(index: Map<string, Set<string>>, key: string, value: string): void {
  index.set(key, (index.get(key) ?? new Set()).add(value));
}
