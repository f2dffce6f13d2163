/*!
 * What tables and materialized views hold, compared with what they held when the schema was loaded: which rows of a materialized
 * view could be computed again at this step, and which could not.
 */
import { type Change, findColumn, hasNull, isLossless, parseChange, parseFill } from '@sqlpipe/ddl';
import { foldCase, identify, isSameName } from '@sqlpipe/sql';
import type { Catalogue } from './catalogue.js';
import type { CatalogueObject, MaterializedView } from './catalogue-objects.js';
import { type Effect, retentionEffects, titleOf } from './effects.js';

/** Rows of a materialized view that its query no longer gives. Dates are as the server prints them. */
export interface LostRows {
  readonly lost: number;
  readonly total: number;
  readonly first: string;
  readonly last: string;
  /** Whether they are the newest rows of a view that is not refreshed any longer: these change while rows are written. */
  readonly areNewest?: boolean;
}

/** What a server says of the rows of a materialized view: its query still gives them all, or not all; or it cannot say. */
export type HistoryAnswer = 'kept' | 'unknown' | LostRows;

/** Follows what the statements of one run do to rows. */
export class Holdings {
  /** The names, in lower case, under which there are fewer rows than when the schema was loaded. */
  readonly #less = new Map<string, true>();
  /** The materialized views that were dropped, by their names in lower case. */
  readonly #dropped = new Map<string, MaterializedView>();
  /** New tables, in lower case, with the name of the table that they are a copy of. */
  readonly #copies = new Map<string, string>();
  /** The new names of renamed tables, by their old names in lower case. */
  readonly #renamed = new Map<string, string>();
  /** Columns, in lower case, whose value is written in each row. */
  readonly #filled = new Map<string, true>();
  /** Whether the view that the current statement refreshes had no rows before. */
  #wasEmpty = false;
  /** Undoes the changes of the maps, the last one first. */
  readonly #undo: (() => void)[] = [];

  /**
   * @param historyOf what is known of the rows of a view, by its name in lower case
   */
  constructor(
    readonly catalogue: Catalogue,
    readonly historyOf: (view: string) => HistoryAnswer,
  ) {}

  savepoint(): number {
    return this.#undo.length;
  }

  rollback(to: number): void {
    while (this.#undo.length > to) this.#undo.pop()?.();
  }

  /** What a statement is about to take from a materialized view or a column; called before it is executed. */
  before(statement: string): Effect[] {
    const change = parseChange(statement);
    if (change?.verb === 'alter') return this.#judgeUnwritten(change);
    if (change?.verb === 'refresh') this.#wasEmpty = isEmpty(this.catalogue.find(change.name));
    const name = change?.verb === 'drop' && change.kind === 'materialized view' ? change.name : undefined;
    const view = name === undefined ? undefined : this.catalogue.find(name);
    if (view?.kind !== 'materialized view') return [];
    this.#put(this.#dropped, foldCase(view.name), view);
    return this.#judge(view);
  }

  /** What a statement has taken from a materialized view, besides its other effects. */
  after(statement: string, effects: readonly Effect[]): Effect[] {
    for (const effect of effects) this.#note(effect);
    const { kind, name } = identify(statement);
    const change = parseChange(statement);
    if (change) this.#follow(change, statement);
    const fill = change?.verb === 'update' ? parseFill(statement) : undefined;
    if (fill) this.#put(this.#filled, columnKey(fill.table, fill.column), true);
    if (kind === 'materialized view') return [...this.#judgeRetention(name), ...this.#judgeSources(name)];
    if (change?.verb !== 'refresh' || !change.isFull) return [];
    const view = this.catalogue.find(change.name);
    if (view?.kind !== 'materialized view') return [];
    return [rebuilds(view), ...(this.#wasEmpty ? [] : this.#judge(view))];
  }

  #note({ effect, kind, loss, object, column }: Effect): void {
    if (effect !== 'lost' || (kind !== 'table' && kind !== 'materialized view')) return;
    if (loss === 'ttl' || (loss === 'drop' && column === undefined)) this.#set(object, true);
  }

  /** Rows go with the name of a table; a new table may be a copy of the one whose name it gets. */
  #follow(change: Change, statement: string): void {
    if (change.verb === 'insert') {
      const source = /\bFROM '([^']+)';?\s*$/.exec(statement)?.[1];
      if (source !== undefined) this.#put(this.#copies, foldCase(change.name), foldCase(source));
    } else if (change.verb === 'rename') {
      const isCopy = this.#copies.get(foldCase(change.name)) === foldCase(change.to);
      // Another table that had this name has taken its rows along.
      const isLess = this.#less.get(foldCase(change.name)) ?? this.#less.get(foldCase(change.to));
      this.#set(change.name, true);
      this.#set(change.to, isCopy ? undefined : isLess);
      this.#put(this.#renamed, foldCase(change.name), change.to);
      this.#put(this.#renamed, foldCase(change.to), undefined);
    }
  }

  /** Judges columns without NULL that get a type with NULL: rows that are older than the column read NULL then. */
  #judgeUnwritten({ alters }: Extract<Change, { verb: 'alter' }>): Effect[] {
    return alters.flatMap(({ kind, name, alteration }): Effect[] => {
      const table = this.catalogue.find(name);
      if (kind !== 'table' || table?.kind !== 'table' || alteration.change !== 'type') return [];
      const column = findColumn(table, alteration.column);
      if (!column || hasNull(column.type) || !hasNull(alteration.type)) return [];
      if (!isLossless(column.type, alteration.type) || this.#filled.has(columnKey(name, column.name))) return [];
      const text = `may lose values of column '${column.name}': rows that are older than the column read NULL instead of ${column.type === 'BOOLEAN' ? 'false' : '0'}`;
      return [{ effect: 'lost', loss: 'values', kind, object: table.name, column: column.name, text }];
    });
  }

  /** Judges a view whose rows are computed again from what its sources hold now. */
  #judge(view: MaterializedView): Effect[] {
    if (isEmpty(view)) return [];
    const answer = this.historyOf(foldCase(view.name));
    const missing = this.#missingSource(view);
    if (answer === 'kept' && missing === undefined) return [];
    this.#set(view.name, true);
    return [lost(view, answer === 'kept' ? `loses rows that '${missing}' no longer holds` : describeAnswer(answer))];
  }

  /** Judges whether a view that is created again keeps its rows for a shorter time. */
  #judgeRetention(name: string): Effect[] {
    const [dropped, view] = [this.#dropped.get(foldCase(name)), this.catalogue.find(name)];
    return dropped && view ? retentionEffects(dropped, view) : [];
  }

  /** Judges a view that is created again: its rows were judged when it was dropped, its sources may have less since then. */
  #judgeSources(name: string): Effect[] {
    const view = this.catalogue.find(name);
    if (view?.kind !== 'materialized view' || !this.#less.has(foldCase(name))) return [];
    const missing = this.#missingSource(view);
    const wasKept = this.historyOf(foldCase(name)) === 'kept';
    if (missing === undefined && wasKept) this.#set(name, undefined);
    return missing === undefined ? [] : [lost(view, `loses rows that '${missing}' no longer holds`)];
  }

  /** The first table or materialized view that a view reads, directly or through views, and that holds less. */
  #missingSource(view: MaterializedView): string | undefined {
    const names = [...this.catalogue.closure([view.base, ...view.references])].map(name => this.#currentName(name));
    return names.find(name => !isSameName(name, view.name) && this.#less.has(foldCase(name)));
  }

  /** The name under which the rows are that had a name, unless something else has this name now. */
  #currentName(name: string): string {
    const to = this.catalogue.find(name) ? undefined : this.#renamed.get(foldCase(name));
    return to === undefined ? name : this.#currentName(to);
  }

  #set(name: string, less: true | undefined): void {
    this.#put(this.#less, foldCase(name), less);
  }

  #put<V>(map: Map<string, V>, key: string, value: V | undefined): void {
    const before = map.get(key);
    this.#undo.push(() => (before === undefined ? map.delete(key) : map.set(key, before)));
    if (value === undefined) map.delete(key);
    else map.set(key, value);
  }
}

const columnKey = (table: string, column: string): string => `${foldCase(table)}\0${foldCase(column)}`;

const rebuilds = (view: MaterializedView): Effect => ({
  effect: 'rewritten',
  kind: 'materialized view',
  object: view.name,
  text: `rebuilds ${titleOf(view)} from what '${view.base}' holds`,
});

const lost = (view: MaterializedView, what: string): Effect => ({
  effect: 'lost',
  kind: 'materialized view',
  object: view.name,
  loss: 'history',
  text: `rebuilding ${titleOf(view)} ${what}`,
});

function describeAnswer(answer: 'unknown' | LostRows): string {
  if (answer === 'unknown') return 'may lose rows: the server could not say whether its query still gives them';
  const { lost, total, first, last, areNewest } = answer;
  const doubt = areNewest ? ', perhaps only because the view is invalid and its newest interval was not refreshed' : '';
  return `loses rows that its query no longer gives: ${lost} of ${total}, from ${first} to ${last}${doubt}`;
}

/** Whether an object is a materialized view that was never filled. */
const isEmpty = (object: CatalogueObject | undefined): boolean =>
  object?.kind === 'materialized view' && object.neverRefreshed === true;
