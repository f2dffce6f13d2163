/*! What a row account knows: the objects of the loaded schema, the losses and their causes so far, and facts from outside. */
import { type Column, findColumn, isLossless, type TableDefinition } from '@sqlpipe/ddl';
import { isSameName } from '@sqlpipe/sql';
import type { Catalogue } from '../catalogue.js';
import type { CatalogueObject, MaterializedView, StoredColumn, Table } from '../catalogue-objects.js';
import { columnLoss, type Effect, findKeyLosses, findRetentionLosses } from '../effects.js';
import type { Engine } from '../engine.js';

/** Rows of a materialized view that its query no longer returns. Dates are as the server prints them. */
interface HistoryRows {
  readonly count: number;
  readonly total: number;
  readonly first: string;
  readonly last: string;
  /** Why the query may still return them later: a part of a sentence. */
  readonly doubt?: string | undefined;
}

/**
 * What is known of the rows that a materialized view stores:
 * - `none`: it has no rows;
 * - `recomputable`: its query returns all of them;
 * - `unknown`: no server was asked or could tell, or a refresh limit leaves out rows, or the loss is allowed, so nobody needs to know;
 * - `HistoryRows`: its query no longer returns these.
 */
export type StoredRows = 'none' | 'recomputable' | 'unknown' | HistoryRows;

/** An object whose retention a statement makes the server enforce. */
export interface RetentionEnforcement {
  readonly former: Table | MaterializedView;
  readonly current: Table | MaterializedView;
}

/** A materialized view that a statement computes or creates. It may be a successor of the former view. */
export interface ComputedView {
  readonly former: MaterializedView;
  readonly current: MaterializedView;
}

/** What a refresh leaves out of the stored rows of a view, because their period has not ended. */
export type UnendedRows = 'none' | 'unknown' | Pick<HistoryRows, 'count' | 'first' | 'last'>;

/** A table that has all rows of another table, with the names of the columns in both. */
export interface Copy {
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
  /** By default `recomputable`. @param query what the view will return, if not the same as before; see `Recomputation` */
  readonly findStoredRows?: (view: string, query?: string) => StoredRows;
  /** The number of expired rows, which the server will drop; undefined if it cannot say. By default 0. */
  readonly countExpired?: (enforcement: RetentionEnforcement) => number | undefined;
  /** The rows of a period that has not ended when the view is computed next; by default `none`. */
  readonly findUnended?: (view: ComputedView) => UnendedRows;
  /** The planned name of an object of the loaded schema; by default, its own name. */
  readonly newNameOf?: (object: string) => string;
  /** Whether the wanted schema has this view, and it is not ignored. A view that is not wanted must keep all rows. By default true. */
  readonly isWanted?: (view: string) => boolean;
  /** Whether a recreated view has another query than before, apart from new names of what it reads. */
  readonly isRedefined?: (former: MaterializedView, current: MaterializedView) => boolean;
  /** Whether the server can compute a view after the statements so far; undefined if it need not be asked. */
  readonly askComputable?: (
    former: MaterializedView,
    current: MaterializedView,
  ) => { readonly query: string; readonly assertion: string; readonly isRejected: boolean } | undefined;
}

export interface AccountedLoss {
  readonly effect: Effect;
  readonly causes: readonly number[];
}

class ListsById<V> extends Map<number | undefined, V[]> {
  of(id: number | undefined): readonly V[] {
    return this.get(id) ?? [];
  }

  add(id: number | undefined, value: V): void {
    const list = this.get(id);
    if (list) list.push(value);
    else this.set(id, [value]);
  }
}

export class Ledger {
  readonly catalogue: Catalogue;
  readonly loaded: readonly CatalogueObject[];
  readonly facts: Required<ExternalFacts>;
  readonly losses = new ListsById<AccountedLoss>();
  /** The indexes of the statements that created, changed or removed an object, by its id. */
  readonly touchedBy = new ListsById<number>();
  readonly invalidatedBy = new ListsById<number>();
  /** By the id of a table: another table that has all of its rows. */
  readonly copies = new Map<
    number | undefined,
    { readonly table: CatalogueObject; readonly columns: Copy['columns'] }
  >();
  /** By the id of a column: the types to which an assertion has shown that its values can be converted without a change. */
  readonly losslessTypes = new ListsById<string>();
  /** By the id of an object of the loaded schema. `causes` are indexes of statements. */
  readonly retentionEnforcements = new Map<number | undefined, RetentionEnforcement & { readonly causes: number[] }>();

  constructor({ catalogue }: Engine, facts: ExternalFacts) {
    this.catalogue = catalogue;
    this.loaded = catalogue.list();
    this.facts = {
      findStoredRows: () => 'recomputable',
      countExpired: () => 0,
      findUnended: () => 'none',
      newNameOf: name => name,
      isWanted: () => true,
      isRedefined: (former, current) => former.body !== current.body,
      askComputable: () => undefined,
      ...facts,
    };
  }

  /** The loaded object with the same id, or else the loaded materialized view that gets the name of the object. */
  formerOf({ id, name }: CatalogueObject): CatalogueObject | undefined {
    const isFormer = (object: CatalogueObject) =>
      object.kind === 'materialized view' && isSameName(this.facts.newNameOf(object.name), name);
    return this.loaded.find(object => object.id === id) ?? this.loaded.find(isFormer);
  }

  successorOf({ name }: CatalogueObject): CatalogueObject | undefined {
    return this.catalogue.find(this.facts.newNameOf(name));
  }

  /** The table that holds a copy of the rows of another table, and what the copy lacks. */
  findCopy(copied: CatalogueObject) {
    const copy = this.copies.get(copied.id);
    const table = this.catalogue.findById(copy?.table.id);
    if (!copy || table?.kind !== 'table' || copied.kind !== 'table') return undefined;
    const isKept = (column: StoredColumn, to: string) => this.losslessTypes.of(column.id).includes(to);
    return { table, losses: findCopyLosses(copied, table, copy.columns, isKept) };
  }

  /** A list with the index of the statement that removed an object; empty if none did. */
  findRemoval({ id }: CatalogueObject): readonly number[] {
    return this.catalogue.findById(id) ? [] : this.touchedBy.of(id).slice(-1);
  }

  /** The indexes of the statements that cause a loss: those that invalidated the object, or else dropped it, or else that of `index`. */
  causesOf(object: CatalogueObject, index: number): readonly number[] {
    const causes = [this.invalidatedBy.of(object.id), this.findRemoval(object)];
    return causes.find(({ length }) => length > 0) ?? [index];
  }
}

/**
 * Finds what is lost if a table is gone, and its rows are in a copy.
 * @param isKept whether all values of a column are known to be the same in another type; by default, what the types alone show
 */
export function findCopyLosses(
  before: TableDefinition,
  copied: TableDefinition,
  columns: Copy['columns'],
  isKept: (column: Column, to: string) => boolean = () => false,
): Effect[] {
  const findCopied = ({ name }: Column): Column | undefined =>
    findColumn(copied, columns.find(({ from }) => isSameName(from, name))?.to ?? '');
  return [
    ...findRetentionLosses(before, copied),
    ...findKeyLosses(before, copied, findCopied),
    ...before.columns.flatMap(column => {
      const current = findCopied(column);
      return current && (isLossless(column.type, current.type) || isKept(column, current.type))
        ? []
        : [columnLoss(before, column, current?.type)];
    }),
  ];
}
