/*!
 * Accounts for the rows of a schema while statements change it. Tables, their columns, materialized and live views hold rows. Each
 * holder is followed by its number, whatever its name is. At the end it is placed: its rows are still there, are computed again, or
 * are a loss.
 */
import { type Column, findColumn, hasNull, isLossless, parseChange, parseFill } from '@sqlpipe/ddl';
import { foldCase, isSameName } from '@sqlpipe/sql';
import type { ObjectChange } from './catalogue.js';
import type { CatalogueObject, MaterializedView, StoredColumn, Table } from './catalogue-objects.js';
import { columnLoss, type Effect, keysLost, objectLoss, retentionEffects, TAKES_ROWS, titleOf } from './effects.js';
import type { Engine, Execution } from './engine.js';

/** Rows of a materialized view that its query no longer gives. Dates are as the server prints them. */
export interface LostRows {
  readonly lost: number;
  readonly total: number;
  readonly first: string;
  readonly last: string;
  /** Whether they are the newest rows of a view that is not refreshed any longer: these change while rows are written. */
  readonly areNewest?: boolean;
}

/** What a server says of the rows of a materialized view: its query gives them all, or not all; it has none; the server cannot say. */
export type HistoryAnswer = 'kept' | 'empty' | 'unknown' | LostRows;

/** A table that has all rows of another one, with the names of the columns in both. */
export interface Copy {
  readonly from: string;
  readonly to: string;
  readonly columns: readonly { readonly from: string; readonly to: string }[];
}

/** An object of the loaded schema, and as it is when a statement makes the server drop what its TTL has expired. */
export interface Enforced {
  readonly former: Table | MaterializedView;
  readonly now: Table | MaterializedView;
}

/** A loss of the complete run, and the statements that cause it, counted from 0. */
export interface AccountedLoss {
  readonly effect: Effect;
  readonly at: readonly number[];
}

/** What is known of the loaded schema beside its statements. */
export interface AccountOptions {
  /** What the server says of a materialized view, by its name in lower case; by default, its query gives all rows. */
  readonly historyOf?: (view: string) => HistoryAnswer;
  /** How many rows a server would drop because their TTL has expired; by default none. Undefined if the server cannot say. */
  readonly countExpired?: (enforced: Enforced) => number | undefined;
  /** The name that a materialized view of the loaded schema is to have. */
  readonly newNameOf?: (view: string) => string;
  /** Whether the new form of a materialized view is wanted; by default each is. A view in a form that nobody wants has to keep all rows. */
  readonly isWanted?: (view: string) => boolean;
  /** Whether a recreated view has another query, apart from what was renamed. */
  readonly isRedefined?: (former: MaterializedView, now: MaterializedView) => boolean;
  /** Whether the server can compute a view over the schema as it is now; by default, if the engine can. */
  readonly isComputable?: (former: MaterializedView, now: MaterializedView) => boolean;
}

const DEFAULTS: Required<AccountOptions> = {
  historyOf: () => 'kept',
  countExpired: () => 0,
  newNameOf: name => name,
  isWanted: () => true,
  isRedefined: (former, now) => former.body !== now.body,
  isComputable: () => true,
};

/** Follows the rows of the schema that an engine has when the account is opened. */
export class RowAccount {
  readonly #before: readonly CatalogueObject[];
  readonly #views: readonly MaterializedView[];
  /** For each materialized view, what it reads, and also the views on the way. */
  readonly #sources = new Map<number, { rows: readonly CatalogueObject[]; all: readonly CatalogueObject[] }>();
  readonly #options: Required<AccountOptions>;
  /** The losses by the number of the object or column. */
  readonly #losses = new Map<number | undefined, AccountedLoss[]>();
  /** By the number of an object: the statements that have changed it, the one that has removed it, those that have invalidated it. */
  readonly #touched = new Map<number | undefined, number[]>();
  readonly #removed = new Map<number | undefined, number[]>();
  readonly #invalidators = new Map<number | undefined, number[]>();
  /** By the number of a copied table: the copy, and the number of the table that has it. */
  readonly #copies = new Map<number, { readonly id: number; readonly copy: Copy }>();
  /** The numbers of columns without NULL whose value is written in each row. */
  readonly #filled = new Set<number | undefined>();
  /** The numbers of materialized views that were created and not refreshed since: whether they fill themselves. */
  readonly #unrefreshed = new Map<number | undefined, boolean>();
  /** The objects whose TTL the server enforces, with the statements after which it does, by the number of the object before. */
  readonly #enforced = new Map<number | undefined, Enforced & { readonly at: number[] }>();
  /** The materialized views of the loaded schema that are computed again. */
  readonly #rebuilt = new Set<MaterializedView>();
  /** By the number of a view that was recreated over something else: the new view, what it no longer reads, the statement. */
  readonly #superseded = new Map<
    number | undefined,
    { readonly view: MaterializedView; readonly sources: readonly CatalogueObject[]; readonly at: number }
  >();
  #steps = 0;

  constructor(
    readonly engine: Engine,
    options: AccountOptions = {},
  ) {
    const { catalogue } = engine;
    this.#before = catalogue.list();
    this.#views = this.#before.filter(object => object.kind === 'materialized view');
    this.#options = { ...DEFAULTS, ...options };
    const find = (names: Iterable<string>) => [...names].flatMap(name => catalogue.find(name) ?? []);
    for (const { id = 0, base, references } of this.#views) {
      const names = [base, ...references];
      this.#sources.set(id, { rows: find(catalogue.sources(names)), all: find(catalogue.closure(names)) });
    }
  }

  /** Enters a statement that the engine has executed. @returns its effects, with what it does to rows */
  enter(statement: string, { effects, changes }: Pick<Execution, 'effects' | 'changes'>): readonly Effect[] {
    const at = this.#steps++;
    for (const { before, after } of changes) {
      add(this.#touched, (before ?? after)?.id, at);
      if (before && !this.#find(before.id)) this.#removed.set(before.id, [at]);
    }
    for (const { effect, object } of effects)
      if (effect === 'invalidated') add(this.#invalidators, this.engine.find(object)?.id, at);
    const change = parseChange(statement);
    const fill = change?.verb === 'update' ? parseFill(statement) : undefined;
    const table = fill && this.engine.find(fill.table);
    if (fill && table?.kind === 'table')
      this.#filled.add((findColumn(table, fill.column) as StoredColumn | undefined)?.id);
    const lost = [...effects, ...changes.flatMap(each => this.#judgeUnwritten(each))];
    for (const effect of lost) if (effect.effect === 'lost') this.#record(effect, changes, [at]);
    const refreshed = change?.verb === 'refresh' && change.isFull ? this.engine.find(change.name) : undefined;
    const expired = this.findEnforced({ effects, changes }).flatMap(enforced => this.#judgeExpired(enforced, at));
    return [...lost, ...expired, ...this.#judgeViews(changes, refreshed, at)];
  }

  /** The objects of the loaded schema that a statement writes, computes again, or gives a TTL: the server enforces their TTL then. */
  findEnforced({ effects, changes }: Pick<Execution, 'effects' | 'changes'>): Enforced[] {
    const written = effects.filter(({ effect, column }) => effect === 'rewritten' && column === undefined);
    const set = changes.filter(
      ({ before, after }) => ttlOf(after) !== 0 && (!before || ttlOf(before) !== ttlOf(after)),
    );
    const found = [...written.map(({ object }) => object), ...set.map(({ name }) => name)].filter(
      name => !effects.some(({ loss, object }) => loss === 'ttl' && isSameName(object, name)),
    );
    return [...new Set(found)].flatMap(name => {
      const now = this.engine.find(name);
      const former = this.#before.find(({ id }) => id === now?.id) ?? (now && this.#standsFor(now));
      if (!former || !now || ttlOf(now) === 0) return [];
      return isRetained(former) && isRetained(now) ? [{ former, now }] : [];
    });
  }

  /** Judges what the TTL of an object takes when the server enforces it. */
  #judgeExpired(enforced: Enforced, at: number): Effect[] {
    const { former, now } = enforced;
    const known = this.#enforced.get(former.id);
    const causes = this.#causesOf(former, at);
    known?.at.push(...causes);
    if (known) return [];
    const all = { ...enforced, at: [...causes] };
    this.#enforced.set(former.id, all);
    const count = this.#options.countExpired(enforced);
    if (count === 0) return [];
    const rows = count === undefined ? 'may drop rows' : `drops ${count} ${count === 1 ? 'row' : 'rows'}`;
    const text = `${rows} of ${titleOf(now)} that its TTL has expired`;
    const effect: Effect = { effect: 'lost', kind: now.kind, object: now.name, loss: 'ttl', text };
    add(this.#losses, now.id, { effect, at: all.at });
    return [effect];
  }

  /** Enters that an assertion has found all rows of a table in another one. */
  enterCopy(copy: Copy): void {
    const [from, to] = [this.engine.find(copy.from)?.id, this.engine.find(copy.to)?.id];
    if (from !== undefined && to !== undefined) this.#copies.set(from, { id: to, copy });
  }

  /** What the statements so far lose for good: all that cannot be placed. */
  losses(): AccountedLoss[] {
    return [...(this.#losses.get(undefined) ?? []), ...this.#before.flatMap(object => this.#place(object))];
  }

  /** The materialized views of the loaded schema that are computed again, each with the first statement that changes what it reads. */
  rebuilt(): ReadonlyMap<string, number> {
    return new Map(
      [...this.#rebuilt]
        .filter(view => (this.#find(view.id) ?? this.#findInPlaceOf(view))?.kind === 'materialized view')
        .map(({ id = 0, name }) => {
          const read = (this.#sources.get(id)?.all ?? []).map(each => each.id);
          return [foldCase(name), Math.min(...[id, ...read].flatMap(each => this.#touched.get(each) ?? []))];
        }),
    );
  }

  /** The objects whose TTL the server enforces, each with the first statement after which it does. */
  enforced(): readonly (Enforced & { readonly at: readonly number[] })[] {
    return [...this.#enforced.values()];
  }

  /** The statements that have invalidated an object. */
  invalidatorsOf(name: string): readonly number[] {
    return this.#invalidators.get(this.engine.find(name)?.id) ?? [];
  }

  #find(id: number | undefined): CatalogueObject | undefined {
    return this.engine.catalogue.findById(id);
  }

  /** The object that has the name which an object of the loaded schema is to have. */
  #findInPlaceOf({ name }: CatalogueObject): CatalogueObject | undefined {
    return this.engine.find(this.#options.newNameOf(name));
  }

  #place(object: CatalogueObject): AccountedLoss[] {
    const { id } = object;
    const same = this.#find(id);
    if (same) return [...(this.#losses.get(id) ?? []), ...this.#placeColumns(object, same)];
    const { copy, id: copyId } = this.#copies.get(id ?? 0) ?? {};
    const copied = this.#find(copyId);
    const at = this.#removed.get(id) ?? [];
    if (object.kind === 'table' && copy && copied?.kind === 'table')
      return [
        ...[
          ...retentionEffects(object, copied),
          ...keysLost(object, copied, column => findCopied(column, copied, copy)),
        ].map(effect => ({ effect, at })),
        ...this.#placeCopiedColumns(object, copied, copy, at),
      ];
    const again = this.#findInPlaceOf(object);
    if (object.kind === 'view' && again?.kind === 'view') return [];
    if (object.kind !== 'materialized view' || again?.kind !== 'materialized view')
      return [{ effect: objectLoss(object), at }];
    const ofBoth = [...(this.#losses.get(id) ?? []), ...(this.#losses.get(again.id) ?? [])];
    const shortened = retentionEffects(object, again).map(effect => ({
      effect,
      at: this.#touched.get(again.id) ?? at,
    }));
    const isLeftEmpty =
      this.#unrefreshed.get(again.id) === false && this.#options.historyOf(foldCase(object.name)) !== 'empty';
    const text = `leaves ${titleOf(again)} empty, which had rows`;
    return [
      ...ofBoth,
      ...this.#judgeSuperseded(object),
      ...shortened.filter(each => !ofBoth.some(({ effect }) => effect.loss === each.effect.loss)),
      ...(isLeftEmpty ? [{ effect: historyLoss(again, text), at }] : []),
    ];
  }

  #placeColumns(before: CatalogueObject, after: CatalogueObject): AccountedLoss[] {
    if (before.kind !== 'table' || after.kind !== 'table') return [];
    const ids = new Set(after.columns.map(({ id }) => id));
    return (before.columns as StoredColumn[]).flatMap(column => {
      const losses = this.#losses.get(column.id) ?? [];
      return ids.has(column.id) || losses.some(({ effect }) => effect.loss === 'drop')
        ? losses
        : [{ effect: columnLoss(after.name, column), at: this.#touched.get(before.id) ?? [] }];
    });
  }

  #placeCopiedColumns(before: Table, after: Table, copy: Copy, at: readonly number[]): AccountedLoss[] {
    return before.columns.flatMap(column => {
      const copied = findCopied(column, after, copy);
      if (copied && isLossless(column.type, copied.type)) return [];
      return [{ effect: columnLoss(before.name, column, copied?.type), at }];
    });
  }

  /** Records a loss under the number of what it is a loss of; principals have none. What is gone as a whole is found at the end. */
  #record(effect: Effect, changes: readonly ObjectChange[], at: readonly number[]): void {
    const { object, column, loss } = effect;
    if (loss === 'drop-user') return add(this.#losses, undefined, { effect, at });
    const change = changes.find(each => each.before && isSameName(each.before.name, object));
    const now = this.engine.find(object);
    const holder = change?.before ?? now;
    const isGone = loss === 'drop' && column === undefined && holder?.id !== undefined && holder.id !== now?.id;
    if (isGone) return;
    const found = column === undefined || loss === 'keys' ? holder : findColumn(holder as Table, column);
    add(this.#losses, (found as { id?: number } | undefined)?.id, { effect, at });
    for (const [id, fillsItself] of this.#unrefreshed) if (fillsItself) this.#judgeUnfilled(id, effect, at);
  }

  /** A view that fills itself in the background may not have read what is lost now. */
  #judgeUnfilled(id: number | undefined, { object, loss }: Effect, at: readonly number[]): void {
    const view = this.#find(id);
    if (view?.kind !== 'materialized view' || !TAKES_ROWS.has(loss) || !this.#standsFor(view)) return;
    if (!this.engine.catalogue.sources([view.base, ...view.references]).some(name => isSameName(name, object))) return;
    add(this.#losses, id, {
      effect: historyLoss(view, `${rebuilding(view)} may not have read what '${object}' loses`),
      at,
    });
  }

  /** A column without NULL that gets a type with NULL: rows that are older than the column read NULL then. */
  #judgeUnwritten({ before, after }: ObjectChange): Effect[] {
    if (before?.kind !== 'table' || after?.kind !== 'table') return [];
    return (after.columns as StoredColumn[]).flatMap(({ id, name, type }): Effect[] => {
      const old = (before.columns as StoredColumn[]).find(column => column.id === id);
      if (!old || hasNull(old.type) || !hasNull(type) || !isLossless(old.type, type) || this.#filled.has(id)) return [];
      const zero = old.type === 'BOOLEAN' ? 'false' : '0';
      const text = `may lose values of column '${name}': rows that are older than the column read NULL instead of ${zero}`;
      return [{ effect: 'lost', loss: 'values', kind: 'table', object: after.name, column: name, text }];
    });
  }

  /** Judges the materialized views that a statement drops, creates or refreshes in full. */
  #judgeViews(changes: readonly ObjectChange[], refreshed: CatalogueObject | undefined, at: number): Effect[] {
    const dropped = changes.flatMap(({ before }) =>
      this.#views.filter(({ id }) => id === before?.id && !this.#find(id)),
    );
    const created = changes.flatMap(({ before, after }) =>
      !before && after?.kind === 'materialized view' ? [after] : [],
    );
    for (const { id, refresh } of created) this.#unrefreshed.set(id, !refresh.deferred);
    this.#unrefreshed.delete(refreshed?.id);
    const computed = [...created, ...(refreshed?.kind === 'materialized view' ? [refreshed] : [])];
    return [
      ...dropped.flatMap(view => this.#judge(view, undefined, at)),
      ...computed.flatMap(view => {
        const former = this.#standsFor(view);
        return former ? this.#judge(former, view, at) : [];
      }),
    ];
  }

  /** The view of the loaded schema in whose place a view is. */
  #standsFor({ id, name }: CatalogueObject): MaterializedView | undefined {
    return this.#views.find(view => view.id === id || isSameName(this.#options.newNameOf(view.name), name));
  }

  /** Judges whether rows can be computed again. @param view the view that is computed; undefined if it is only dropped */
  #judge(former: MaterializedView, view: MaterializedView | undefined, at: number): Effect[] {
    this.#rebuilt.add(former);
    const answer = this.#options.historyOf(foldCase(former.name));
    const unread = view ? this.#unreadSources(former, view) : [];
    const isRedefined = view !== undefined && view.id !== former.id && this.#options.isRedefined(former, view);
    if (isRedefined && unread.length > 0) this.#superseded.set(former.id, { view, sources: unread, at });
    const missing = this.#findLacking(
      former,
      this.#sourcesOf(former).filter(source => !unread.includes(source)),
    );
    const [other] = isRedefined ? [] : unread;
    // A recreated view was judged when it was dropped.
    const isUnknown = answer !== 'kept' && (view === undefined || view.id === former.id);
    // A refresh of a view with periods stops at the last complete one.
    const isCut = view?.refresh.period !== undefined && former.refresh.period === undefined;
    const isRejected = view !== undefined && answer !== 'empty' && !this.#options.isComputable(former, view);
    if (answer === 'empty' || !(missing || other || isUnknown || isCut || isRejected)) return [];
    const lacks =
      (isRejected ? 'leaves it empty: the server rejects its query over what it reads then' : missing) ??
      (other ? `loses rows that only '${other.name}' holds` : 'loses rows of a period that has not ended');
    const text = isUnknown ? describeAnswer(answer) : lacks;
    const effect = historyLoss(view ?? former, `${rebuilding(view ?? former)} ${text}`);
    add(this.#losses, (view ?? former).id, { effect, at: this.#causesOf(former, at) });
    return [effect];
  }

  /** The statements because of which a view is computed again: those that have invalidated it, the one that has dropped it, or itself. */
  #causesOf({ id }: CatalogueObject, at: number): readonly number[] {
    return this.#invalidators.get(id) ?? this.#removed.get(id) ?? [at];
  }

  readonly #sourcesOf = ({ id = 0 }: MaterializedView): readonly CatalogueObject[] => this.#sources.get(id)?.rows ?? [];

  /** The sources of a view that another view in its place does not read, under whatever names. */
  #unreadSources(former: MaterializedView, { base, references }: MaterializedView): CatalogueObject[] {
    const { catalogue } = this.engine;
    const read = new Set(catalogue.sources([base, ...references]).map(name => catalogue.find(name)?.id));
    return this.#sourcesOf(former).filter(source => !this.#placesOf(source, former).some(({ id }) => read.has(id)));
  }

  /** The objects that have the rows which another one has not lost: itself, a copy, or a view that was recreated over the same. */
  #placesOf(source: CatalogueObject, reader: MaterializedView): CatalogueObject[] {
    const again = this.#findInPlaceOf(source);
    const isSame = source.kind === 'materialized view' && again?.kind === source.kind;
    const isKept = isSame && (this.#options.isWanted(reader.name) || !this.#options.isRedefined(source, again));
    const view = isKept && this.#unreadSources(source, again).length === 0 ? again : undefined;
    return [this.#find(source.id), this.#find(this.#copies.get(source.id ?? 0)?.id), view].filter(
      each => each !== undefined,
    );
  }

  /** Which of the sources of a view does not hold all that it held, as the end of a sentence. */
  #findLacking(reader: MaterializedView, sources: readonly CatalogueObject[]): string | undefined {
    for (const source of sources) {
      const places = this.#placesOf(source, reader);
      const losses = [source, ...places].flatMap(({ id }) => this.#losses.get(id) ?? []);
      if (places.length === 0 || losses.some(({ effect }) => TAKES_ROWS.has(effect.loss)))
        return `loses rows that '${(places[0] ?? source).name}' no longer holds`;
    }
    return undefined;
  }

  /** The loss of a view that reads from something else now, if what it no longer reads has lost rows at the end. */
  #judgeSuperseded(former: MaterializedView): AccountedLoss[] {
    const { view, sources, at } = this.#superseded.get(former.id) ?? {};
    const missing = sources && this.#findLacking(former, sources);
    if (!view || missing === undefined || this.#options.historyOf(foldCase(former.name)) === 'empty') return [];
    return [{ effect: historyLoss(view, `${rebuilding(view)} ${missing}`), at: [at ?? 0] }];
  }
}

const ttlOf = (object: CatalogueObject | undefined): number => (object && 'ttl' in object ? object.ttl : 0);

const isRetained = (object: CatalogueObject): object is Table | MaterializedView =>
  object.kind === 'table' || object.kind === 'materialized view';

function add<V>(map: Map<number | undefined, V[]>, key: number | undefined, value: V): void {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
}

/** The column of a copy that has the values of a column. */
function findCopied({ name }: Column, table: Table, { columns }: Copy): Column | undefined {
  const to = columns.find(({ from }) => isSameName(from, name))?.to;
  return to === undefined ? undefined : findColumn(table, to);
}

const historyLoss = ({ kind, name }: MaterializedView, text: string): Effect => ({
  effect: 'lost',
  kind,
  object: name,
  loss: 'history',
  text,
});

const rebuilding = (view: MaterializedView): string => `rebuilding ${titleOf(view)}`;

function describeAnswer(answer: HistoryAnswer): string {
  if (typeof answer === 'string') return 'may lose rows: the server could not say whether its query still gives them';
  const { lost, total, first, last, areNewest } = answer;
  const doubt = areNewest ? ', perhaps only because the view is invalid and its newest interval was not refreshed' : '';
  return `loses rows that its query no longer gives: ${lost} of ${total}, from ${first} to ${last}${doubt}`;
}
