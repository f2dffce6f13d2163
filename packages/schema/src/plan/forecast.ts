/*!
 * What statements do beside what they say: what they rewrite, lose, remove and break. Each rule was seen on a real server
 * (9.3.4); what is not known to happen is not foretold.
 */
import {
  type Alter,
  type Alteration,
  applyAlteration,
  type Change,
  type Column,
  type Definition,
  findQueryColumns,
  findReferences,
  formatTtlLength,
  isLossless,
  parseChange,
  type TableDefinition,
} from '@sqlpipe/ddl';
import { displayName, foldCase, identify, isObject, isPrincipal } from '@sqlpipe/sql';
import { type QueryMentions, readMentions } from './mentions.js';
import { pathKey, resolvePath } from './names.js';
import { isShorter, retention } from './retention.js';
import type { SchemaObject, SchemaState } from './state.js';

/** One thing that a statement does beside what it says. */
export interface Consequence {
  /**
   * `rewrite`: work that grows with the rows. `loss`: rows, values or a guarantee that nothing brings back. `removal`: what
   * can be made again. `invalid`: a view or materialized view that gives nothing, or is refreshed no more.
   */
  readonly effect: 'rewrite' | 'loss' | 'removal' | 'invalid';
  /** The object that it happens to. */
  readonly object: string;
  /** The column, where it is one's. */
  readonly column?: string;
  /** In words that go on after "it": `rewrites column 'qty'`. */
  readonly text: string;
}

/** What is known of a server's objects beside their definitions. */
export interface ForecastOptions {
  /** What may be lost: `trades`, `trades.qty`. */
  readonly allowLoss?: readonly string[];
  /** Materialized views, in lower case, that were never refreshed: nothing in them can become wrong. */
  readonly unrefreshed?: ReadonlySet<string>;
  /** Materialized views, in lower case, that are refreshed no more, as their base was changed. */
  readonly stopped?: ReadonlySet<string>;
}

/** A column that a view uses and that is not there any more. */
interface MissingColumn {
  readonly table: string;
  readonly column: string;
}

/** Foretells one statement after the other. */
export class Forecast {
  readonly #unrefreshed: Set<string>;
  /** Materialized views that are refreshed no more, in lower case, each with how long it kept its rows until then. */
  readonly #stopped = new Map<string, number>();
  /** What views use and is not there any more, by view. */
  readonly #missing = new Map<string, MissingColumn[]>();
  readonly #queries = new Map<string, Query>();
  readonly #allowed: ReadonlySet<string>;
  /** Those that were stopped before the first statement. */
  readonly #before: ReadonlySet<string>;

  /** @throws InvalidSelectionError where it is not clear what may be lost */
  constructor(
    readonly state: SchemaState,
    { unrefreshed = new Set(), stopped = new Set(), allowLoss = [] }: ForecastOptions = {},
  ) {
    this.#unrefreshed = new Set(unrefreshed);
    for (const name of stopped) this.#stopped.set(name, retention(state.find(name)?.definition));
    this.#before = new Set(stopped);
    this.#allowed = new Set(
      allowLoss.flatMap(name => resolvePath(name, name => this.#columnsOf(name)) ?? []).map(pathKey),
    );
  }

  /** Whether what a statement does is a loss that nobody has allowed. */
  isSurprise(consequence: Consequence): boolean {
    return consequence.effect === 'loss' && !this.#allowed.has(pathKey(consequence));
  }

  #columnsOf(name: string): ReadonlySet<string> | undefined {
    const object = this.state.find(name);
    const columns = object?.definition?.kind === 'table' ? object.definition.columns : [];
    return object && new Set(columns.map(column => foldCase(column.name)));
  }

  /** What a statement would do now. */
  preview(statement: string): Consequence[] {
    const change = parseChange(statement);
    return change ? this.#consequences(change) : [];
  }

  /** The same, and does it. */
  apply(statement: string): Consequence[] {
    const change = parseChange(statement);
    const before = new Set(this.#brokenViews());
    const known = change ? this.#consequences(change) : [];
    if (change) this.#note(change);
    this.state.apply(statement);
    const { kind, name } = identify(statement);
    if (isObject(kind)) this.#noteCreated(foldCase(name));
    const foretold = new Set(known.map(({ object }) => foldCase(object)));
    const broken = this.#brokenViews().filter(view => !before.has(view) && !foretold.has(foldCase(view)));
    return [...known, ...broken.map(view => this.#invalidView(view, 'what it reads from is gone'))];
  }

  /** The objects that statements have broken and none has repaired, in words. */
  broken(): string[] {
    const views = this.#brokenViews().map(name => this.#title(name));
    const stopped = [...this.#stopped.keys()].filter(name => !this.#before.has(name));
    return [...views, ...stopped.map(name => this.#title(name))];
  }

  /** Whether a materialized view has been invalidated and not been refreshed since. */
  isStopped(name: string): boolean {
    return this.#stopped.has(foldCase(name));
  }

  /** Whether the query of an object uses a column. */
  mentions(object: SchemaObject, column: string): boolean {
    return this.#queryOf(object).mentions(column);
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
      case 'drop partition':
        return this.#ofRows(change.name, `${change.verb} operation`, [
          loss(change.name, `loses ${change.verb === 'truncate' ? 'all' : 'some'} rows of ${this.#title(change.name)}`),
        ]);
      case 'update':
        return this.#ofRows(change.name, 'update operation', [
          rewrite(change.name, `rewrites rows of ${this.#title(change.name)}`),
        ]);
      case 'refresh':
        return change.isFull ? this.#ofRefresh(change.name) : [];
      default:
        return [rewrite(change.name, `writes rows to ${this.#title(change.name)}`)];
    }
  }

  #ofRows(name: string, reason: string, consequences: Consequence[]): Consequence[] {
    return this.state.find(name) ? [...consequences, ...this.#stoppedBy(name, reason)] : [];
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
    return [gone, ...this.#rightsLost(name), ...this.#stoppedBy(name, GONE), ...this.#viewsWithout(name)];
  }

  #ofRename({ name }: Extract<Change, { verb: 'rename' }>): Consequence[] {
    if (this.state.find(name)?.kind !== 'table') return [];
    return [...this.#rightsLost(name), ...this.#stoppedBy(name, GONE), ...this.#viewsWithout(name)];
  }

  #ofRefresh(name: string): Consequence[] {
    const view = this.state.find(name);
    if (view?.definition?.kind !== 'materialized view') return [];
    const { base = '' } = view.definition;
    const work = rewrite(name, `rebuilds ${this.#title(name)} from what ${this.#title(base)} holds`);
    const kept = retention(this.state.find(base)?.definition);
    if (kept >= (this.#stopped.get(foldCase(name)) ?? retention(view.definition))) return [work];
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
          ...this.#stoppedBy(name, 'drop column operation'),
          ...this.#viewsUsing(name, column.name),
        ];
      case 'rename column':
        return [...this.#stoppedBy(name, 'rename column operation'), ...this.#viewsUsing(name, column.name)];
      case 'type':
        return [
          { effect: 'rewrite', ...at, text: `rewrites column '${column.name}'` },
          ...(isLossless(column.type, alteration.type) ? [] : [narrowing(name, column, alteration.type)]),
          ...(column.index
            ? [{ effect: 'removal', ...at, text: `removes the index of column '${column.name}'` } as const]
            : []),
          ...this.#stoppedBy(name, 'change column type operation'),
        ];
      case 'add index':
        return column.index ? [] : [{ effect: 'rewrite', ...at, text: `builds the index of column '${column.name}'` }];
      case 'drop index':
        return column.index ? [{ effect: 'removal', ...at, text: `removes the index of column '${column.name}'` }] : [];
      default:
        return [];
    }
  }

  /** The materialized views that a change of their base stops: those over it, whatever they use, and those over them. */
  #stoppedBy(base: string, reason: string, seen = new Set<string>()): Consequence[] {
    const found: Consequence[] = [];
    for (const { name, definition } of this.state.objects) {
      if (definition?.kind !== 'materialized view' || seen.has(foldCase(name))) continue;
      if (definition.base === undefined || foldCase(definition.base) !== foldCase(base)) continue;
      if (this.#stopped.has(foldCase(name)) || this.#unrefreshed.has(foldCase(name))) continue;
      seen.add(foldCase(name));
      found.push({ effect: 'invalid', object: name, text: `invalidates ${this.#title(name)}: ${reason}` });
      found.push(...this.#stoppedBy(name, 'base materialized view is invalidated', seen));
    }
    return found;
  }

  /** The views that read from an object, which will be gone, and those that read from them. */
  #viewsWithout(name: string): Consequence[] {
    const found = new Set([foldCase(name)]);
    const views: Consequence[] = [];
    const reason = `${this.#title(name)} is gone`;
    for (let isMore = true; isMore; ) {
      isMore = false;
      for (const view of this.#views()) {
        if (found.has(foldCase(view.name)) || !this.#queryOf(view).reads.some(read => found.has(foldCase(read))))
          continue;
        found.add(foldCase(view.name));
        isMore = true;
        if (!this.#isBroken(view)) views.push(this.#invalidView(view.name, reason));
      }
    }
    return views;
  }

  #viewsUsing(table: string, column: string): Consequence[] {
    const reason = `it uses column '${column}' of ${this.#title(table)}`;
    return [...this.#usersOf(table, column).broken]
      .filter(name => !this.#brokenViews().includes(name))
      .map(name => this.#invalidView(name, reason));
  }

  /** The views that lose columns where another view gets another query. */
  #viewsOver(view: string, before: string, after: string): Consequence[] {
    const [had, has] = [findQueryColumns(before), findQueryColumns(after)];
    if (!had || !has) return [];
    const left = new Set(has.map(({ name }) => foldCase(name)));
    const gone = had.filter(({ name }) => !left.has(foldCase(name)));
    const found = new Map(gone.flatMap(({ name }) => this.#viewsUsing(view, name)).map(each => [each.object, each]));
    return [...found.values()];
  }

  /** The views that use a column: by its name, directly or through views that take all columns; and those that read from such. */
  #usersOf(relation: string, column: string): { broken: Set<string>; direct: Set<string> } {
    const exposing = new Set([foldCase(relation)]);
    const [broken, direct] = [new Set<string>(), new Set<string>()];
    for (let isMore = true; isMore; ) {
      isMore = false;
      for (const view of this.#views()) {
        if (broken.has(view.name) || exposing.has(foldCase(view.name))) continue;
        const query = this.#queryOf(view);
        const uses = query.reads.some(read => exposing.has(foldCase(read)));
        const isDirect = uses && query.mentions(column);
        const isAbove = query.reads.some(read => [...broken].some(name => foldCase(name) === foldCase(read)));
        if (isDirect) direct.add(view.name);
        if (isDirect || isAbove) broken.add(view.name);
        else if (uses && query.hasStar) exposing.add(foldCase(view.name));
        else continue;
        isMore = true;
      }
    }
    return { broken, direct };
  }

  #rightsLost(table: string, column?: string): Consequence[] {
    const count = [...this.state.rights].filter(
      right =>
        right.kind === 'grant' &&
        right.table !== undefined &&
        foldCase(right.table) === foldCase(table) &&
        (column === undefined || (right.column !== undefined && foldCase(right.column) === foldCase(column))),
    ).length;
    if (count === 0) return [];
    const what = column === undefined ? this.#title(table) : `column '${column}'`;
    return [removal(table, `removes ${count} ${count === 1 ? 'grant' : 'grants'} on ${what}`)];
  }

  /** Keeps in mind what a change breaks and repairs. */
  #note(change: Change): void {
    for (const { effect, object } of this.#consequences(change)) {
      const found = this.state.find(object);
      if (effect === 'invalid' && found?.kind === 'matview')
        this.#stopped.set(foldCase(object), retention(found.definition));
    }
    if (change.verb === 'refresh') {
      const base = this.state.find(change.name)?.definition;
      const isBaseStopped = base?.kind === 'materialized view' && this.isStopped(base.base ?? '');
      if (change.isFull && !isBaseStopped) this.#stopped.delete(foldCase(change.name));
      this.#unrefreshed.delete(foldCase(change.name));
    }
    if (change.verb === 'drop') this.#forget(foldCase(change.name));
    if (change.verb === 'alter') for (const alter of change.alters) this.#noteAlter(alter);
  }

  #noteAlter({ name, alteration }: Alter): void {
    if (alteration.change === 'query') {
      const before = this.state.find(name)?.definition;
      this.#missing.delete(foldCase(name));
      if (before?.kind !== 'view') return;
      const [had, has] = [findQueryColumns(before.body), findQueryColumns(alteration.body)];
      const left = new Set((has ?? []).map(column => foldCase(column.name)));
      for (const [view, missing] of this.#missing)
        this.#missing.set(
          view,
          missing.filter(({ table }) => foldCase(table) !== foldCase(name)),
        );
      if (had && has) for (const column of had) if (!left.has(foldCase(column.name))) this.#miss(name, column.name);
    }
    if (alteration.change === 'drop column' || alteration.change === 'rename column')
      this.#miss(name, alteration.column);
    const added =
      alteration.change === 'add column'
        ? alteration.column.name
        : alteration.change === 'rename column'
          ? alteration.to
          : undefined;
    if (added === undefined) return;
    for (const [view, missing] of this.#missing)
      this.#missing.set(
        view,
        missing.filter(each => foldCase(each.table) !== foldCase(name) || foldCase(each.column) !== foldCase(added)),
      );
  }

  #miss(table: string, column: string): void {
    for (const view of this.#usersOf(table, column).direct) {
      const missing = this.#missing.get(foldCase(view)) ?? [];
      this.#missing.set(foldCase(view), [...missing, { table, column }]);
    }
  }

  #noteCreated(key: string): void {
    this.#stopped.delete(key);
    this.#missing.delete(key);
  }

  #forget(key: string): void {
    this.#stopped.delete(key);
    this.#missing.delete(key);
    this.#unrefreshed.delete(key);
  }

  *#views(): Generator<SchemaObject> {
    for (const object of this.state.objects) if (object.kind === 'view') yield object;
  }

  #brokenViews(): string[] {
    return [...this.#views()].filter(view => this.#isBroken(view)).map(({ name }) => name);
  }

  #isBroken(view: SchemaObject, seen = new Set<string>()): boolean {
    if (seen.has(view.name)) return false;
    seen.add(view.name);
    if (this.#missing.get(foldCase(view.name))?.length) return true;
    return this.#queryOf(view).reads.some(read => {
      const object = this.state.find(read);
      return object === undefined || (object.kind === 'view' && this.#isBroken(object, seen));
    });
  }

  #queryOf({ statement, definition }: SchemaObject): Query {
    const isView = (name: string) => this.state.find(name)?.kind === 'view';
    const known = this.#queries.get(statement);
    if (known) return known;
    const body = definition && 'body' in definition ? definition.body : statement;
    const query = { ...readMentions(body), reads: findReferences(statement, isView) };
    this.#queries.set(statement, query);
    return query;
  }

  #invalidView(name: string, reason: string): Consequence {
    return { effect: 'invalid', object: name, text: `invalidates ${this.#title(name)}: ${reason}` };
  }

  #title(name: string): string {
    const object = this.state.find(name);
    return object ? displayName({ kind: object.kind, name: object.name, verb: '' }) : `'${name}'`;
  }
}

interface Query extends QueryMentions {
  readonly reads: readonly string[];
}

const GONE = 'base table is dropped or renamed';

const loss = (object: string, text: string): Consequence => ({ effect: 'loss', object, text });
const rewrite = (object: string, text: string): Consequence => ({ effect: 'rewrite', object, text });
const removal = (object: string, text: string): Consequence => ({ effect: 'removal', object, text });

const findColumn = ({ columns }: TableDefinition, name: string): Column | undefined =>
  columns.find(column => foldCase(column.name) === foldCase(name));

const narrowing = (object: string, { name, type }: Column, to: string): Consequence => ({
  effect: 'loss',
  object,
  column: name,
  text: `may lose values of column '${name}': ${type} to ${to}`,
});

/** Rows that were kept apart overwrite each other; without keys, rows that came twice stay twice. */
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
