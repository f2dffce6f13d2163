/*! Which views read from which objects, and which columns they use. It follows the schema as that changes. */
import { findQueryColumns, findReferences, tokenizeQuery } from '@sqlpipe/ddl';
import { foldCase, unquote } from '@sqlpipe/sql';
import { type QueryMentions, readMentions } from './mentions.js';
import type { SchemaObject, SchemaState } from './state.js';

/** What is known of the query of an object. */
interface Query extends QueryMentions {
  /** The objects that it reads from. */
  readonly sources: readonly string[];
}

/** Names are in lower case, but for those of columns. */
export class ViewIndex {
  readonly #queries = new Map<string, Query>();
  /** The views that read from an object, and the materialized views over a base, by its name. */
  readonly #readers = new Map<string, Set<string>>();
  readonly #overBase = new Map<string, Set<string>>();
  /** For each object, its keys in `#readers` and `#overBase`, to remove it there. */
  readonly #sources = new Map<string, { readers: readonly string[]; overBase: readonly string[] }>();

  constructor(readonly state: SchemaState) {
    for (const { name } of state.objects) this.update(name);
  }

  /** Registers what an object reads from now. */
  update(name: string): void {
    const key = foldCase(name);
    const before = this.#sources.get(key);
    for (const source of before?.readers ?? []) this.#readers.get(source)?.delete(key);
    for (const source of before?.overBase ?? []) this.#overBase.get(source)?.delete(key);
    const object = this.state.find(key);
    const definition = object?.definition;
    const readers = object?.kind === 'view' ? this.queryOf(object).sources.map(foldCase) : [];
    const overBase = definition?.kind === 'materialized view' && definition.base ? [foldCase(definition.base)] : [];
    for (const source of readers) addTo(this.#readers, source, key);
    for (const source of overBase) addTo(this.#overBase, source, key);
    this.#sources.set(key, { readers, overBase });
  }

  /** The materialized views over a base. */
  materializedViewsOver(base: string): Iterable<string> {
    return this.#overBase.get(foldCase(base)) ?? [];
  }

  /** The views that read from an object, directly or through other views. */
  viewsOver(name: string): Set<string> {
    const found = this.#withReaders([foldCase(name)]);
    found.delete(foldCase(name));
    return found;
  }

  #withReaders(names: Iterable<string>): Set<string> {
    const found = new Set(names);
    for (const name of found) for (const reader of this.#readers.get(name) ?? []) found.add(reader); // grows while it is walked
    return found;
  }

  /** Views that use a column. `direct`: their query names it, also through `SELECT *`; `all`: these, and all that read from them. */
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

  /** What the query of an object uses and reads from. */
  queryOf({ statement, definition }: SchemaObject): Query {
    const isView = (name: string) => this.state.find(name)?.kind === 'view';
    const known = this.#queries.get(statement);
    if (known) return known;
    const body = definition && 'body' in definition ? definition.body : statement;
    const query = { ...readMentions(body), sources: findReferences(statement, isView) };
    this.#queries.set(statement, query);
    return query;
  }

  /** The columns that one query gives and another one does not; none where that can not be told. */
  columnsLost(before: string, after: string): string[] {
    const [had, has] = [this.#columnsOf(before), this.#columnsOf(after)];
    const left = new Set(has?.map(foldCase));
    return has ? (had ?? []).filter(name => !left.has(foldCase(name))) : [];
  }

  /** The columns that a query gives: those that it names, or all of one object; undefined for any other query. */
  #columnsOf(query: string, above: readonly string[] = []): string[] | undefined {
    const [select, star, from, name = '', ...rest] = tokenizeQuery(query).map(({ text }) => text);
    const isWhole =
      select?.toLowerCase() === 'select' && star === '*' && from?.toLowerCase() === 'from' && rest.length === 0;
    if (!isWhole) return findQueryColumns(query)?.map(column => column.name);
    const definition = above.includes(name) ? undefined : this.state.find(unquote(name))?.definition;
    if (definition?.kind === 'table') return definition.columns.map(column => column.name);
    return definition?.kind === 'view' ? this.#columnsOf(definition.body, [...above, name]) : undefined;
  }
}

function addTo(index: Map<string, Set<string>>, key: string, value: string): void {
  index.set(key, (index.get(key) ?? new Set()).add(value));
}
