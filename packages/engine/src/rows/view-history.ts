/*!
 * Finds the rows that a materialized view loses if statements drop, recreate or recompute the view.
 *
 * Example: table `t` holds the rows of the last 8 days. View `m` (`SELECT ts, sum(x) n FROM t SAMPLE BY 1d`) is older than that, and stores
 * 100 rows, one for each day. No statement can compute 92 of these rows again.
 *     DROP MATERIALIZED VIEW m;                                                 -- loses 92 rows
 *     CREATE MATERIALIZED VIEW m AS (SELECT ts, max(x) n FROM t SAMPLE BY 1d);  -- gets 8 rows
 * REFRESH MATERIALIZED VIEW m FULL alone would lose the same 92 rows.
 *
 * - former view: a view of the loaded schema (B in a plan). Here: the first `m`.
 * - successor: the view that replaces the former view, under the same name or under its new name (`newNameOf`). Here: the second `m`.
 * - source: a table or stored view that a view reads. Here: `t`.
 * - holder: an object that has the rows of a source now: the source itself, a copy, or a view recreated over the same sources.
 * - loss `history`: rows that no statement computes again, rows whose source is lost, and rows of a refresh period that has not ended.
 */
import { addToList, displayName, isSameName, NameMap, NameSet, significantTokens, unquote } from '@sqlpipe/sql';
import { formatCount } from '@sqlpipe/text';
import type { CatalogueObject, MaterializedView, StoredColumn } from '../catalogue-objects.js';
import { type Effect, findExpiryLosses, isFullRefresh, lossOf, REMOVING_LOSSES } from '../effects.js';
import type { Execution } from '../engine.js';
import type { AccountedLoss, Computability, ComputedView, Ledger, StoredRows, UnendedRows } from './ledger.js';

function formatUnreturnedRows(storedRows: StoredRows): string {
  if (typeof storedRows === 'string')
    return 'may lose rows: no server has shown that a refresh returns them all (a refresh limit, for example, leaves out older rows)';
  const { count, total, first, last, doubt } = storedRows;
  const perhaps = doubt === undefined ? '' : `, perhaps only because ${doubt}`;
  return `loses rows that its query no longer returns: ${count} of ${total}, from ${first} to ${last}${perhaps}`;
}

function formatUnendedRows(rows: UnendedRows): string | undefined {
  if (rows === 'none') return undefined;
  if (rows === 'unknown') return 'may lose rows of a period that has not ended';
  const { count, first, last } = rows;
  return `loses ${formatCount(count, 'row')} of a period that has not ended, from ${first} to ${last}`;
}

/** The last computation of a view. An earlier one does not count, because the last one computes all rows again. */
export interface Recomputation extends Partial<Computability> {
  /** Holds the view if it had rows and has a refresh period. Computing it loses the rows of a period that has not ended. */
  readonly periodicViews: readonly MaterializedView[];
  /** The sources of the former view that the computed view does not read. */
  readonly unreadSources: readonly CatalogueObject[];
  /** The causes (`causesOf`) if the successor has a different query that lacks a source of the former view; otherwise undefined. */
  readonly redefinitionCauses?: readonly number[] | undefined;
}

export class ViewHistories {
  /** By the id of a former view, what it reads, directly or through plain views. The plain views are among these objects. */
  readonly #dependencies: ReadonlyMap<number | undefined, readonly CatalogueObject[]>;
  readonly #partlyRefreshed: readonly MaterializedView[];
  /** The last drop or computation of each former view. */
  readonly #recomputations = new Map<MaterializedView, Recomputation>();
  /** The ids of views that may be empty: they were created, or refreshed over an empty view. The server fills most of them later. */
  readonly #unrefreshedIds = new Set<number | undefined>();
  /** The views whose sources are being compared. In a file, two views may read each other. */
  readonly #visiting = new Set<CatalogueObject>();

  constructor(private readonly ledger: Ledger) {
    const { loaded, catalogue } = ledger;
    const views = [...loaded.values()].filter(object => object.kind === 'materialized view');
    this.#partlyRefreshed = views.filter(view => view.isPartlyRefreshed);
    const dependenciesOf = (view: MaterializedView) =>
      [...catalogue.closure(view)].flatMap(name => catalogue.find(name) ?? []);
    this.#dependencies = new Map(views.map(view => [view.id, dependenciesOf(view)]));
  }

  /** @returns the losses of the former views that the statement drops or recomputes */
  trackStatement(execution: Execution, index: number): Effect[] {
    const dropped = execution.transitions
      .flatMap(({ before }) => this.ledger.loadedById.get(before?.id) ?? [])
      .filter(object => object.kind === 'materialized view')
      .filter(({ id }) => !this.ledger.catalogue.findById(id));
    const isRefresh = execution.effects.some(isFullRefresh);
    for (const view of this.#findRefreshedOrCreated(execution))
      if (isRefresh && !this.#readsEmptyView(view)) this.#unrefreshedIds.delete(view.id);
      else this.#unrefreshedIds.add(view.id);
    return [
      ...dropped.flatMap(former => this.#dropOrCompute(former, undefined, index)),
      ...this.findComputed(execution).flatMap(({ former, current }) => this.#dropOrCompute(former, current, index)),
    ];
  }

  /** Finds the former views that a statement recreates or refreshes in full, or that the server completes because of the statement. */
  findComputed(execution: Execution): ComputedView[] {
    return [...this.#findRefreshedOrCreated(execution), ...this.#findCompletedByServer(execution)].flatMap(current => {
      const former = this.ledger.formerOf(current);
      return former?.kind === 'materialized view' ? [{ former, current }] : [];
    });
  }

  #findRefreshedOrCreated({ effects, transitions }: Execution): MaterializedView[] {
    const refreshed = this.ledger.catalogue.find(effects.find(isFullRefresh)?.object ?? '');
    const created = transitions.flatMap(({ before, after }) => (before ? [] : (after ?? [])));
    return (refreshed ? [refreshed] : created).filter(object => object.kind === 'materialized view');
  }

  /** If only a range of an IMMEDIATE view was refreshed, any change of its base makes the server complete the view (observed on 9.3.4). */
  #findCompletedByServer({ transitions }: Execution): MaterializedView[] {
    const altered = new NameSet(transitions.flatMap(({ before, after }) => (before && after ? [after.name] : [])));
    return this.#partlyRefreshed.flatMap(({ id }) => {
      const view = this.ledger.catalogue.findById(id);
      if (view?.kind !== 'materialized view' || view.refresh.type !== 'IMMEDIATE') return [];
      return view.isPartlyRefreshed && view.invalidReason === undefined && altered.has(view.base) ? [view] : [];
    });
  }

  /** Whether an empty view stays empty: it is deferred, or a view that it reads stays empty. The server fills all other views. */
  #isLeftEmpty(view: MaterializedView): boolean {
    return this.#unrefreshedIds.has(view.id) && (view.refresh.deferred || this.#readsEmptyView(view));
  }

  #readsEmptyView(view: MaterializedView): boolean {
    const { catalogue } = this.ledger;
    const sources = catalogue.sources(view).flatMap(name => catalogue.find(name) ?? []);
    return sources.some(source => source.kind === 'materialized view' && this.#isLeftEmpty(source));
  }

  /** The server may not have filled a recreated view yet. If a statement removes rows of a source, the view may miss these rows. */
  addMissedRows({ object, lossKind }: Effect, index: number): void {
    const { catalogue } = this.ledger;
    for (const id of REMOVING_LOSSES.has(lossKind) ? this.#unrefreshedIds : []) {
      const view = catalogue.findById(id);
      if (view?.kind !== 'materialized view' || view.refresh.deferred) continue;
      if (this.ledger.formerOf(view)?.kind !== 'materialized view') continue;
      if (!catalogue.sources(view).some(name => isSameName(name, object))) continue;
      const text = `${displayName(view)} may miss rows that '${object}' loses before the server has read them`;
      addToList(this.ledger.losses, id, { effect: lossOf(view, 'history', text), causes: [index] });
    }
  }

  /** @param computedView the view that the statement computes or creates; undefined if it only drops the former view */
  #dropOrCompute(former: MaterializedView, computedView: MaterializedView | undefined, index: number): Effect[] {
    const { facts, losses } = this.ledger;
    const causes = this.ledger.causesOf(former, index);
    const hadRows = facts.findStoredRows(former.name) !== 'none';
    const unreadSources = computedView ? this.#findUnreadSources(former, computedView) : [];
    const isRedefined = computedView && computedView.id !== former.id && facts.isRedefined(former, computedView);
    const recomputation: Recomputation = {
      ...(computedView && hadRows && facts.askComputable(former, computedView)),
      periodicViews: hadRows && computedView?.refresh.period ? [computedView] : [],
      unreadSources,
      redefinitionCauses: isRedefined && unreadSources.length > 0 ? causes : undefined,
    };
    this.#recomputations.set(former, recomputation);
    const consequence = hadRows ? this.#findConsequence(former, computedView, recomputation) : undefined;
    if (consequence === undefined) return [];
    const { text, causes: ofSources = [] } = consequence;
    const view = computedView ?? former;
    const effect = lossOf(view, 'history', `${computedView ? 'recomputing' : 'dropping'} ${displayName(view)} ${text}`);
    addToList(losses, view.id, { effect, causes: [...causes, ...ofSources] });
    return [effect];
  }

  /**
   * What a DROP or a computation of a view loses, as a phrase with a verb such as `loses rows …`.
   * `causes` are the statements that removed rows or values from the sources of the view.
   */
  #findConsequence(
    former: MaterializedView,
    computedView: MaterializedView | undefined,
    { queryAfterPlan, unreadSources, isRejected, redefinitionCauses }: Recomputation,
  ): { readonly text: string; readonly causes?: readonly number[] } | undefined {
    const storedRows = this.ledger.facts.findStoredRows(former.name, queryAfterPlan);
    // DROP has already recorded the rows that the former query does not return. CREATE of a successor does not record these rows again.
    const isSuccessor = computedView !== undefined && computedView.id !== former.id;
    if (storedRows !== 'recomputable' && !isSuccessor) return { text: formatUnreturnedRows(storedRows) };
    if (isRejected) {
      const isUnknown = isRejected === 'unknown';
      const problem = isUnknown
        ? 'may leave it empty: it is not known whether the server accepts'
        : 'leaves it empty: the server rejects';
      return { text: `${problem} its query over the objects as they are after this statement` };
    }
    const readSources = this.#sourcesOf(former).filter(source => !unreadSources.includes(source));
    const sourceLoss = this.#findSourceLoss(former, readSources);
    if (sourceLoss) return sourceLoss;
    // After all statements, `lossesOfView` has the losses of the sources that a redefined view no longer reads.
    const [unread] = redefinitionCauses ? [] : unreadSources;
    if (unread)
      return { text: `loses rows that only '${(this.#findCurrentHolders(unread, former)[0] ?? unread).name}' holds` };
    const unended =
      computedView?.refresh.period &&
      formatUnendedRows(this.ledger.facts.askUnended({ former, current: computedView }));
    return unended ? { text: unended } : undefined;
  }

  #sourcesOf(former: MaterializedView): CatalogueObject[] {
    return (this.#dependencies.get(former.id) ?? []).filter(({ kind }) => kind !== 'view');
  }

  /** The sources of the former view that the new view does not read. A source counts as read if the new view reads any holder of it. */
  #findUnreadSources(former: MaterializedView, current: MaterializedView): CatalogueObject[] {
    const { catalogue } = this.ledger;
    const readIds = new Set(catalogue.sources(current).map(name => catalogue.find(name)?.id));
    return this.#sourcesOf(former).filter(
      source => !this.#findCurrentHolders(source, former).some(({ id }) => readIds.has(id)),
    );
  }

  #findCurrentHolders(source: CatalogueObject, reader: MaterializedView): CatalogueObject[] {
    const { catalogue, facts } = this.ledger;
    const successor = this.ledger.successorOf(source);
    const isRecreated =
      source.kind === 'materialized view' && successor?.kind === source.kind && !this.#visiting.has(source);
    // A source that was recreated with another query has new rows. A reader in the wanted schema is meant to get the new rows. Any other
    // reader must keep the former rows.
    const countsAsHolder = isRecreated && (facts.isWanted(reader.name) || !facts.isRedefined(source, successor));
    if (countsAsHolder) this.#visiting.add(source);
    const recreatedView =
      countsAsHolder && this.#findUnreadSources(source, successor).length === 0 ? successor : undefined;
    if (countsAsHolder) this.#visiting.delete(source);
    const holders = [catalogue.findById(source.id), this.ledger.findCopy(source)?.table, recreatedView];
    return holders.filter(holder => holder !== undefined);
  }

  #findSourceLoss(former: MaterializedView, sources: readonly CatalogueObject[]) {
    const causesOf = (losses: readonly AccountedLoss[]) => losses.flatMap(({ causes }) => causes);
    for (const source of sources) {
      const holders = this.#findCurrentHolders(source, former);
      const losses = [source, ...holders]
        .flatMap(({ id }) => this.ledger.losses.listOf(id))
        .filter(({ effect }) => REMOVING_LOSSES.has(effect.lossKind));
      if (holders.length === 0 || losses.length > 0) {
        const text = `loses rows that '${(holders[0] ?? source).name}' no longer holds`;
        const removal = holders.length === 0 ? this.ledger.removalCausesOf(source) : [];
        return { text, causes: [...causesOf(losses), ...removal] };
      }
      const column = this.#findChangedColumn(former, source);
      if (column) {
        const text = `loses values that column '${column.name}' of '${source.name}' no longer holds`;
        return { text, causes: causesOf(this.ledger.losses.listOf(column.id)) };
      }
    }
    return undefined;
  }

  /**
   * Finds a column of a source whose values may have changed. A column counts only if its name (or `*`) is in the query of the view, or of
   * a view below it.
   */
  #findChangedColumn(former: MaterializedView, source: CatalogueObject): StoredColumn | undefined {
    if (source.kind !== 'table') return undefined;
    const copyLosses = this.ledger.findCopy(source)?.losses ?? [];
    const queries = [former, ...(this.#dependencies.get(former.id) ?? [])];
    const tokens = queries.flatMap(each => ('body' in each ? [...significantTokens(each.body)] : []));
    const words = new NameSet(tokens.map(({ text }) => unquote(text)));
    return source.columns.find(column => {
      const ownLosses = this.ledger.losses.listOf(column.id).map(({ effect }) => effect);
      const losses = [...ownLosses, ...copyLosses.filter(each => isSameName(each.column ?? '', column.name))];
      return losses.some(({ lossKind }) => lossKind === 'values') && (words.has('*') || words.has(column.name));
    });
  }

  /**
   * All losses of a view after the last statement. Some losses show only at the end. For example, a source that the successor does not
   * read may lose rows after the CREATE of the successor.
   */
  lossesOfView(former: MaterializedView, successor: MaterializedView): AccountedLoss[] {
    const { ledger } = this;
    const losses = [former, successor].flatMap(({ id }) => ledger.losses.listOf(id));
    const hadRows = ledger.facts.findStoredRows(former.name) !== 'none';
    const { redefinitionCauses, unreadSources = [] } = (hadRows && this.#recomputations.get(former)) || {};
    const sourceLoss = redefinitionCauses && this.#findSourceLoss(former, unreadSources);
    if (sourceLoss) {
      const effect = lossOf(successor, 'history', `recomputing ${displayName(successor)} ${sourceLoss.text}`);
      losses.push({ effect, causes: [...redefinitionCauses, ...sourceLoss.causes] });
    }
    for (const effect of findExpiryLosses(former, successor))
      if (!losses.some(each => each.effect.lossKind === effect.lossKind))
        losses.push({ effect, causes: ledger.changingStatements.listOf(successor.id) });
    if (hadRows && this.#isLeftEmpty(successor)) {
      const effect = lossOf(successor, 'history', `leaves ${displayName(successor)} empty although it had rows`);
      losses.push({ effect, causes: ledger.removalCausesOf(former) });
    }
    return losses;
  }

  /** The views that were computed again or recreated, by their name in the loaded schema. */
  recomputations(): NameMap<Recomputation> {
    const { catalogue } = this.ledger;
    const existing = [...this.#recomputations].filter(
      ([former]) => (catalogue.findById(former.id) ?? this.ledger.successorOf(former))?.kind === former.kind,
    );
    return new NameMap(existing.map(([{ name }, recomputation]) => [name, recomputation]));
  }
}
