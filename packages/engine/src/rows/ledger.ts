/*! What a row account knows: the objects of the loaded schema, the losses and their causes so far, and facts from outside. */
import { type Column, findColumn, isLossless, parseFill } from '@sqlpipe/ddl';
import { addToList, identify, NameMap } from '@sqlpipe/sql';
import type { Catalogue } from '../catalogue.js';
import type { CatalogueObject, MaterializedView, Table } from '../catalogue-objects.js';
import { columnLoss, type Effect, expiredRowsLoss, findExpiryLosses, findKeyLosses } from '../effects.js';
import type { Engine, Execution } from '../engine.js';

/** Stored rows of a materialized view that its query no longer returns. Dates are as the server prints them. */
interface HistoryRows {
  readonly count: number;
  /** The number of all stored rows. */
  readonly total: number;
  readonly first: string;
  readonly last: string;
  /** Why the query may return these rows after all, as a part of a sentence. */
  readonly doubt?: string | undefined;
}

/**
 * What is known of the rows that a materialized view stores:
 * - `none`: the view has no rows.
 * - `recomputable`: the query returns all stored rows.
 * - `HistoryRows`: the query no longer returns these rows.
 * - `unknown`: no server has answered, a refresh limit leaves out rows, or the user allows the loss, so no assertion checks the rows.
 */
export type StoredRows = 'none' | 'recomputable' | 'unknown' | HistoryRows;

/** An object whose expired rows the server drops because of a statement. */
export interface RetentionEnforcement {
  readonly former: Table | MaterializedView;
  readonly current: Table | MaterializedView;
}

/** A materialized view that a statement computes or creates. `current` is the former view itself or its successor. */
export interface ComputedView {
  readonly former: MaterializedView;
  readonly current: MaterializedView;
}

/** The stored rows that a refresh leaves out, because their refresh period has not ended. */
export type UnendedRows = 'none' | 'unknown' | Pick<HistoryRows, 'count' | 'first' | 'last'>;

/** Table `to` has all rows of table `from`. A column may have another name in the copy. */
export interface TableCopy {
  readonly from: string;
  readonly to: string;
  readonly columns: readonly { readonly from: string; readonly to: string }[];
}

/** A column that gets another type. */
export interface Conversion {
  readonly table: string;
  readonly column: string;
  readonly from: string;
  readonly to: string;
}

/** What only the server or the wanted schema can tell. Each function has a default, for use without a server. */
export interface ExternalFacts {
  /** What is known of the rows of a view; by default `recomputable`. @param query `Computability.queryAfterPlan` of the view */
  readonly findStoredRows?: (view: string, query?: string) => StoredRows;
  /** The number of expired rows, which the server will drop; undefined if the server cannot say. By default 0. */
  readonly askExpired?: (enforcement: RetentionEnforcement) => number | undefined;
  /** The rows of a refresh period that has not ended when the view is computed next; by default `none`. */
  readonly askUnended?: (view: ComputedView) => UnendedRows;
  /** The planned name of an object of the loaded schema; by default, its own name. */
  readonly newNameOf?: (object: string) => string;
  /** Whether the view is in the wanted schema and not ignored. If a plan keeps any other view, it must keep its rows. By default true. */
  readonly isWanted?: (view: string) => boolean;
  /** Whether a recreated view has a different query. By default the texts are compared, so a query with a renamed source is different. */
  readonly isRedefined?: (former: MaterializedView, current: MaterializedView) => boolean;
  /** By default undefined, as if the query had not changed. */
  readonly askComputable?: (former: MaterializedView, current: MaterializedView) => Computability | undefined;
}

/** Whether the server can compute a view whose query has changed. */
export interface Computability {
  /** The assertion that the server can compute the query after the statements so far. */
  readonly assertion: string;
  /** The new query of a view that the plan keeps although A lacks it, if a change of a source changes the query. Otherwise undefined. */
  readonly queryAfterPlan: string | undefined;
  /** Whether the server has already rejected the query; `unknown` if it did not answer. */
  readonly isRejected: boolean | 'unknown';
}

export interface AccountedLoss {
  readonly effect: Effect;
  readonly causes: readonly number[];
}

/** A copy of a table. An assertion has compared it with the table. */
interface RecordedCopy {
  /** The losses of the original before it was copied. The copy lacks these rows too. */
  readonly lossesBefore: readonly AccountedLoss[];
  /** The ids of the columns of the copy, by the names of the columns of the original. */
  readonly columnIds: NameMap<Id>;
  /** The states of the copy, the last one first. A value that one state could not hold is lost, even if a later state could hold it. */
  readonly states: [Table, ...Table[]];
}

type Id = number | undefined;

/** Lists by the id of an object or a column. */
class ListsById<Value> extends Map<Id, Value[]> {
  listOf(id: Id): readonly Value[] {
    return this.get(id) ?? [];
  }
}

export class Ledger {
  readonly catalogue: Catalogue;
  readonly loaded: NameMap<CatalogueObject>;
  readonly loadedById: ReadonlyMap<Id, CatalogueObject>;
  /** The loaded materialized views, by the names that the plan gives them. */
  readonly #loadedByNewName: NameMap<CatalogueObject>;
  readonly facts: Required<ExternalFacts>;
  /** Users, groups and service accounts have no id: their losses are under `undefined`. */
  readonly losses = new ListsById<AccountedLoss>();
  /** The indexes of the statements that created, changed or removed an object. */
  readonly changingStatements = new ListsById<number>();
  /** The indexes of the statements that invalidated a view. */
  readonly invalidatingStatements = new ListsById<number>();
  /** The types that can hold all values of a column, as an assertion has shown. After a write, that may no longer hold. */
  readonly losslessTypes = new ListsById<string>();
  /** The ids of the columns for which every row stores a value. */
  readonly fullyWrittenColumns = new Set<Id>();
  /** The last copy of the rows of a table, by the id of the table. */
  readonly #copies = new Map<Id, RecordedCopy>();
  /** By the id of an object of the loaded schema. */
  readonly retentionEnforcements = new Map<Id, RetentionEnforcement & { readonly loss: { causes: number[] } }>();

  constructor({ catalogue }: Engine, facts: ExternalFacts) {
    this.catalogue = catalogue;
    this.loaded = new NameMap(catalogue.list().map(object => [object.name, object]));
    this.facts = {
      findStoredRows: () => 'recomputable',
      askExpired: () => 0,
      askUnended: () => 'none',
      newNameOf: name => name,
      isWanted: () => true,
      isRedefined: (former, current) => former.body !== current.body,
      askComputable: () => undefined,
      ...facts,
    };
    const loaded = [...this.loaded.values()];
    this.loadedById = new Map(loaded.map(object => [object.id, object]));
    const views = loaded.filter(({ kind }) => kind === 'materialized view');
    this.#loadedByNewName = new NameMap(views.map(view => [this.facts.newNameOf(view.name), view]));
  }

  /**
   * Finds the loaded object that this one continues: the object with the same id, the original of this copy, or the materialized view that
   * the plan gives this name.
   */
  formerOf({ id, name }: CatalogueObject): CatalogueObject | undefined {
    const [originalId] = [...this.#copies].find(([, { states }]) => states[0].id === id) ?? [];
    return this.loadedById.get(id) ?? this.loadedById.get(originalId) ?? this.#loadedByNewName.get(name);
  }

  successorOf({ name }: CatalogueObject): CatalogueObject | undefined {
    return this.catalogue.find(this.facts.newNameOf(name));
  }

  /** Records which objects a statement has created, changed, removed or invalidated, and what it writes. */
  addChanges(statement: string, { effects, transitions }: Execution, index: number): void {
    for (const { before, after } of transitions) addToList(this.changingStatements, (before ?? after)?.id, index);
    for (const { type, object } of effects)
      if (type === 'invalidated') addToList(this.invalidatingStatements, this.catalogue.find(object)?.id, index);
    // The UPDATE of `printFill` gives each row a value. Any other write may make assertions untrue.
    const fill = parseFill(statement);
    const filled = fill && this.catalogue.find(fill.table);
    if (fill && filled?.kind === 'table') this.fullyWrittenColumns.add(findColumn(filled, fill.column)?.id);
    const written = fill ? [] : effects.filter(writesRows);
    for (const { object } of written)
      for (const { id } of this.catalogue.find(object)?.columns ?? []) this.losslessTypes.delete(id);
    const removals = effects.filter(({ lossKind, column }) => lossKind === 'drop' && column === undefined);
    const isUpdate = identify(statement).verb === 'UPDATE'; // also if a query precedes it: WITH … UPDATE
    for (const [id, { states }] of this.#copies) {
      const [copy] = states;
      const isCopy = ({ object }: Effect) => this.catalogue.find(object)?.id === copy.id;
      const overwrites = isUpdate || copy.columns.some(({ dedup }) => dedup);
      const after = transitions.find(({ after }) => after?.id === copy.id)?.after;
      if (removals.some(isCopy) || (overwrites && written.some(isCopy))) this.#copies.delete(id);
      else if (after?.kind === 'table') states.unshift(after);
    }
  }

  /** Expired rows are counted once, for the first statement that drops them. Later statements only become further causes of this loss. */
  addRetentionEnforcement(enforcement: RetentionEnforcement, index: number): Effect[] {
    const { former, current } = enforcement;
    const causes = this.causesOf(former, index);
    const known = this.retentionEnforcements.get(former.id);
    known?.loss.causes.push(...causes);
    if (known) return [];
    const count = this.facts.askExpired(enforcement);
    const loss = { effect: expiredRowsLoss(current, count), causes: [...causes] };
    this.retentionEnforcements.set(former.id, { ...enforcement, loss });
    if (count === 0) return [];
    addToList(this.losses, former.id, loss);
    return [loss.effect];
  }

  addCopy(original: CatalogueObject, { to, columns }: TableCopy, lossesBefore: readonly AccountedLoss[]): void {
    const table = this.catalogue.find(to);
    if (table?.kind !== 'table') return;
    const columnIds = new NameMap(columns.map(({ from, to }) => [from, findColumn(table, to)?.id]));
    this.#copies.set(original.id, { lossesBefore, columnIds, states: [table] });
  }

  /** The table that now holds a copy of the rows of another table, and the losses in this copy. */
  findCopy(original: CatalogueObject) {
    const { states, columnIds, lossesBefore } = this.#copies.get(original.id) ?? {};
    const table = this.catalogue.findById(states?.[0].id);
    if (!states || !columnIds || !lossesBefore || table?.kind !== 'table' || original.kind !== 'table')
      return undefined;
    const all = states.flatMap(state => this.#findCopyLosses(original, state, columnIds));
    const isSame = (a: Effect, b: Effect) => a.lossKind === b.lossKind && a.column === b.column;
    const losses = all.filter((effect, i) => all.findIndex(each => isSame(each, effect)) === i);
    return { table, losses, lossesBefore };
  }

  #findCopyLosses(original: Table, copy: Table, columnIds: NameMap<Id>): Effect[] {
    const findInCopy = ({ name }: Column) => copy.columns.find(({ id }) => id === columnIds.get(name));
    return [
      ...findExpiryLosses(original, copy),
      ...findKeyLosses(original, copy, findInCopy),
      ...original.columns.flatMap(column => {
        const type = findInCopy(column)?.type;
        const isKept = (to: string) => isLossless(column.type, to) || this.losslessTypes.listOf(column.id).includes(to);
        return type !== undefined && isKept(type) ? [] : columnLoss(original, column, type);
      }),
    ];
  }

  /** The index of the statement that removed an object, as a list. The list is empty if the object exists. */
  removalCausesOf(object: CatalogueObject): readonly number[] {
    return this.catalogue.findById(object.id) ? [] : this.changingStatements.listOf(object.id).slice(-1);
  }

  /**
   * The indexes of the statements that invalidated an object, or else of the statement that removed the object, or else `index`, which is
   * the current statement.
   */
  causesOf(object: CatalogueObject, index: number): readonly number[] {
    const causes = [this.invalidatingStatements.listOf(object.id), this.removalCausesOf(object)];
    return causes.find(({ length }) => length > 0) ?? [index];
  }
}

export const writesRows = ({ type, column }: Effect): boolean => type === 'rewritten' && column === undefined;
