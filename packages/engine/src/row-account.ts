/*!
 * Accounts for the rows of a schema while statements change it. Tables, their columns, materialized and live views hold rows.
 * Each of them is tracked by its id, which renaming does not change. After the last statement its rows are still stored, or a
 * view computes them again, or they are lost.
 *
 * "Former" is an object of the loaded schema. Its "successor" is the object that ends up under the name planned for it.
 *
 * Example: DROP of a materialized view, CREATE with another query, REFRESH. At DROP, the server's answer decides whether the former
 * query can return all rows. At CREATE, the new view becomes the successor: it may read fewer sources, and is empty until REFRESH.
 */
import { findColumn, parseChange, parseFill } from '@sqlpipe/ddl';
import { foldCase, isSameName, significantTokens, unquote } from '@sqlpipe/sql';
import type { ObjectChange } from './catalogue.js';
import type { CatalogueObject, MaterializedView, StoredColumn, Table } from './catalogue-objects.js';
import {
  columnLoss,
  type Effect,
  objectLoss,
  retentionEffects,
  TAKES_ROWS,
  titleOf,
  unwrittenLosses,
} from './effects.js';
import type { Engine, Execution } from './engine.js';
import { type Enforcement, expiredLoss, isRetained, ttlOf } from './expired-rows.js';
import { type AccountOptions, DEFAULT_OPTIONS } from './row-account-options.js';
import { type Copy, lossesOfCopy } from './table-copy.js';
import { describeAnswer, type HistoryAnswer, historyLoss } from './view-history.js';

/** A loss that no later statement has made good. */
export interface AccountedLoss {
  readonly effect: Effect;
  /** The indexes of the statements that cause it. */
  readonly at: readonly number[];
}

/** Tracks the rows of the schema that an engine has when the account is created. */
export class RowAccount {
  readonly #before: readonly CatalogueObject[];
  readonly #views: readonly MaterializedView[];
  /** By the id of a materialized view: the objects that hold the rows it reads, and those with the views in between. */
  readonly #sources = new Map<number, { rows: readonly CatalogueObject[]; all: readonly CatalogueObject[] }>();
  readonly #options: Required<AccountOptions>;
  /** The losses by the id of the object or column. */
  readonly #losses = new Map<number | undefined, AccountedLoss[]>();
  /** By the id of an object: the indexes of the statements that have changed, removed or invalidated it. */
  readonly #touched = new Map<number | undefined, number[]>();
  readonly #removed = new Map<number | undefined, number[]>();
  readonly #invalidators = new Map<number | undefined, number[]>();
  /** By the id of a copied table: the copy, and the id of the table that holds it. */
  readonly #copies = new Map<number, { readonly id: number; readonly copy: Copy }>();
  /** The ids of columns that an UPDATE has written in every row, so that no row lacks a stored value. */
  readonly #updatedColumns = new Set<number | undefined>();
  /** The ids of materialized views that were created and not refreshed since: those that stay empty, and those that the server fills. */
  readonly #emptyViews = new Set<number | undefined>();
  readonly #fillingViews = new Set<number | undefined>();
  /** By the id of an object of the loaded schema: the enforcement of its TTL, and the indexes of the statements that cause it. */
  readonly #enforcements = new Map<number | undefined, Enforcement & { readonly at: number[] }>();
  /** The materialized views of the loaded schema that are computed again. */
  readonly #recomputed = new Set<MaterializedView>();
  /** By the id of a redefined view: its successor, the sources that the successor no longer reads, and the index of the statement. */
  readonly #superseded = new Map<
    number | undefined,
    { readonly successor: MaterializedView; readonly unread: readonly CatalogueObject[]; readonly at: number }
  >();
  /** The number of statements entered. */
  #count = 0;

  constructor(
    readonly engine: Engine,
    options: AccountOptions = {},
  ) {
    const { catalogue } = engine;
    this.#before = catalogue.list();
    this.#views = this.#before.filter(object => object.kind === 'materialized view');
    this.#options = { ...DEFAULT_OPTIONS, ...options };
    const find = (names: Iterable<string>) => [...names].flatMap(name => catalogue.find(name) ?? []);
    for (const { id = 0, base, references } of this.#views) {
      const names = [base, ...references];
      this.#sources.set(id, { rows: find(catalogue.sources(names)), all: find(catalogue.closure(names)) });
    }
  }

  /** Enters a statement that the engine has executed. @returns its effects, and the losses that only this account shows */
  enter(statement: string, { effects, changes }: Pick<Execution, 'effects' | 'changes'>): readonly Effect[] {
    const at = this.#count++;
    for (const { before, after } of changes) {
      addTo(this.#touched, (before ?? after)?.id, at);
      if (before && !this.#find(before.id)) this.#removed.set(before.id, [at]);
    }
    for (const { effect, object } of effects)
      if (effect === 'invalidated') addTo(this.#invalidators, this.engine.find(object)?.id, at);
    const change = parseChange(statement);
    const fill = change?.verb === 'update' ? parseFill(statement) : undefined;
    const table = fill && this.engine.find(fill.table);
    if (fill && table?.kind === 'table')
      this.#updatedColumns.add((findColumn(table, fill.column) as StoredColumn | undefined)?.id);
    const allEffects = [...effects, ...changes.flatMap(each => unwrittenLosses(each, this.#updatedColumns))];
    for (const effect of allEffects) if (effect.effect === 'lost') this.#record(effect, changes, [at]);
    const refreshed = change?.verb === 'refresh' && change.isFull ? this.engine.find(change.name) : undefined;
    const expired = this.findEnforcements({ effects, changes }).flatMap(found => this.#recordExpired(found, at));
    return [...allEffects, ...expired, ...this.#recordViews(changes, refreshed, at)];
  }

  /** The objects whose expired rows the server drops because a statement rewrites them, computes them again or gives them another TTL. */
  findEnforcements({ effects, changes }: Pick<Execution, 'effects' | 'changes'>): Enforcement[] {
    const written = effects.filter(({ effect, column }) => effect === 'rewritten' && column === undefined);
    const retained = changes.filter(
      ({ before, after }) => ttlOf(after) !== 0 && (!before || ttlOf(before) !== ttlOf(after)),
    );
    // A shorter TTL is already reported as the loss `ttl`.
    const isShortened = (name: string) =>
      effects.some(({ loss, object }) => loss === 'ttl' && isSameName(object, name));
    const names = new Set([...written.map(({ object }) => object), ...retained.map(({ name }) => name)]);
    return [...names].flatMap(name => {
      const now = this.engine.find(name);
      const former = this.#before.find(({ id }) => id === now?.id) ?? (now && this.#formerOf(now));
      if (!former || !now || ttlOf(now) === 0 || isShortened(name)) return [];
      return isRetained(former) && isRetained(now) ? [{ former, now }] : [];
    });
  }

  /** Enters an assertion that all rows of a table are also in another table. */
  enterCopy(copy: Copy): void {
    const [from, to] = [this.engine.find(copy.from)?.id, this.engine.find(copy.to)?.id];
    if (from !== undefined && to !== undefined) this.#copies.set(from, { id: to, copy });
  }

  /** The rows, values and guarantees of the loaded schema that are lost after the statements so far. */
  losses(): AccountedLoss[] {
    return [...(this.#losses.get(undefined) ?? []), ...this.#before.flatMap(object => this.#lossesOf(object))];
  }

  /** The materialized views of the loaded schema that are computed again, by name in lower case. */
  recomputed(): ReadonlySet<string> {
    const isStill = (view: MaterializedView) => (this.#find(view.id) ?? this.#successorOf(view))?.kind === view.kind;
    return new Set([...this.#recomputed].filter(isStill).map(({ name }) => foldCase(name)));
  }

  /** The enforcements of TTLs, each with the indexes of the statements that cause it. */
  enforcements(): readonly (Enforcement & { readonly at: readonly number[] })[] {
    return [...this.#enforcements.values()];
  }

  /** The indexes of the statements that have invalidated an object. */
  invalidatorsOf(name: string): readonly number[] {
    return this.#invalidators.get(this.engine.find(name)?.id) ?? [];
  }

  #find(id: number | undefined): CatalogueObject | undefined {
    return this.engine.catalogue.findById(id);
  }

  /** The object that now has the name planned for an object of the loaded schema. */
  #successorOf({ name }: CatalogueObject): CatalogueObject | undefined {
    return this.engine.find(this.#options.newNameOf(name));
  }

  /**
   * The losses of an object of the loaded schema. They depend on where its rows are now:
   * - in the same object: what statements have taken from it;
   * - in a copy of the table: what the copy does not hold;
   * - in a recreated materialized view: what its query does not return;
   * - nowhere: the object itself, unless it is a view that was recreated.
   */
  #lossesOf(object: CatalogueObject): AccountedLoss[] {
    const { id } = object;
    const same = this.#find(id);
    if (same) return [...(this.#losses.get(id) ?? []), ...this.#lossesOfColumns(object, same)];
    const removedAt = this.#removed.get(id) ?? [];
    const { copy, id: copyId } = this.#copies.get(id ?? 0) ?? {};
    const copied = this.#find(copyId);
    if (object.kind === 'table' && copy && copied?.kind === 'table')
      return lossesOfCopy(object, copied, copy).map(effect => ({ effect, at: removedAt }));
    const successor = this.#successorOf(object);
    if (object.kind === 'view' && successor?.kind === 'view') return [];
    if (object.kind === 'materialized view' && successor?.kind === 'materialized view')
      return this.#lossesOfRecreated(object, successor, removedAt);
    return [{ effect: objectLoss(object), at: removedAt }];
  }

  /** The losses of a materialized view whose successor was created after it was dropped. */
  #lossesOfRecreated(
    former: MaterializedView,
    successor: MaterializedView,
    removedAt: readonly number[],
  ): AccountedLoss[] {
    const recorded = [former, successor].flatMap(({ id }) => this.#losses.get(id) ?? []);
    const isKnown = ({ loss }: Effect) => recorded.some(({ effect }) => effect.loss === loss);
    const shortened = retentionEffects(former, successor).filter(effect => !isKnown(effect));
    const isLeftEmpty = this.#emptyViews.has(successor.id) && this.#answerFor(former) !== 'empty';
    const text = `leaves ${titleOf(successor)} empty, which had rows`;
    return [
      ...recorded,
      ...this.#lossesOfSuperseded(former),
      ...shortened.map(effect => ({ effect, at: this.#touched.get(successor.id) ?? removedAt })),
      ...(isLeftEmpty ? [{ effect: historyLoss(successor, text), at: removedAt }] : []),
    ];
  }

  /** The losses of the columns of a table. A column that is gone is a loss even if no statement has recorded it. */
  #lossesOfColumns(before: CatalogueObject, after: CatalogueObject): AccountedLoss[] {
    if (before.kind !== 'table' || after.kind !== 'table') return [];
    const ids = new Set(after.columns.map(({ id }) => id));
    return (before.columns as StoredColumn[]).flatMap(column => {
      const losses = this.#losses.get(column.id) ?? [];
      return ids.has(column.id) || losses.some(({ effect }) => effect.loss === 'drop')
        ? losses
        : [{ effect: columnLoss(after.name, column), at: this.#touched.get(before.id) ?? [] }];
    });
  }

  /**
   * Records a loss under the id of the object or column that loses something. Principals have no id. The loss of a complete object
   * is not recorded: `losses` sees that it is gone.
   */
  #record(effect: Effect, changes: readonly ObjectChange[], at: readonly number[]): void {
    const { object, column, loss } = effect;
    if (loss === 'drop-user') return addTo(this.#losses, undefined, { effect, at });
    const change = changes.find(({ before }) => before && isSameName(before.name, object));
    const now = this.engine.find(object);
    const former = change?.before ?? now;
    const isGone = loss === 'drop' && column === undefined && former?.id !== undefined && former.id !== now?.id;
    if (isGone) return;
    const loser = column === undefined || loss === 'keys' ? former : findColumn(former as Table, column);
    addTo(this.#losses, (loser as { id?: number } | undefined)?.id, { effect, at });
    for (const id of this.#fillingViews) this.#recordUnfilled(id, effect, at);
  }

  /** Records that a view may lack rows: the server fills it in the background, and may not have read what a source loses now. */
  #recordUnfilled(id: number | undefined, { object, loss }: Effect, at: readonly number[]): void {
    const view = this.#find(id);
    if (view?.kind !== 'materialized view' || !TAKES_ROWS.has(loss) || !this.#formerOf(view)) return;
    if (!this.engine.catalogue.sources([view.base, ...view.references]).some(name => isSameName(name, object))) return;
    addTo(this.#losses, id, {
      effect: historyLoss(view, `${rebuilding(view)} may not have read what '${object}' loses`),
      at,
    });
  }

  /** Records what is lost of the materialized views that a statement drops, creates or refreshes in full. @returns the losses */
  #recordViews(changes: readonly ObjectChange[], refreshed: CatalogueObject | undefined, at: number): Effect[] {
    const dropped = changes.flatMap(({ before }) =>
      this.#views.filter(({ id }) => id === before?.id && !this.#find(id)),
    );
    const created = changes.flatMap(({ before, after }) =>
      !before && after?.kind === 'materialized view' ? [after] : [],
    );
    for (const { id, refresh } of created) (refresh.deferred ? this.#emptyViews : this.#fillingViews).add(id);
    for (const ids of [this.#emptyViews, this.#fillingViews]) ids.delete(refreshed?.id);
    const computed = [...created, ...(refreshed?.kind === 'materialized view' ? [refreshed] : [])];
    return [
      ...dropped.flatMap(view => this.#recordHistory(view, undefined, at)),
      ...computed.flatMap(view => {
        const former = this.#formerOf(view);
        return former ? this.#recordHistory(former, view, at) : [];
      }),
    ];
  }

  /** The materialized view of the loaded schema of which an object is the successor, or which it still is. */
  #formerOf({ id, name }: CatalogueObject): MaterializedView | undefined {
    return this.#views.find(view => view.id === id || isSameName(this.#options.newNameOf(view.name), name));
  }

  /**
   * Records what is lost when a view of the loaded schema is dropped or computed again.
   * @param view the view that is computed; undefined if the statement only drops
   * @returns the loss, if there is one
   */
  #recordHistory(former: MaterializedView, view: MaterializedView | undefined, at: number): Effect[] {
    this.#recomputed.add(former);
    const unread = view ? this.#unreadSources(former, view) : [];
    const isRedefined = view !== undefined && view.id !== former.id && this.#options.isRedefined(former, view);
    if (isRedefined && unread.length > 0) this.#superseded.set(former.id, { successor: view, unread, at });
    const reason = this.#describeLoss(former, view, unread, isRedefined);
    if (reason === undefined) return [];
    const effect = historyLoss(view ?? former, `${rebuilding(view ?? former)} ${reason}`);
    addTo(this.#losses, (view ?? former).id, { effect, at: this.#causesOf(former, at) });
    return [effect];
  }

  /** Records the loss of expired rows. The server counts them once, before the first statement that makes it drop them. */
  #recordExpired(enforcement: Enforcement, at: number): Effect[] {
    const { former, now } = enforcement;
    const known = this.#enforcements.get(former.id);
    const causes = this.#causesOf(former, at);
    known?.at.push(...causes);
    if (known) return [];
    // The loss and the enforcement share this list: later statements are added to it.
    const all = [...causes];
    this.#enforcements.set(former.id, { ...enforcement, at: all });
    const count = this.#options.countExpired(enforcement);
    if (count === 0) return [];
    const effect = expiredLoss(now, count);
    addTo(this.#losses, now.id, { effect, at: all });
    return [effect];
  }

  /** The statements to blame for a loss: those that invalidated the object, else the one that dropped it, else the current one. */
  #causesOf({ id }: CatalogueObject, at: number): readonly number[] {
    return this.#invalidators.get(id) ?? this.#removed.get(id) ?? [at];
  }

  /**
   * Which rows of a view are not computed again, as the end of a sentence; undefined if all are.
   * @param unread the sources that the computed view does not read. If it is redefined, `losses` judges them after all statements
   */
  #describeLoss(
    former: MaterializedView,
    view: MaterializedView | undefined,
    unread: readonly CatalogueObject[],
    isRedefined: boolean,
  ): string | undefined {
    const answer = this.#answerFor(former);
    if (answer === 'empty') return undefined;
    const isRejected = view !== undefined && !this.#options.isComputable(former, view);
    // A recreated view was judged when it was dropped.
    const isFirst = view === undefined || view.id === former.id;
    if (answer !== 'complete' && isFirst) return describeAnswer(answer);
    if (isRejected) return 'leaves it empty: the server rejects its query over what it reads then';
    const read = this.#sourcesOf(former).filter(source => !unread.includes(source));
    const incomplete = this.#describeIncomplete(former, read);
    if (incomplete !== undefined) return incomplete;
    const [ignored] = isRedefined ? [] : unread;
    if (ignored) return `loses rows that only '${ignored.name}' holds`;
    // A refresh of a view with periods stops at the last complete one.
    const isCut = view?.refresh.period !== undefined && former.refresh.period === undefined;
    return isCut ? 'loses rows of a period that has not ended' : undefined;
  }

  readonly #answerFor = ({ name }: MaterializedView): HistoryAnswer => this.#options.historyOf(foldCase(name));

  readonly #sourcesOf = ({ id = 0 }: MaterializedView): readonly CatalogueObject[] => this.#sources.get(id)?.rows ?? [];

  /** The sources of a view whose rows its successor does not read, under whatever names. */
  #unreadSources(former: MaterializedView, { base, references }: MaterializedView): CatalogueObject[] {
    const { catalogue } = this.engine;
    const read = new Set(catalogue.sources([base, ...references]).map(name => catalogue.find(name)?.id));
    return this.#sourcesOf(former).filter(source => !this.#holdersOf(source, former).some(({ id }) => read.has(id)));
  }

  /**
   * The objects that hold the rows of a source now: the source itself, its copy, and a recreated view over the same sources.
   * @param reader the view that reads the source
   */
  #holdersOf(source: CatalogueObject, reader: MaterializedView): CatalogueObject[] {
    const successor = this.#successorOf(source);
    const isRecreated = source.kind === 'materialized view' && successor?.kind === source.kind;
    // A redefined source returns other rows. Its reader may lose the old ones only if the wanted schema has that reader too.
    const isAccepted =
      isRecreated && (this.#options.isWanted(reader.name) || !this.#options.isRedefined(source, successor));
    const recreated = isAccepted && this.#unreadSources(source, successor).length === 0 ? successor : undefined;
    const holders = [this.#find(source.id), this.#find(this.#copies.get(source.id ?? 0)?.id), recreated];
    return holders.filter(holder => holder !== undefined);
  }

  /** Which source of a view has lost rows, as the end of a sentence; undefined if none has. */
  #describeIncomplete(reader: MaterializedView, sources: readonly CatalogueObject[]): string | undefined {
    for (const source of sources) {
      const holders = this.#holdersOf(source, reader);
      const losses = [source, ...holders].flatMap(({ id }) => this.#losses.get(id) ?? []);
      if (holders.length === 0 || losses.some(({ effect }) => TAKES_ROWS.has(effect.loss)))
        return `loses rows that '${(holders[0] ?? source).name}' no longer holds`;
      const column = this.#findConverted(reader, source);
      if (column !== undefined) return `loses values that column '${column}' of '${source.name}' no longer holds`;
    }
    return undefined;
  }

  /** A column of a source that loses values, and that a view may read: a query on the way names it, or has a `*`. */
  #findConverted(reader: MaterializedView, source: CatalogueObject): string | undefined {
    if (source.kind !== 'table') return undefined;
    const { copy, id } = this.#copies.get(source.id ?? 0) ?? {};
    const copied = this.#find(id);
    const ofCopy = copy && copied?.kind === 'table' ? lossesOfCopy(source, copied, copy) : [];
    const read = [reader, ...(this.#sources.get(reader.id ?? 0)?.all ?? [])];
    const words = new Set(read.flatMap(each => ('body' in each ? [...significantTokens(each.body)] : [])).map(nameOf));
    const { changesValues } = this.#options;
    return (source.columns as StoredColumn[]).find(column => {
      const own = (this.#losses.get(column.id) ?? []).map(({ effect }) => effect);
      const losses = [...own, ...ofCopy.filter(each => isSameName(each.column ?? '', column.name))];
      const isChanged = losses.some(effect => effect.loss === 'values' && changesValues(effect));
      return isChanged && (words.has('*') || words.has(foldCase(column.name)));
    })?.name;
  }

  /** The loss of a redefined view, if a source that it no longer reads has lost rows after all statements. */
  #lossesOfSuperseded(former: MaterializedView): AccountedLoss[] {
    const superseded = this.#superseded.get(former.id);
    if (!superseded || this.#answerFor(former) === 'empty') return [];
    const { successor, unread, at } = superseded;
    const reason = this.#describeIncomplete(former, unread);
    return reason === undefined
      ? []
      : [{ effect: historyLoss(successor, `${rebuilding(successor)} ${reason}`), at: [at] }];
  }
}

const nameOf = ({ text }: { text: string }): string => foldCase(unquote(text));

function addTo<V>(map: Map<number | undefined, V[]>, key: number | undefined, value: V): void {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
}

const rebuilding = (view: MaterializedView): string => `rebuilding ${titleOf(view)}`;
