/*!
 * The histories of materialized views: rows that a view stores, and that its query may no longer return.
 *
 * "Former" is a view of the loaded schema. Its "successor" is the view that ends up under the name planned for it.
 *
 * Example: DROP of a materialized view, CREATE with another query, REFRESH. At DROP, the server's answer decides whether the former
 * query can return all rows. At CREATE, the new view becomes the successor: it may read fewer sources, and is empty until REFRESH.
 */
import { displayName, foldCase, isSameName, significantTokens, unquote } from '@sqlpipe/sql';
import type { ObjectChange } from './catalogue.js';
import type { CatalogueObject, MaterializedView, StoredColumn } from './catalogue-objects.js';
import { type Effect, retentionEffects, TAKES_ROWS } from './effects.js';
import type { AccountedLoss, HistoryAnswer, Ledger } from './ledger.js';
import { findCopy } from './table-copy.js';

/** The loss of rows of a materialized view. @param text what happens to them, for a message */
function historyLoss({ kind, name: object }: MaterializedView, text: string): Effect {
  return { effect: 'lost', kind, object, loss: 'history', text };
}

/** The same, if the view is computed again. @param reason starts with a verb, such as `loses rows …` */
const recomputeLoss = (view: MaterializedView, reason: string): Effect =>
  historyLoss(view, `recomputing ${displayName(view)} ${reason}`);

/** What would be lost if the view was dropped now; starts with a verb. */
function describeAnswer(answer: HistoryAnswer): string {
  if (typeof answer === 'string')
    return 'may lose rows: the server could not say whether its query still gives them, or a refresh limit leaves out the older ones';
  const { lost, total, first, last, areNewest } = answer;
  const doubt = areNewest ? ', perhaps only because the view is invalid and its newest interval was not refreshed' : '';
  return `loses rows that its query no longer gives: ${lost} of ${total}, from ${first} to ${last}${doubt}`;
}

/** A view of the loaded schema, and what statements have done to it. */
interface TrackedView {
  readonly view: MaterializedView;
  /** What it reads: its sources, and the views in between. */
  readonly read: readonly CatalogueObject[];
  /** The assertion that the server can compute it; undefined if it need not be asked. */
  computableAssertion?: string;
  /** If it is redefined: its successor, the sources that the successor no longer reads, and the statements to blame. */
  superseded?: { successor: MaterializedView; unread: readonly CatalogueObject[]; at: readonly number[] };
}

/** The objects that hold the rows that a view reads. */
const sourcesOf = ({ read }: TrackedView): CatalogueObject[] => read.filter(({ kind }) => kind !== 'view');

/** Accounts for the rows of the materialized views of the loaded schema. */
export class ViewHistories {
  readonly #trackedViews: ReadonlyMap<number | undefined, TrackedView>;
  readonly #recomputed = new Set<TrackedView>();
  /** The ids of views that were created and not refreshed since. The server fills them in the background, unless they are deferred. */
  readonly #unrefreshed = new Set<number | undefined>();

  constructor(readonly ledger: Ledger) {
    const { before, catalogue } = ledger;
    const views = before.filter(object => object.kind === 'materialized view');
    const readBy = ({ base, references }: MaterializedView) =>
      [...catalogue.closure([base, ...references])].flatMap(name => catalogue.find(name) ?? []);
    this.#trackedViews = new Map(views.map(view => [view.id, { view, read: readBy(view) }]));
  }

  /** Records what is lost of the views that a statement drops, creates, or makes the server compute. @returns the losses */
  enter(changes: readonly ObjectChange[], refreshed: CatalogueObject | undefined, at: number): Effect[] {
    const dropped = changes
      .flatMap(({ before }) => this.#trackedViews.get(before?.id) ?? [])
      .filter(({ view }) => !this.ledger.catalogue.findById(view.id));
    const created = changes.flatMap(({ before, after }) => (before ? [] : (after ?? [])));
    const computed = (refreshed ? [refreshed] : created).filter(object => object.kind === 'materialized view');
    for (const { id } of computed) this.#unrefreshed[refreshed ? 'delete' : 'add'](id);
    return [
      ...dropped.flatMap(history => this.#record(history, undefined, at)),
      ...[...computed, ...this.#computedAfter(changes)].flatMap(view => {
        const history = this.#trackedViewOf(view);
        return history ? this.#record(history, view, at) : [];
      }),
    ];
  }

  /**
   * The views that are computed because their base has changed. Any change of the base, even of its metadata, makes the server refresh
   * an immediate view. If only a range was refreshed before, it then computes all rows (observed on 9.3.4).
   */
  #computedAfter(changes: readonly ObjectChange[]): MaterializedView[] {
    const altered = changes.flatMap(({ before, after }) => (before && after ? [foldCase(after.name)] : []));
    return [...this.#trackedViews.values()].flatMap(({ view }) => {
      const now = this.ledger.catalogue.findById(view.id);
      const isComputed = now?.kind === 'materialized view' && now.refresh.type === 'IMMEDIATE' && now.partlyRefreshed;
      return isComputed && now.invalid === undefined && altered.includes(foldCase(now.base)) ? [now] : [];
    });
  }

  /** The view of the loaded schema that an object still is, or replaces. */
  #trackedViewOf(object: CatalogueObject): TrackedView | undefined {
    return this.#trackedViews.get(this.ledger.formerOf(object)?.id);
  }

  /** Records that views may lack rows: the server fills them in the background, and may not have read what a source loses now. */
  recordViewsMissing({ object, loss }: Effect, at: number): void {
    const { catalogue, losses } = this.ledger;
    for (const id of TAKES_ROWS.has(loss) ? this.#unrefreshed : []) {
      const view = catalogue.findById(id);
      if (view?.kind !== 'materialized view' || view.refresh.deferred || !this.#trackedViewOf(view)) continue;
      if (!catalogue.sources([view.base, ...view.references]).some(name => isSameName(name, object))) continue;
      losses.add(id, { effect: recomputeLoss(view, `may not have read what '${object}' loses`), at: [at] });
    }
  }

  /**
   * Records what is lost when a view of the loaded schema is dropped or computed again.
   * @param view the view that is computed; undefined if the statement only drops
   * @returns the loss, if there is one
   */
  #record(history: TrackedView, view: MaterializedView | undefined, at: number): Effect[] {
    const former = history.view;
    const { options, losses } = this.ledger;
    this.#recomputed.add(history);
    const causes = this.ledger.causesOf(former, at);
    const unread = view ? this.#unreadSources(former, view) : [];
    const isRedefined = view !== undefined && view.id !== former.id && options.isRedefined(former, view);
    if (isRedefined && unread.length > 0) history.superseded = { successor: view, unread, at: causes };
    const answer = options.historyOf(former.name);
    if (answer === 'empty') return [];
    const computability = view && options.askComputable(former, view);
    if (computability) history.computableAssertion = computability.assertion;
    const describe = (): string | undefined => {
      // The server's answer was recorded at DROP. It is not recorded again when the successor is created.
      const isFormer = view === undefined || view.id === former.id;
      if (answer !== 'complete' && isFormer) return describeAnswer(answer);
      if (computability?.isRejected) return 'leaves it empty: the server rejects its query over what it reads then';
      const read = sourcesOf(history).filter(source => !unread.includes(source));
      const incomplete = this.#describeIncomplete(history, read);
      if (incomplete !== undefined) return incomplete;
      // What a redefined view does not read is judged after all statements.
      const [ignored] = isRedefined ? [] : unread;
      if (ignored) return `loses rows that only '${ignored.name}' holds`;
      // A refresh of a view with periods stops at the last complete one.
      const isCut = view?.refresh.period !== undefined && former.refresh.period === undefined;
      return isCut ? 'loses rows of a period that has not ended' : undefined;
    };
    const reason = describe();
    if (reason === undefined) return [];
    const effect = recomputeLoss(view ?? former, reason);
    losses.add((view ?? former).id, { effect, at: causes });
    return [effect];
  }

  /** The sources of a view whose rows its successor does not read, under whatever names. */
  #unreadSources(former: MaterializedView, { base, references }: MaterializedView): CatalogueObject[] {
    const { catalogue } = this.ledger;
    const read = new Set(catalogue.sources([base, ...references]).map(name => catalogue.find(name)?.id));
    const history = this.#trackedViews.get(former.id);
    return (history ? sourcesOf(history) : []).filter(
      source => !this.#holdersOf(source, former).some(({ id }) => read.has(id)),
    );
  }

  /**
   * The objects that hold the rows of a source now: the source itself, its copy, and a recreated view over the same sources.
   * @param reader the view that reads the source
   */
  #holdersOf(source: CatalogueObject, reader: MaterializedView): CatalogueObject[] {
    const { catalogue, options } = this.ledger;
    const successor = this.ledger.successorOf(source);
    const isRecreated = source.kind === 'materialized view' && successor?.kind === source.kind;
    // A source that was recreated with another query returns other rows. If the reader is wanted too, it shall show those rows, so the new
    // source counts as a holder. If the reader is not wanted, it must keep its rows, so the new source does not count.
    const countsAsHolder = isRecreated && (options.isWanted(reader.name) || !options.isRedefined(source, successor));
    const recreated = countsAsHolder && this.#unreadSources(source, successor).length === 0 ? successor : undefined;
    const holders = [catalogue.findById(source.id), findCopy(source, this.ledger)?.table, recreated];
    return holders.filter(holder => holder !== undefined);
  }

  /** Says which source of a view has lost rows; starts with a verb; undefined if none has. */
  #describeIncomplete(history: TrackedView, sources: readonly CatalogueObject[]): string | undefined {
    for (const source of sources) {
      const holders = this.#holdersOf(source, history.view);
      const losses = [source, ...holders].flatMap(({ id }) => this.ledger.losses.of(id));
      if (holders.length === 0 || losses.some(({ effect }) => TAKES_ROWS.has(effect.loss)))
        return `loses rows that '${(holders[0] ?? source).name}' no longer holds`;
      const column = this.#findConverted(history, source);
      if (column !== undefined) return `loses values that column '${column}' of '${source.name}' no longer holds`;
    }
    return undefined;
  }

  /** A column of a source that loses values, and that a view may read: a query on the way names it, or has a `*`. */
  #findConverted({ view, read }: TrackedView, source: CatalogueObject): string | undefined {
    if (source.kind !== 'table') return undefined;
    const ofCopy = findCopy(source, this.ledger)?.losses ?? [];
    const tokens = [view, ...read].flatMap(each => ('body' in each ? [...significantTokens(each.body)] : []));
    const words = new Set(tokens.map(({ text }) => foldCase(unquote(text))));
    return (source.columns as StoredColumn[]).find(column => {
      const own = this.ledger.losses.of(column.id).map(({ effect }) => effect);
      const losses = [...own, ...ofCopy.filter(each => isSameName(each.column ?? '', column.name))];
      const isChanged = losses.some(effect => effect.loss === 'values' && this.ledger.options.changesValues(effect));
      return isChanged && (words.has('*') || words.has(foldCase(column.name)));
    })?.name;
  }

  /**
   * The losses of a view whose successor was created after it was dropped. If the successor has another query, a source that only the
   * former view read may have lost rows.
   */
  lossesOf(former: MaterializedView, successor: MaterializedView): AccountedLoss[] {
    const { losses, touchedBy, options } = this.ledger;
    const recorded = [former, successor].flatMap(({ id }) => losses.of(id));
    const isKnown = ({ loss }: Effect) => recorded.some(({ effect }) => effect.loss === loss);
    const shortened = retentionEffects(former, successor).filter(effect => !isKnown(effect));
    const hadRows = options.historyOf(former.name) !== 'empty';
    const history = this.#trackedViews.get(former.id);
    const superseded = hadRows ? history?.superseded : undefined;
    const reason = history && superseded && this.#describeIncomplete(history, superseded.unread);
    const isLeftEmpty = hadRows && this.#unrefreshed.has(successor.id) && successor.refresh.deferred;
    const text = `leaves ${displayName(successor)} empty although it had rows`;
    return [
      ...recorded,
      ...(reason ? [{ effect: recomputeLoss(superseded.successor, reason), at: superseded.at }] : []),
      ...shortened.map(effect => ({ effect, at: touchedBy.of(successor.id) })),
      ...(isLeftEmpty ? [{ effect: historyLoss(successor, text), at: this.ledger.removalOf(former) }] : []),
    ];
  }

  /**
   * The views of the loaded schema that are computed again, by name in lower case, with the assertion that the server can compute the
   * view; undefined if it need not be asked.
   */
  recomputed(): ReadonlyMap<string, string | undefined> {
    const isStill = ({ view }: TrackedView) =>
      (this.ledger.catalogue.findById(view.id) ?? this.ledger.successorOf(view))?.kind === view.kind;
    return new Map(
      [...this.#recomputed]
        .filter(isStill)
        .map(({ view, computableAssertion }) => [foldCase(view.name), computableAssertion]),
    );
  }
}
