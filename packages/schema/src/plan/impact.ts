/*!
 * Predicts the side effects of statements: what they rewrite, lose, remove and invalidate. Each rule was observed on a real
 * server (9.3.4). Effects that were not observed are not predicted.
 */
import {
  type Alter,
  type Alteration,
  applyAlteration,
  type Change,
  type Column,
  type Definition,
  findColumn,
  formatTtlLength,
  isLossless,
  parseChange,
  type TableDefinition,
} from '@sqlpipe/ddl';
import { displayName, foldCase, identify, isObject, isPrincipal, isSameName } from '@sqlpipe/sql';
import { pathKey, resolvePath } from './names.js';
import { isShorter, retention } from './retention.js';
import type { SchemaObject, SchemaState } from './state.js';
import { ViewIndex } from './view-index.js';

/** A side effect of a statement. */
export interface Consequence {
  /**
   * `rewrite`: work that grows with the number of rows. `loss`: rows, values or a guarantee are lost for good. `removal`:
   * something is removed that can be created again. `invalid`: a view cannot be queried, or a materialized view is no
   * longer refreshed.
   */
  readonly effect: 'rewrite' | 'loss' | 'removal' | 'invalid';
  /** The affected object. */
  readonly object: string;
  /** The affected column, if the effect is on one column. */
  readonly column?: string;
  /** A description that continues a sentence: `rewrites column 'qty'`. */
  readonly text: string;
}

/** Information about the objects of a server besides their definitions. */
export interface ImpactOptions {
  /** What may be lost: `trades`, `trades.qty`. */
  readonly allowLoss?: readonly string[];
  /** Materialized views, in lower case, that were never refreshed: a change of their base does not invalidate them. */
  readonly neverRefreshed?: ReadonlySet<string>;
  /** Materialized views, in lower case, that are no longer refreshed because their base was changed. */
  readonly invalidated?: ReadonlySet<string>;
  /** Materialized views, in lower case, with rows for times of which their base no longer has rows. */
  readonly ahead?: ReadonlySet<string>;
}

/** A column that a view uses and that no longer exists. */
interface MissingColumn {
  readonly table: string;
  readonly column: string;
}

/** Predicts the side effects of one statement after another. */
export class ImpactAnalyzer {
  readonly #neverRefreshed: Set<string>;
  readonly #ahead: Set<string>;
  /** Materialized views that are no longer refreshed, in lower case, each with its retention at that time. */
  readonly #invalidated = new Map<string, number>();
  /** By view, the columns that it uses and that no longer exist. */
  readonly #missing = new Map<string, MissingColumn[]>();
  readonly #views: ViewIndex;
  readonly #allowed: ReadonlySet<string>;
  /** Views and materialized views, in lower case, that were invalid before the first statement. */
  readonly #before: ReadonlySet<string>;

  /** @throws InvalidSelectionError if a name of what may be lost is ambiguous */
  constructor(
    readonly state: SchemaState,
    { neverRefreshed = new Set(), invalidated = new Set(), ahead = new Set(), allowLoss = [] }: ImpactOptions = {},
  ) {
    this.#neverRefreshed = new Set(neverRefreshed);
    this.#ahead = new Set(ahead);
    for (const name of invalidated) this.#invalidated.set(name, retention(state.find(name)?.definition));
    this.#views = new ViewIndex(state);
    this.#before = new Set([...invalidated, ...this.#brokenViews()]);
    this.#allowed = new Set(
      allowLoss.flatMap(name => resolvePath(name, name => this.#columnsOf(name)) ?? []).map(pathKey),
    );
  }

  /** Whether a side effect is a loss that is not allowed. */
  isForbiddenLoss(consequence: Consequence): boolean {
    return consequence.effect === 'loss' && !this.#allowed.has(pathKey(consequence));
  }

  #columnsOf(name: string): ReadonlySet<string> | undefined {
    const object = this.state.find(name);
    const columns = object?.definition?.kind === 'table' ? object.definition.columns : [];
    return object && new Set(columns.map(column => foldCase(column.name)));
  }

  /** Predicts the side effects of a statement without applying it. */
  preview(statement: string): Consequence[] {
    const change = parseChange(statement);
    return change ? this.#consequences(change) : [];
  }

  /** Predicts the side effects of a statement, and applies it to the schema in memory. */
  apply(statement: string): Consequence[] {
    const change = parseChange(statement);
    const consequences = change ? this.#consequences(change) : [];
    if (change) this.#note(change);
    this.state.apply(statement);
    const { kind, name } = identify(statement);
    if (isObject(kind)) this.#noteCreated(foldCase(name));
    for (const changed of change ? namesIn(change) : [name]) this.#views.update(changed);
    return consequences;
  }

  /** The display names of the objects that statements have invalidated and that none has repaired. */
  broken(): string[] {
    const names = [...this.#brokenViews(), ...this.#invalidated.keys()];
    return names.filter(name => !this.#before.has(name)).map(name => this.#title(name));
  }

  /** Whether a materialized view was invalidated and has not been refreshed since. */
  isInvalidated(name: string): boolean {
    return this.#invalidated.has(foldCase(name));
  }

  /** Whether a materialized view has rows for times of which its base no longer has rows. */
  isAhead(name: string): boolean {
    return this.#ahead.has(foldCase(name));
  }

  /** Whether the query of an object uses a column. */
  mentions(object: SchemaObject, column: string): boolean {
    return this.#views.queryOf(object).mentions(column);
  }

  /** The materialized views whose queries use a column of their base, and those over them, each after the ones over it. */
  materializedViewsUsing(base: string, column: string): SchemaObject[] {
    const found = [...this.#views.materializedViewsOver(base)].map(key => this.state.find(key) as SchemaObject);
    return found.filter(view => this.mentions(view, column)).flatMap(view => [...this.#allOver(view.name), view]);
  }

  #allOver(base: string): SchemaObject[] {
    const found = [...this.#views.materializedViewsOver(base)].map(key => this.state.find(key) as SchemaObject);
    return found.flatMap(view => [...this.#allOver(view.name), view]);
  }

  /** Whether a materialized view has rows, as far as is known. */
  wasRefreshed(name: string): boolean {
    return !this.#neverRefreshed.has(foldCase(name));
  }

  #consequences(change: Change): Consequence[] {
    switch (change.verb) {
      case 'alter':
        return change.alters.flatMap(alter => this.#ofAlter(alter));
      case 'drop':
        return this.#ofDrop(change);
      case 'rename':
        return this.#ofRename(change);
      case 'truncate':
        return change.names.flatMap(name =>
          this.#ofRows(name, 'truncate operation', [loss(name, `loses all rows of ${this.#title(name)}`)]),
        );
      case 'drop partition':
        return this.#ofRows(change.name, 'drop partition operation', [
          loss(change.name, `loses some rows of ${this.#title(change.name)}`),
        ]);
      case 'update':
        return this.#ofRows(change.name, 'update operation', [
          rewrite(change.name, `rewrites rows of ${this.#title(change.name)}`),
        ]);
      case 'refresh':
        return change.isFull ? this.#ofRefresh(change.name) : [];
      case 'insert':
        return [rewrite(change.name, `writes rows to ${this.#title(change.name)}`)];
      default:
        return [];
    }
  }

  #ofRows(name: string, reason: string, consequences: Consequence[]): Consequence[] {
    return this.state.find(name) ? [...consequences, ...this.#invalidatedBy(name, reason)] : [];
  }

  #ofDrop({ kind, name }: Extract<Change, { verb: 'drop' }>): Consequence[] {
    if (isPrincipal(kind))
      return [loss(name, `loses ${displayName({ kind, name, verb: '' })} with its credentials and rights`)];
    const object = this.state.find(name);
    if (object?.kind !== kind) return [];
    const gone =
      kind === 'view'
        ? removal(name, `removes ${this.#title(name)}`)
        : loss(name, `loses ${this.#title(name)} and its rows`);
    return [gone, ...this.#rightsLost(name), ...this.#invalidatedBy(name, GONE), ...this.#viewsWithout(name)];
  }

  #ofRename({ name }: Extract<Change, { verb: 'rename' }>): Consequence[] {
    if (this.state.find(name)?.kind !== 'table') return [];
    return [...this.#rightsLost(name), ...this.#invalidatedBy(name, GONE), ...this.#viewsWithout(name)];
  }

  #ofRefresh(name: string): Consequence[] {
    const view = this.state.find(name);
    if (view?.definition?.kind !== 'materialized view') return [];
    const { base = '' } = view.definition;
    const work = rewrite(name, `rebuilds ${this.#title(name)} from what ${this.#title(base)} holds`);
    const kept = retention(this.state.find(base)?.definition);
    const isKept = kept >= (this.#invalidated.get(foldCase(name)) ?? retention(view.definition));
    if (isKept && !this.isAhead(name)) return [work];
    const text = `loses what ${this.#title(name)} keeps of rows that ${this.#title(base)} no longer holds`;
    return [work, loss(name, text)];
  }

  #ofAlter({ name, alteration }: Alter): Consequence[] {
    const definition = this.state.find(name)?.definition;
    if (!definition) return [];
    const after = applyAlteration(definition, alteration);
    if (isShorter(after, definition))
      return [loss(name, `expires rows of ${this.#title(name)} that are older than ${describeRetention(after)}`)];
    if (definition.kind === 'table' && after.kind === 'table') return this.#ofAlterTable(definition, after, alteration);
    return definition.kind === 'view' && after.kind === 'view'
      ? this.#viewsOver(definition.name, definition.body, after.body)
      : [];
  }

  #ofAlterTable(table: TableDefinition, after: TableDefinition, alteration: Alteration): Consequence[] {
    const { name } = table;
    if (alteration.change === 'dedup keys') return keysLost(table, after);
    if (!('column' in alteration) || typeof alteration.column !== 'string') return [];
    const column = findColumn(table, alteration.column);
    if (!column) return [];
    const at = { object: name, column: column.name };
    switch (alteration.change) {
      case 'drop column':
        return [
          { effect: 'loss', ...at, text: `loses column '${column.name}'` },
          ...(column.dedup ? [{ effect: 'removal', ...at, text: `removes dedup key '${column.name}'` } as const] : []),
          ...this.#rightsLost(name, column.name),
          ...this.#invalidatedBy(name, 'drop column operation'),
          ...this.#viewsUsing(name, column.name),
        ];
      case 'rename column':
        return [...this.#invalidatedBy(name, 'rename column operation'), ...this.#viewsUsing(name, column.name)];
      case 'type':
        return [
          { effect: 'rewrite', ...at, text: `rewrites column '${column.name}'` },
          ...(isLossless(column.type, alteration.type) ? [] : [narrowing(name, column, alteration.type)]),
          ...(column.index
            ? [{ effect: 'removal', ...at, text: `removes the index of column '${column.name}'` } as const]
            : []),
          ...this.#invalidatedBy(name, 'change column type operation'),
        ];
      case 'add index':
        return column.index ? [] : [{ effect: 'rewrite', ...at, text: `builds the index of column '${column.name}'` }];
      case 'drop index':
        return column.index ? [{ effect: 'removal', ...at, text: `removes the index of column '${column.name}'` }] : [];
      default:
        return [];
    }
  }

  /** A change of a base invalidates all materialized views over it, whatever they use, and all over these. */
  #invalidatedBy(base: string, reason: string, seen = new Set<string>()): Consequence[] {
    const found: Consequence[] = [];
    for (const key of this.#views.materializedViewsOver(base)) {
      if (seen.has(key) || this.#invalidated.has(key) || this.#neverRefreshed.has(key)) continue;
      const { name } = this.state.find(key) as SchemaObject;
      seen.add(key);
      found.push({ effect: 'invalid', object: name, text: `invalidates ${this.#title(name)}: ${reason}` });
      found.push(...this.#invalidatedBy(name, 'base materialized view is invalidated', seen));
    }
    return found;
  }

  /** If an object is dropped or renamed, all views that read from it directly or indirectly become invalid. */
  #viewsWithout(name: string): Consequence[] {
    return this.#invalidViews(this.#views.viewsOver(name), `${this.#title(name)} is gone`);
  }

  #viewsUsing(table: string, column: string): Consequence[] {
    return this.#invalidViews(
      this.#views.usersOf(table, column).all,
      `it uses column '${column}' of ${this.#title(table)}`,
    );
  }

  /** Reports the views as invalid, except those that are already. */
  #invalidViews(keys: Iterable<string>, reason: string): Consequence[] {
    return [...keys].flatMap(key => {
      const view = this.state.find(key);
      return view && !this.#isBroken(view) ? [this.#invalidView(view.name, reason)] : [];
    });
  }

  /** The views that become invalid because the new query of a view no longer has columns that they use. */
  #viewsOver(view: string, before: string, after: string): Consequence[] {
    const lost = this.#views.columnsLost(before, after).flatMap(name => this.#viewsUsing(view, name));
    return [...new Map(lost.map(each => [each.object, each])).values()];
  }

  #rightsLost(table: string, column?: string): Consequence[] {
    const count = this.state.rightsOn(table, column).length;
    if (count === 0) return [];
    const what = column === undefined ? this.#title(table) : `column '${column}'`;
    return [removal(table, `removes ${count} ${count === 1 ? 'grant' : 'grants'} on ${what}`)];
  }

  /** Records what a change invalidates and repairs. */
  #note(change: Change): void {
    for (const { effect, object } of this.#consequences(change)) {
      const found = this.state.find(object);
      if (effect === 'invalid' && found?.kind === 'materialized view')
        this.#invalidated.set(foldCase(object), retention(found.definition));
    }
    if (change.verb === 'refresh') {
      const base = this.state.find(change.name)?.definition;
      const isBaseInvalidated = base?.kind === 'materialized view' && this.isInvalidated(base.base ?? '');
      if (change.isFull && !isBaseInvalidated) this.#invalidated.delete(foldCase(change.name));
      this.#neverRefreshed.delete(foldCase(change.name));
    }
    if (change.verb === 'drop') this.#forget(foldCase(change.name));
    if (change.verb === 'alter') for (const alter of change.alters) this.#noteAlter(alter);
  }

  #noteAlter({ name, alteration }: Alter): void {
    if (alteration.change === 'query') {
      const before = this.state.find(name)?.definition;
      this.#missing.delete(foldCase(name));
      if (before?.kind !== 'view') return;
      this.#repair(({ table }) => isSameName(table, name));
      for (const column of this.#views.columnsLost(before.body, alteration.body)) this.#miss(name, column);
    }
    if (alteration.change === 'drop column' || alteration.change === 'rename column')
      this.#miss(name, alteration.column);
    const added = addedColumn(alteration);
    if (added !== undefined) this.#repair(({ table, column }) => isSameName(table, name) && isSameName(column, added));
  }

  /** Records that columns exist again. */
  #repair(isThere: (column: MissingColumn) => boolean): void {
    for (const [view, missing] of this.#missing)
      this.#missing.set(
        view,
        missing.filter(column => !isThere(column)),
      );
  }

  #miss(table: string, column: string): void {
    for (const view of this.#views.usersOf(table, column).direct)
      this.#missing.set(view, [...(this.#missing.get(view) ?? []), { table, column }]);
  }

  #noteCreated(key: string): void {
    this.#invalidated.delete(key);
    this.#missing.delete(key);
  }

  #forget(key: string): void {
    this.#ahead.delete(key);
    this.#invalidated.delete(key);
    this.#missing.delete(key);
    this.#neverRefreshed.delete(key);
  }

  /** The names of all invalid views, in lower case. */
  #brokenViews(): string[] {
    const views = [...this.state.objects].filter(({ kind }) => kind === 'view');
    return views.filter(view => this.#isBroken(view)).map(({ name }) => foldCase(name));
  }

  #isBroken(view: SchemaObject, seen = new Set<string>()): boolean {
    if (seen.has(view.name)) return false;
    seen.add(view.name);
    if (this.#missing.get(foldCase(view.name))?.length) return true;
    return this.#views.queryOf(view).sources.some(source => {
      const object = this.state.find(source);
      return object === undefined || (object.kind === 'view' && this.#isBroken(object, seen));
    });
  }

  #invalidView(name: string, reason: string): Consequence {
    return { effect: 'invalid', object: name, text: `invalidates ${this.#title(name)}: ${reason}` };
  }

  #title(name: string): string {
    const object = this.state.find(name);
    return object ? displayName({ kind: object.kind, name: object.name, verb: '' }) : `'${name}'`;
  }
}

const GONE = 'base table is dropped or renamed';

/** The names of the objects that a change affects. */
function namesIn(change: Change): string[] {
  if (change.verb === 'alter') return change.alters.map(({ name }) => name);
  if (change.verb === 'truncate') return [...change.names];
  if (change.verb === 'drop all') return [];
  return change.verb === 'rename' ? [change.name, change.to] : [change.name];
}

function addedColumn(alteration: Alteration): string | undefined {
  if (alteration.change === 'add column') return alteration.column.name;
  return alteration.change === 'rename column' ? alteration.to : undefined;
}

const loss = (object: string, text: string): Consequence => ({ effect: 'loss', object, text });
const rewrite = (object: string, text: string): Consequence => ({ effect: 'rewrite', object, text });
const removal = (object: string, text: string): Consequence => ({ effect: 'removal', object, text });

const narrowing = (object: string, { name, type }: Column, to: string): Consequence => ({
  effect: 'loss',
  object,
  column: name,
  text: `may lose values of column '${name}': ${type} to ${to}`,
});

/**
 * Removing dedup keys is a loss: with fewer keys, rows that were distinct overwrite each other; without any key, duplicate
 * rows remain.
 */
function keysLost(before: TableDefinition, after: TableDefinition): Consequence[] {
  const keys = before.columns.filter(({ dedup }) => dedup);
  const left = new Set(after.columns.filter(({ dedup }) => dedup).map(({ name }) => foldCase(name)));
  if (left.size === 0) return keys.length > 0 ? [loss(before.name, 'switches deduplication off')] : [];
  return keys
    .filter(({ name }) => !left.has(foldCase(name)))
    .map(({ name }) => ({ effect: 'loss', object: before.name, column: name, text: `removes dedup key '${name}'` }));
}

function describeRetention(definition: Definition): string {
  if (definition.kind !== 'table' && definition.kind !== 'materialized view') return '';
  const policy = definition.kind === 'table' ? definition.policy : undefined;
  const length = definition.ttl || policy?.after['DROP LOCAL'] || policy?.after['DROP REMOTE'];
  return length ? formatTtlLength(length) : '';
}
