import { findColumn, retentionAgeOf } from '@sqlpipe/ddl';
import { addToList, isSameName } from '@sqlpipe/sql';
import { type CatalogueObject, type MaterializedView, pairColumns, type Table } from '../catalogue-objects.js';
import { columnLoss, type Effect, findLossesOfUnwrittenValues, isExpiryLoss, objectLoss } from '../effects.js';
import type { Engine, Execution } from '../engine.js';
import type { Transition } from '../transaction-log.js';
import {
  type AccountedLoss,
  type ComputedView,
  type Conversion,
  type ExternalFacts,
  Ledger,
  type RetentionEnforcement,
  type TableCopy,
  writesRows,
} from './ledger.js';
import { ViewHistories } from './view-history.js';

/**
 * Follows the rows and values of a loaded schema while the engine executes statements. After the last statement, each of them is in the
 * same object, in a copy, in a recomputed view, or lost. The account names the lost ones, and the statements that caused each loss.
 */
export class RowAccount {
  readonly #engine: Engine;
  readonly #ledger: Ledger;
  readonly #views: ViewHistories;
  #statementCount = 0;

  constructor(engine: Engine, facts: ExternalFacts = {}) {
    this.#engine = engine;
    this.#ledger = new Ledger(engine, facts);
    this.#views = new ViewHistories(this.#ledger);
  }

  findLoaded(name: string): CatalogueObject | undefined {
    return this.#ledger.loaded.get(name);
  }

  /** A server enforces the retention of an object when a statement writes rows, computes a view again or sets another retention. */
  findRetentionEnforcements({ effects, transitions }: Execution): RetentionEnforcement[] {
    // RENAME TABLE has one transition for each name, and drops no rows (observed on 9.3.4).
    const ageOf = (object: CatalogueObject | undefined) => (canExpire(object) ? retentionAgeOf(object) : 0);
    const ageBefore = (id?: number) => ageOf(transitions.find(({ before }) => before?.id === id)?.before);
    const withNewRetention = transitions.filter(({ after }) => after && ageOf(after) !== ageBefore(after.id));
    // If an ALTER sets a shorter retention, its effects already name the loss, but only for this table. If the table is a copy, the loss of
    // the original's rows is found here.
    const isShortened = (name: string) =>
      effects.some(effect => isExpiryLoss(effect) && isSameName(effect.object, name));
    const written = effects.filter(writesRows).map(({ object }) => object);
    const names = new Set([...written, ...withNewRetention.map(({ name }) => name)]);
    return [...names].flatMap(name => {
      const current = this.#ledger.catalogue.find(name);
      const former = current && this.#ledger.formerOf(current);
      const isCopy = former?.kind === 'table' && former.id !== current?.id;
      const isEnforced = canExpire(former) && canExpire(current) && ageOf(current) !== 0;
      return isEnforced && (isCopy || !isShortened(name)) ? [{ former, current }] : [];
    });
  }

  get retentionEnforcements(): RetentionEnforcement[] {
    return [...this.#ledger.retentionEnforcements.values()];
  }

  findComputedViews(execution: Execution): ComputedView[] {
    return this.#views.findComputed(execution);
  }

  get recomputedViews() {
    return this.#views.recomputations();
  }

  /** The indexes of the statements that have made a view invalid. */
  invalidatingStatementsOf(view: string): readonly number[] {
    return this.#ledger.invalidatingStatements.listOf(this.#engine.find(view)?.id);
  }

  /** The index of the statement that has removed the base of a materialized view, as a list; empty if its base exists. */
  removalCausesOfBase(view: string): readonly number[] {
    const object = this.#engine.find(view);
    const base = object?.kind === 'materialized view' ? this.findLoaded(object.base) : undefined;
    return base && !this.#engine.find(base.name) ? this.#ledger.removalCausesOf(base) : [];
  }

  /** Records what an assertion shows: that all rows of a table are also in another table, or that a conversion changes no value. */
  recordAssertion({ copy, conversion }: { readonly copy?: TableCopy; readonly conversion?: Conversion }): void {
    const original = copy && this.#engine.find(copy.from);
    const loaded = this.#ledger.loadedById.get(original?.id);
    if (copy && loaded) this.#ledger.addCopy(loaded, copy, this.#lossesOf(loaded));
    if (!conversion) return;
    const converted = this.#engine.find(conversion.table);
    if (converted?.kind !== 'table') return;
    const column = findColumn(converted, conversion.column);
    if (column?.type === conversion.from) addToList(this.#ledger.losslessTypes, column.id, conversion.to);
  }

  /** @returns the effects of the statement, with losses that only the account finds, and without disproved losses */
  recordStatement(statement: string, execution: Execution): readonly Effect[] {
    const { effects, transitions } = execution;
    const index = this.#statementCount++;
    this.#ledger.addChanges(statement, execution, index);
    const { fullyWrittenColumns, loadedById } = this.#ledger;
    const wasInLoadedSchema = (name: string) =>
      transitions.every(({ before }) => !before || loadedById.has(before.id) || !isSameName(before.name, name));
    // It is no loss if a statement drops an object that an earlier statement created.
    const isNoLoss = (effect: Effect) =>
      effect.lossKind === 'drop' ? !wasInLoadedSchema(effect.object) : this.#keepsValues(effect, transitions);
    const relevantEffects = [
      ...effects.filter(effect => !isNoLoss(effect)),
      ...transitions.flatMap(each => findLossesOfUnwrittenValues(each, fullyWrittenColumns)),
    ];
    for (const effect of relevantEffects) if (effect.type === 'lost') this.#addLoss(effect, transitions, index);
    const enforcements = this.findRetentionEnforcements(execution);
    const expiryLosses = enforcements.flatMap(found => this.#ledger.addRetentionEnforcement(found, index));
    return [...relevantEffects, ...expiryLosses, ...this.#views.trackStatement(execution, index)];
  }

  #keepsValues(
    { lossKind, object: objectName, column: columnName = '' }: Effect,
    transitions: readonly Transition[],
  ): boolean {
    const { before, after } = transitions.find(({ name }) => isSameName(name, objectName)) ?? {};
    if (lossKind !== 'values' || before?.kind !== 'table' || after?.kind !== 'table') return false;
    const pair = pairColumns(before, after).find(({ column: { name } }) => isSameName(name, columnName));
    return this.#ledger.losslessTypes.listOf(pair?.column.id).includes(pair?.current?.type ?? '');
  }

  /** What the loaded schema has lost so far, including plain views and principals, which hold no rows. */
  losses(): AccountedLoss[] {
    const loaded = [...this.#ledger.loaded.values()];
    return [...this.#ledger.losses.listOf(undefined), ...loaded.flatMap(object => this.#lossesOf(object))];
  }

  /** The losses depend on where the rows are now: in the same object, in a copy, in a recreated materialized view, or nowhere. */
  #lossesOf(object: CatalogueObject): AccountedLoss[] {
    const current = this.#engine.catalogue.findById(object.id);
    const causes = this.#ledger.removalCausesOf(object);
    const copy = this.#ledger.findCopy(object);
    const successor = this.#ledger.successorOf(object);
    // Once the copy has the name of the original, later rows go to the copy. Its dedup keys may overwrite these rows, and its retention may
    // drop them. They are lost even if the original is kept.
    const isReplacement = copy !== undefined && copy.table.id === successor?.id;
    const copyLosses = (copy?.losses ?? []).flatMap(effect => {
      const isOfLaterRows = isReplacement && (effect.lossKind === 'keys' || isExpiryLoss(effect));
      if (isOfLaterRows) return { effect, causes: this.#ledger.changingStatements.listOf(copy.table.id) };
      return current ? [] : { effect, causes };
    });
    if (current)
      return [...this.#ledger.losses.listOf(object.id), ...this.#lossesOfColumns(object, current), ...copyLosses];
    if (copy) return [...copy.lossesBefore, ...copyLosses];
    if (object.kind === 'view' && successor?.kind === 'view') return [];
    if (object.kind === 'materialized view' && successor?.kind === 'materialized view')
      return this.#views.lossesOfView(object, successor);
    return [{ effect: objectLoss(object), causes }];
  }

  /** A column that is gone is lost, even if no effect of a statement says so. */
  #lossesOfColumns(former: CatalogueObject, current: CatalogueObject): AccountedLoss[] {
    if (former.kind !== 'table' || current.kind !== 'table') return [];
    return pairColumns(former, current).flatMap(({ column, current: currentColumn }) => {
      const losses = this.#ledger.losses.listOf(column.id);
      return currentColumn || losses.some(({ effect }) => effect.lossKind === 'drop')
        ? losses
        : [{ effect: columnLoss(current, column), causes: this.#ledger.changingStatements.listOf(former.id) }];
    });
  }

  /** Adds a loss, except that of a whole object, which `#lossesOf` adds. Principals have no id, so their losses have the id `undefined`. */
  #addLoss(effect: Effect, transitions: readonly Transition[], index: number): void {
    const { object: objectName, column: columnName, lossKind } = effect;
    const { losses } = this.#ledger;
    if (lossKind === 'drop-user') return addToList(losses, undefined, { effect, causes: [index] });
    const change = transitions.find(({ before }) => before && isSameName(before.name, objectName));
    const current = this.#engine.find(objectName);
    const former = change?.before ?? current;
    const isGone =
      lossKind === 'drop' && columnName === undefined && former?.id !== undefined && former.id !== current?.id;
    if (isGone) return;
    const subject = columnName === undefined || lossKind === 'keys' ? former : former && findColumn(former, columnName);
    addToList(losses, subject?.id, { effect, causes: [index] });
    this.#views.addMissedRows(effect, index);
  }
}

/** Rows of live views expire too, but they are not accounted for. */
const canExpire = (object: CatalogueObject | undefined): object is Table | MaterializedView =>
  object?.kind === 'table' || object?.kind === 'materialized view';
