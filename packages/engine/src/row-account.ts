/*!
 * Accounts for the rows of a schema while statements change it. Tables, their columns, materialized and live views hold rows. After
 * the last statement, the rows of each holder are still in the same object, or in a copy, or a view computes them again, or they are
 * lost. A holder is known by its id, which renaming does not change.
 */
import { findColumn, parseFill } from '@sqlpipe/ddl';
import { foldCase, isSameName } from '@sqlpipe/sql';
import type { ObjectChange } from './catalogue.js';
import type { CatalogueObject, StoredColumn, Table } from './catalogue-objects.js';
import { columnLoss, type Effect, isRefreshed, objectLoss, unwrittenLosses } from './effects.js';
import type { Engine, Execution } from './engine.js';
import { enterEnforcement, findEnforcements } from './expired-rows.js';
import { type AccountedLoss, type AccountOptions, type Copy, Ledger } from './ledger.js';
import { findCopy } from './table-copy.js';
import { ViewHistories } from './view-history.js';

/** Tracks the rows of the schema that an engine has when the account is created. */
export class RowAccount {
  readonly ledger: Ledger;
  readonly views: ViewHistories;
  /** The ids of the objects of the loaded schema. */
  readonly #loaded: ReadonlySet<number | undefined>;
  /** The ids of columns that an UPDATE has written in every row, so that no row lacks a stored value. */
  readonly #updatedColumns = new Set<number | undefined>();
  /** The number of statements entered. */
  #count = 0;

  constructor(
    readonly engine: Engine,
    options: AccountOptions = {},
  ) {
    this.ledger = new Ledger(engine, options);
    this.#loaded = new Set(this.ledger.before.map(({ id }) => id));
    this.views = new ViewHistories(this.ledger);
  }

  /** Enters an assertion that all rows of a table are also in another table. */
  enterCopy({ from, to, columns }: Copy): void {
    const [copied, table] = [this.engine.find(from), this.engine.find(to)];
    if (copied && table) this.ledger.copies.set(copied.id, { table, columns });
  }

  /** Enters a statement that the engine has executed. @returns its effects, and the losses that only this account shows */
  enter(statement: string, { effects, changes }: Pick<Execution, 'effects' | 'changes'>): readonly Effect[] {
    const at = this.#count++;
    for (const { before, after } of changes) this.ledger.touchedBy.add((before ?? after)?.id, at);
    for (const { effect, object } of effects)
      if (effect === 'invalidated') this.ledger.invalidatedBy.add(this.engine.find(object)?.id, at);
    const fill = parseFill(statement);
    const table = fill && this.engine.find(fill.table);
    if (fill && table?.kind === 'table')
      this.#updatedColumns.add((findColumn(table, fill.column) as StoredColumn | undefined)?.id);
    // What the statements have created themselves is no loss.
    const own = new Set(
      changes.flatMap(({ before }) => (before && !this.#loaded.has(before.id) ? foldCase(before.name) : [])),
    );
    const unwritten = changes.flatMap(each => unwrittenLosses(each, this.#updatedColumns));
    const allEffects = [...effects, ...unwritten].filter(
      ({ loss, object }) => loss !== 'drop' || !own.has(foldCase(object)),
    );
    for (const effect of allEffects) if (effect.effect === 'lost') this.#record(effect, changes, at);
    const refreshed = this.engine.find(effects.find(isRefreshed)?.object ?? '');
    const expired = findEnforcements({ effects, changes }, this.ledger).flatMap(found =>
      enterEnforcement(found, this.ledger, at),
    );
    return [...allEffects, ...expired, ...this.views.enter(changes, refreshed, at)];
  }

  /**
   * The rows, values and guarantees of the loaded schema that are lost after the statements so far. Plain views and principals hold no
   * rows, but dropping them needs permission too, so they are in the list.
   */
  losses(): AccountedLoss[] {
    const { before, losses } = this.ledger;
    return [...losses.of(undefined), ...before.flatMap(object => this.#lossesOf(object))];
  }

  /**
   * The losses of an object of the loaded schema. They depend on where its rows are now:
   * - in the same object: what statements have taken from it;
   * - in a copy of the table: what the copy does not hold;
   * - in a recreated materialized view: what its query does not return;
   * - nowhere: the object itself, unless it is a view that was recreated.
   */
  #lossesOf(object: CatalogueObject): AccountedLoss[] {
    const same = this.engine.catalogue.findById(object.id);
    if (same) return [...this.ledger.losses.of(object.id), ...this.#lossesOfColumns(object, same)];
    const at = this.ledger.removalOf(object);
    const copy = findCopy(object, this.ledger);
    if (copy) return copy.losses.map(effect => ({ effect, at }));
    const successor = this.ledger.successorOf(object);
    if (object.kind === 'view' && successor?.kind === 'view') return [];
    if (object.kind === 'materialized view' && successor?.kind === 'materialized view')
      return this.views.lossesOf(object, successor);
    return [{ effect: objectLoss(object), at }];
  }

  /** The losses of the columns of a table. A column that is gone is a loss even if no statement has recorded it. */
  #lossesOfColumns(before: CatalogueObject, after: CatalogueObject): AccountedLoss[] {
    if (before.kind !== 'table' || after.kind !== 'table') return [];
    const ids = new Set(after.columns.map(({ id }) => id));
    return (before.columns as StoredColumn[]).flatMap(column => {
      const losses = this.ledger.losses.of(column.id);
      return ids.has(column.id) || losses.some(({ effect }) => effect.loss === 'drop')
        ? losses
        : [{ effect: columnLoss(after.name, column), at: this.ledger.touchedBy.of(before.id) }];
    });
  }

  /**
   * Records a loss under the id of the object or column that loses something. Principals have no id. The loss of a complete object
   * is not recorded: `losses` sees that it is gone.
   */
  #record(effect: Effect, changes: readonly ObjectChange[], at: number): void {
    const { object, column, loss } = effect;
    const { losses } = this.ledger;
    if (loss === 'drop-user') return losses.add(undefined, { effect, at: [at] });
    const change = changes.find(({ before }) => before && isSameName(before.name, object));
    const now = this.engine.find(object);
    const former = change?.before ?? now;
    const isGone = loss === 'drop' && column === undefined && former?.id !== undefined && former.id !== now?.id;
    if (isGone) return;
    const holder = column === undefined || loss === 'keys' ? former : findColumn(former as Table, column);
    losses.add((holder as { id?: number } | undefined)?.id, { effect, at: [at] });
    this.views.recordViewsMissing(effect, at);
  }
}
