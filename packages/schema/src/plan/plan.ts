/*!
 * Plans the statements that turn one schema into another, in an executable order. A statement that would lose rows, values
 * or a guarantee is left out and listed, unless that loss is allowed. A difference that no statement changes is listed too.
 */
import {
  type Alteration,
  type CompareOptions,
  compareDefinitions,
  compareStatements,
  type Definition,
  findColumn,
  ownerOf,
  parseChange,
  parsePrincipal,
  parseRights,
  printAliasChanges,
  printAlter,
  printRevocation,
  printRight,
  quotePrincipal,
  RightSet,
  sortByScope,
  type TableDefinition,
} from '@sqlpipe/ddl';
import {
  displayName,
  foldCase,
  givesRight,
  hasName,
  type Identity,
  identify,
  identityKey,
  isAcl,
  isObject,
  isPrincipal,
  isSameName,
  kindKeywords,
} from '@sqlpipe/sql';
import { Catalog, dumpOrder, type Entry } from '../catalog.js';
import { compareSchemas } from '../compare-schemas.js';
import { alterMaterializedView, canAlter } from './alter-materialized-view.js';
import { alterTable } from './alter-table.js';
import { type Consequence, ImpactAnalyzer, type ImpactOptions } from './impact.js';
import { formatPath, formatPathForShell } from './names.js';
import { parseRebuildName, rebuildTable } from './rebuild.js';
import { type RequestOptions, Requests } from './requests.js';
import { retention } from './retention.js';
import { type SchemaObject, SchemaState } from './state.js';
import { whyUnalterable } from './unalterable.js';
import { WantedSchema } from './wanted-schema.js';

/** Options for planning. */
export interface PlanOptions extends ImpactOptions, RequestOptions {
  readonly defaults?: CompareOptions['defaults'];
  /** Whether a different owner is ignored. */
  readonly ignoreOwner?: boolean;
  /** Whether objects, principals and rights that only B has are kept, and do not count as differences. */
  readonly keepExtra?: boolean;
  /** Whether the old table of a rebuild is dropped. */
  readonly dropOld?: boolean;
}

/** A statement of a plan, and its side effects. */
export interface PlannedStatement {
  readonly statement: string;
  readonly consequences: readonly Consequence[];
  /** Descriptions of the side effects, one line each. */
  readonly costs: readonly string[];
}

/** A difference that remains. */
export interface Omission {
  readonly identity: Identity;
  /** The properties that differ, as in a comparison; empty for the complete object. */
  readonly properties: readonly string[];
  /** What is left out: `DROP COLUMN qty`. */
  readonly what: string;
  readonly reason: string;
  /** The values of --allow-loss that would allow it. */
  readonly allow?: readonly string[];
}

/** A plan that turns B into A. */
export interface Plan {
  readonly statements: readonly PlannedStatement[];
  readonly omissions: readonly Omission[];
}

/**
 * Plans the statements that turn schema B into A, and checks the plan by applying it to B's definitions in memory.
 * @throws InvalidSelectionError for names that match nothing or are ambiguous; an error without a code if the plan does not
 *   lead to A
 */
export function planChanges(a: Iterable<string>, b: Iterable<string>, options: PlanOptions = {}): Plan {
  return new Planner([...a], [...b], options).run();
}

class Planner {
  readonly #a: WantedSchema;
  readonly #b: Catalog;
  readonly #impact: ImpactAnalyzer;
  readonly #state: SchemaState;
  readonly #isEnterprise: boolean;
  readonly #statements: { statement: string; consequences: Consequence[] }[] = [];
  readonly #omissions: Omission[] = [];
  /** Names of objects of A that will not exist as wanted after the plan, so that no object over them can be created. */
  readonly #blocked = new Set<string>();
  /** The old tables that rebuilds keep. */
  readonly #leftovers = new Set<string>();
  /** Materialized views that have been dropped to be created again with their rows. */
  readonly #toRefill = new Set<string>();
  readonly #requests: Requests;

  constructor(
    a: readonly string[],
    readonly b: readonly string[],
    readonly options: PlanOptions,
  ) {
    this.#a = new WantedSchema(a, options);
    this.#b = new Catalog(b);
    this.#state = new SchemaState(b, options);
    this.#impact = new ImpactAnalyzer(this.#state, options);
    this.#isEnterprise = this.#b.entries.some(
      ({ kind, statement }) =>
        isAcl(kind) || ownerOf(statement) !== undefined || /\bSTORAGE\s+POLICY\b/i.test(statement),
    );
    this.#requests = new Requests(this.#a, this.#b, this.#state, options);
  }

  run(): Plan {
    this.#revoke();
    this.#createPrincipals();
    this.#dropObjects();
    this.#renameTables();
    this.#resumeRebuilds();
    for (const entry of dumpOrder(this.#a)) if (isObject(entry.kind)) this.#reconcile(entry);
    this.#refresh();
    this.#dropPrincipals();
    this.#grant();
    this.#omitOthers();
    this.#check();
    return { statements: this.#statements.map(each => this.#withCosts(each)), omissions: this.#omissions };
  }

  #emit(statement: string, reword = (each: Consequence): Consequence => each): void {
    this.#statements.push({ statement, consequences: this.#impact.apply(statement).map(reword) });
  }

  /**
   * Adds a statement to the plan, unless it causes a loss that is not allowed, or breaks a materialized view that
   * remains.
   */
  #attempt(statement: string, identity: Identity, properties: readonly string[]): boolean {
    const consequences = this.#impact.preview(statement);
    const retyped = this.#retypedBy(statement);
    const lost = [
      ...consequences.filter(({ effect }) => effect === 'loss'),
      ...this.#lostByRefresh(consequences),
      ...this.#lostByRefresh(retyped.map(toRetyped)),
    ];
    const forbidden = uniqueByText(lost.filter(each => !this.#requests.mayLose(each)));
    const broken = [
      ...consequences.filter(each => this.#staysBroken(each, statement)),
      ...retyped.map(toRetyped).filter(each => this.#isUnwanted(each)),
    ];
    if (forbidden.length === 0 && broken.length === 0) {
      for (const view of retyped) this.#dropToRefill(view);
      this.#emit(statement);
      return true;
    }
    const reason = [...forbidden, ...broken].map(({ text }) => text).join('; ');
    const allow = [...new Set(forbidden.map(formatPath))];
    this.#omit(identity, properties, describe(statement), reason, allow);
    return false;
  }

  #omit(
    identity: Identity,
    properties: readonly string[],
    what: string,
    reason: string,
    allow: readonly string[] = [],
  ) {
    this.#omissions.push({ identity, properties, what, reason, ...(allow.length > 0 && { allow }) });
  }

  /**
   * The losses if a statement invalidates a materialized view, and its base no longer has all rows to rebuild it from.
   */
  #lostByRefresh(consequences: readonly Consequence[]): Consequence[] {
    return consequences.flatMap(({ effect, object }): Consequence[] => {
      const view = this.#state.find(object)?.definition;
      if (effect !== 'invalid' || view?.kind !== 'materialized view') return [];
      const base = view.base ?? '';
      const bases = [this.#state.find(base)?.definition];
      if (this.#requests.mayLose({ object: base })) bases.push(this.#a.definitionOf(base));
      const isKept = Math.min(...bases.map(retention)) >= retention(view);
      if (isKept && !this.#impact.isAhead(object)) return [];
      const text = `rebuilding materialized view '${object}' loses what '${base}' no longer holds`;
      return [{ effect: 'loss', object, text }];
    });
  }

  /** The materialized views whose columns may have other types after a statement. */
  #retypedBy(statement: string): SchemaObject[] {
    const change = parseChange(statement);
    if (change?.verb !== 'alter') return [];
    return change.alters.flatMap(({ name, alteration }) =>
      alteration.change === 'type' ? this.#impact.materializedViewsUsing(name, alteration.column) : [],
    );
  }

  /**
   * Drops a materialized view that is created again from its base. A refresh empties it and fails where its columns have
   * other types than its query gives (observed on 9.3.4).
   */
  #dropToRefill({ kind, name }: SchemaObject): void {
    if (!this.#state.find(name)) return;
    const wasRefreshed = this.#impact.wasRefreshed(name);
    this.#emit(`DROP ${kindKeywords(kind)} '${name}';`, each =>
      each.effect === 'loss' && each.object === name ? toRefilled(name) : each,
    );
    if (wasRefreshed) this.#toRefill.add(foldCase(name));
  }

  /** Whether a materialized view could not be refreshed after a statement, because its query would fail. */
  #staysBroken(consequence: Consequence, statement: string): boolean {
    const change = parseChange(statement);
    if (change?.verb !== 'alter') return this.#isUnwanted(consequence) !== undefined;
    const gone = change.alters.flatMap(({ alteration }) =>
      alteration.change === 'drop column' || alteration.change === 'rename column' ? [alteration.column] : [],
    );
    return this.#isUnwantedOver(consequence, gone);
  }

  /**
   * Whether the invalidated object is a materialized view that uses one of these columns, and that is missing or
   * different in A.
   */
  #isUnwantedOver(consequence: Consequence, columns: readonly string[]): boolean {
    const view = this.#isUnwanted(consequence);
    return view !== undefined && columns.some(column => this.#impact.mentions(view, column));
  }

  #isUnwanted({ effect, object }: Consequence): SchemaObject | undefined {
    const view = this.#state.find(object);
    if (effect !== 'invalid' || view?.kind !== 'materialized view' || !view.definition) return undefined;
    const wanted = this.#a.definitionOf(object);
    const differences = wanted && compareDefinitions(wanted, view.definition).differences;
    const isWanted = differences?.every(
      ({ property }) => property !== 'query' && property !== 'base' && property !== 'kind',
    );
    return isWanted ? undefined : view;
  }

  /** First revokes the rights that A does not give, or gives without the grant option. */
  #revoke(): void {
    if (this.options.keepExtra) return;
    const wanted = rightsOf(this.#a);
    for (const right of [...this.#state.rights]) if (!wanted.has(right)) this.#emit(printRevocation(right));
  }

  /** Rights on more go first, as they take the place of those on less: where that loses a grant option, it is given again. */
  #grant(): void {
    for (const right of sortByScope([...rightsOf(this.#a)], printRight)) {
      if (this.#state.rights.has(right)) continue;
      for (const lost of this.#state.rights.findLostOptions(right)) this.#emit(printRevocation(lost));
      this.#emit(printRight(right));
    }
  }

  #createPrincipals(): void {
    for (const entry of dumpOrder(this.#a)) {
      if (!isPrincipal(entry.kind)) continue;
      const there = this.#b.findPrincipal(entry.name);
      if (!there) this.#emit(entry.statement);
      else if (there.kind === entry.kind) this.#alterPrincipal(entry, there);
      else
        this.#omit(
          entry,
          [],
          `CREATE ${displayName(entry)}`,
          `there is already a ${displayName(there)}, which no statement converts`,
        );
    }
  }

  #alterPrincipal(entry: Entry, there: Entry): void {
    const [wanted, now] = [parsePrincipal(entry.statement), parsePrincipal(there.statement)];
    if (wanted && now && wanted.alias !== now.alias)
      for (const statement of printAliasChanges(there.name, now.alias, wanted.alias)) this.#emit(statement);
    for (const { property, a, b } of compareStatements(entry.statement, there.statement).differences)
      if (property !== 'external alias' && (property !== 'owner' || !this.options.ignoreOwner))
        this.#omit(entry, [property], `${property}: ${b} to ${a}`, `cannot be altered: ${whyUnalterable(property)}`);
  }

  #dropPrincipals(): void {
    if (this.options.keepExtra) return;
    for (const entry of dumpOrder(this.#b)) {
      if (!isPrincipal(entry.kind) || this.#a.findPrincipal(entry.name)) continue;
      this.#attempt(`DROP ${kindKeywords(entry.kind)} ${quotePrincipal(entry.name)};`, entry, []);
    }
  }

  /**
   * Drops the objects that A does not have or that have to be recreated, each before the objects that it reads from.
   */
  #dropObjects(): void {
    for (const entry of dumpOrder(this.#b).reverse()) {
      if (!isObject(entry.kind)) continue;
      const renamed = this.#requests.renamedObjects.get(foldCase(entry.name));
      const wanted = this.#a.findObject(renamed ?? entry.name);
      if (renamed !== undefined && entry.kind === 'table' && wanted?.kind === 'table') continue;
      if (!wanted && this.#isOfRebuild(entry.name)) continue;
      const statement = `DROP ${kindKeywords(entry.kind)} '${entry.name}';`;
      if (renamed !== undefined && entry.kind === 'view' && wanted?.kind === 'view') this.#emit(statement);
      else if (!wanted || renamed !== undefined) {
        if (!this.options.keepExtra || renamed !== undefined) this.#dropExtra(statement, entry);
      } else if (wanted.kind !== entry.kind || this.#mustRecreate(entry, wanted))
        this.#dropToRecreate(statement, entry);
    }
  }

  #dropExtra(statement: string, entry: Entry): void {
    const isAllowed = this.#requests.mayLose({ object: entry.name });
    // A view has no rows, but its query may not be stored anywhere else.
    if (entry.kind === 'view' && !isAllowed)
      this.#omit(entry, [], describe(statement), `loses ${displayName(entry)}`, [formatPath({ object: entry.name })]);
    else this.#attempt(statement, entry, []);
  }

  #dropToRecreate(statement: string, entry: Entry): void {
    const isAllowed = this.#requests.mayLose({ object: entry.name });
    if (isAllowed && this.#attempt(statement, entry, [])) return;
    this.#blocked.add(foldCase(entry.name));
    if (isAllowed) return;
    const reason = `it can only be dropped and recreated, which loses ${displayName(entry)}${entry.kind === 'view' ? '' : ' and its rows'}`;
    this.#omit(entry, [], describe(statement), reason, [formatPath({ object: entry.name })]);
  }

  #mustRecreate(entry: Entry, wanted: Entry): boolean {
    const [now, then] = [this.#state.find(entry.name)?.definition, this.#a.meaning(wanted)];
    if (!now || !then || now.kind === 'table' || now.kind === 'view') return false;
    if (then.kind === 'materialized view' && now.kind === 'materialized view') return !canAlter(then, now);
    return compareDefinitions(then, now).differences.some(({ property }) => !['owner', 'name'].includes(property));
  }

  /** Renames tables. If the new name is still that of another table, the other table is renamed first. */
  #renameTables(): void {
    const pending = [...this.#requests.renamedObjects].filter(([from]) => this.#state.find(from)?.kind === 'table');
    for (let isMore = true; isMore; ) {
      isMore = false;
      for (const rename of [...pending]) {
        const [from, to] = rename;
        if (this.#state.find(to)) continue;
        pending.splice(pending.indexOf(rename), 1);
        isMore = true;
        const table = this.#state.find(from) as SchemaObject;
        const isDone = this.#attempt(`RENAME TABLE '${table.name}' TO '${to}';`, identityOf(table), []);
        if (isDone) continue;
        this.#blocked.add(foldCase(to));
        this.#omit({ kind: 'table', name: to, verb: '' }, [], `table '${to}'`, `it is still called '${table.name}'`);
      }
    }
    for (const [from, to] of pending) this.#blocked.add(foldCase(from)).add(foldCase(to));
  }

  /** Whether an earlier, interrupted rebuild has created a table. An old table that it kept is not a difference. */
  #isOfRebuild(name: string): boolean {
    const { table, role } = parseRebuildName(name) ?? {};
    if (table === undefined || !this.#requests.isToRebuild(table)) return false;
    if (role === 'before') this.#leftovers.add(foldCase(name));
    return true;
  }

  /**
   * Completes interrupted rebuilds. If a rebuild ended between its two renames, the new table was checked and is renamed;
   * otherwise the new table may be incomplete and is dropped.
   */
  #resumeRebuilds(): void {
    for (const { name } of [...this.#state.objects]) {
      const { table = '', role, mark } = parseRebuildName(name) ?? {};
      if (role !== 'new' || !this.#requests.isToRebuild(table)) continue;
      const isExchanged = !this.#state.find(table) && this.#state.find(`${table}_before_${mark}`);
      this.#emit(isExchanged ? `RENAME TABLE '${name}' TO '${table}';` : `DROP TABLE '${name}';`);
    }
  }

  /** Turns one object of B into that of A. */
  #reconcile(entry: Entry): void {
    const now = this.#state.find(entry.name);
    const isBlocked = this.#blocked.has(foldCase(entry.name));
    if (isBlocked && (now === undefined || now.kind !== entry.kind)) return void this.#omitUnlessListed(entry);
    if (isBlocked && now) return; // it is not changed
    const missing = this.#a
      .prerequisites(entry)
      .find(({ name, kind }) => isObject(kind) && this.#blocked.has(foldCase(name)));
    if (missing) {
      this.#blocked.add(foldCase(entry.name));
      if (this.#isSame(entry, now)) return;
      return this.#omit(entry, [], displayName(entry), `it reads from ${displayName(missing)}, which is left out`);
    }
    if (!now) return this.#emit(entry.statement);
    if (this.#isSame(entry, now)) return;
    const wanted = this.#a.meaning(entry);
    if (!wanted || !now.definition || ('query' in wanted && wanted.query !== undefined))
      return this.#omit(entry, [], displayName(entry), 'its syntax is unknown');
    this.#alter(entry, wanted);
    this.#omitUnalterable(entry, wanted);
  }

  #isSame(entry: Entry, now: SchemaObject | undefined): boolean {
    const wanted = this.#a.meaning(entry);
    if (!now || !wanted || !now.definition) return now?.statement === entry.statement;
    return compareDefinitions(wanted, now.definition).differences.length === 0;
  }

  #alter(entry: Entry, wanted: Definition): void {
    const current = <T extends Definition>(): T => this.#state.find(entry.name)?.definition as T;
    const attempt =
      (kind: 'table' | 'view' | 'materialized view') =>
      (alteration: Alteration, ...properties: string[]): boolean =>
        this.#attempt(printAlter({ kind, name: current().name, alteration }), entry, properties);
    if (wanted.kind === 'view') {
      const isOther = compareDefinitions(wanted, current()).differences.some(({ property }) => property === 'query');
      if (isOther) attempt('view')({ change: 'query', body: wanted.body }, 'query');
    } else if (wanted.kind === 'materialized view')
      alterMaterializedView(wanted, current, attempt('materialized view'));
    else if (wanted.kind === 'table' && this.#requests.isToRebuild(entry.name)) this.#rebuild(entry, wanted);
    else if (wanted.kind === 'table') {
      const renamed = this.#requests.renamedColumns(entry.name);
      const before = this.#omissions.length;
      alterTable(wanted, renamed, { current, attempt: attempt('table'), isEnterprise: this.#isEnterprise });
      const isRenamed = [...renamed.keys()].every(column => !findColumn(current<TableDefinition>(), column));
      if (!isRenamed && this.#omissions.length > before) this.#blocked.add(foldCase(entry.name));
    }
  }

  #rebuild(entry: Entry, wanted: TableDefinition): void {
    const now = this.#state.find(entry.name)?.definition as TableDefinition;
    const renamed = this.#requests.renamedColumns(entry.name);
    const { statements, oldName } = rebuildTable(wanted, now, renamed, this.options.dropOld ?? false);
    const rename = `RENAME TABLE '${now.name}' TO '${oldName}';`;
    const consequences = this.#impact.preview(rename);
    const gone = now.columns.filter(({ name }) => !findColumn(wanted, name));
    const retyped = now.columns
      .filter(({ name, type }) => (findColumn(wanted, name)?.type ?? type) !== type)
      .flatMap(({ name }) => this.#impact.materializedViewsUsing(now.name, name));
    const broken = consequences.filter(each =>
      this.#isUnwantedOver(
        each,
        gone.map(({ name }) => name),
      ),
    );
    const lost = [...this.#lostByRefresh(consequences)].filter(each => !this.#requests.mayLose(each));
    const isDropAllowed =
      !this.options.dropOld || this.#requests.mayLose({ object: now.name }) || isCopied(wanted, now, renamed);
    if (broken.length > 0 || lost.length > 0 || !isDropAllowed) {
      const reason = isDropAllowed
        ? [...broken, ...lost].map(({ text }) => text).join('; ')
        : '--drop-old loses columns, or values, that the new table does not have';
      const allow = isDropAllowed ? lost.map(formatPath) : [formatPath({ object: now.name })];
      return this.#omit(entry, [], `rebuild of table '${now.name}'`, reason, allow);
    }
    if (!this.options.dropOld) this.#leftovers.add(foldCase(oldName));
    for (const view of retyped) if (this.#a.findObject(view.name)) this.#dropToRefill(view);
    for (const statement of statements) this.#emit(statement);
  }

  /** Lists the remaining differences, which no statement changes. */
  #omitUnalterable(entry: Entry, wanted: Definition): void {
    const now = this.#state.find(entry.name)?.definition;
    if (!now) return;
    const listed = this.#omissions
      .filter(({ identity }) => identityKey(identity) === identityKey(entry))
      .flatMap(({ properties }) => (properties.length > 0 ? properties : [ALL]));
    for (const { property, a, b } of compareDefinitions(wanted, now).differences) {
      if (listed.includes(property) || listed.includes(ALL) || (property === 'owner' && this.options.ignoreOwner))
        continue;
      const reason = whyUnalterable(property);
      if (!reason) throw new Error(`${displayName(entry)}: no statement was found for ${property}: ${b} to ${a}`);
      const way = reason.endsWith('needs a new table')
        ? `; --rebuild ${formatPathForShell(formatPath({ object: entry.name }))} makes one`
        : '';
      this.#omit(entry, [property], `${property}: ${b} to ${a}`, `cannot be altered: ${reason}${way}`);
    }
  }

  #omitUnlessListed(entry: Entry): void {
    const isListed = this.#omissions.some(({ identity }) => identityKey(identity) === identityKey(entry));
    if (!isListed) this.#omit(entry, [], displayName(entry), 'another object still has this name');
  }

  /**
   * Refreshes the materialized views that the plan has invalidated or that were invalid before, each after its base.
   */
  #refresh(): void {
    const order = [...dumpOrder(this.#a), ...dumpOrder(this.#b)].filter(({ kind }) => kind === 'materialized view');
    for (const { name } of order) {
      const view = this.#state.find(name);
      if (!view || !(this.#impact.isInvalidated(name) || this.#isEmpty(view))) continue;
      const statement = `REFRESH MATERIALIZED VIEW '${view.name}' FULL;`;
      // If the plan has invalidated it, losses were checked before.
      if (!this.options.invalidated?.has(foldCase(name))) this.#emit(statement);
      else if (this.#a.findObject(name)) this.#attempt(statement, identityOf(view), []);
    }
  }

  /** Whether a materialized view was created again and does not get its rows by itself. */
  #isEmpty({ name, definition }: SchemaObject): boolean {
    if (definition?.kind !== 'materialized view' || !this.#toRefill.delete(foldCase(name))) return false;
    return definition.refresh.deferred || definition.refresh.type !== 'IMMEDIATE';
  }

  #omitOthers(): void {
    for (const entry of this.#a.entries)
      if (entry.kind === 'other')
        this.#omit(entry, [], displayName(entry), 'it creates no object that can be compared');
  }

  /** Checks that the plan leads to A. @throws Error for a difference that is not listed */
  #check(): void {
    const after = [...this.#state.statements()];
    const { differences } = compareSchemas(
      this.#a.entries.map(({ statement }) => statement),
      after,
      this.options as object,
    );
    for (const { identity, a, b, comparison } of differences) {
      if (a === undefined && (this.options.keepExtra || this.#leftovers.has(foldCase(identity.name)))) continue;
      const omissions = this.#omissions.filter(omission => isAbout(omission, identity, a ?? b ?? ''));
      const isListed = (property: string) =>
        omissions.some(({ properties }) => properties.length === 0 || properties.includes(property));
      const rest = comparison ? comparison.differences.filter(({ property }) => !isListed(property)) : [];
      if (omissions.length > 0 && rest.length === 0) continue;
      throw new Error(
        `the plan does not lead to A: ${displayName(identity)}${rest.map(({ property, a, b }) => `: ${property}: ${b} to ${a}`).join('')}`,
      );
    }
  }

  #withCosts({ statement, consequences }: { statement: string; consequences: Consequence[] }): PlannedStatement {
    const broken = new Set(this.#impact.broken());
    const costs = consequences.map(({ effect, object, text }) => {
      if (effect !== 'invalid') return text;
      const found = this.#state.find(object);
      const isRepaired = found && !broken.has(displayName(identityOf(found)));
      if (!isRepaired) return text;
      return `${text}; ${found.kind === 'materialized view' ? 'REFRESH … FULL' : 'a repair'} follows`;
    });
    return { statement, consequences, costs: costs.length > 0 ? costs : [defaultCost(statement)] };
  }
}

const ALL = '';

const toRetyped = ({ name }: SchemaObject): Consequence => ({
  effect: 'invalid',
  object: name,
  text: `columns of materialized view '${name}' would get other types`,
});

const toRefilled = (object: string): Consequence => ({
  effect: 'rewrite',
  object,
  text: `makes way for materialized view '${object}' with columns of other types; CREATE follows`,
});

const uniqueByText = (consequences: readonly Consequence[]): Consequence[] => [
  ...new Map(consequences.map(each => [each.text, each])).values(),
];

const identityOf = ({ kind, name }: Pick<SchemaObject, 'kind' | 'name'>): Identity => ({ kind, name, verb: 'CREATE' });

/** A statement on one line, for a list. */
const describe = (statement: string): string => statement.replace(/;$/, '').replace(/\s+/g, ' ');

function defaultCost(statement: string): string {
  const { kind } = identify(statement);
  return kind === 'materialized view' ? 'builds it from its base' : 'metadata only';
}

const rightsOf = (catalog: Catalog): RightSet =>
  new RightSet(
    catalog.entries.filter(({ kind }) => givesRight(kind)).flatMap(({ statement }) => parseRights(statement) ?? []),
  );

const isAbout = (omission: Omission, identity: Identity, statement: string): boolean =>
  hasName(identity) && hasName(omission.identity)
    ? identityKey(omission.identity) === identityKey(identity)
    : !hasName(identity) && omission.identity.kind === identity.kind && statement !== '';

/** Whether the new table has all columns of the old one, with types that hold all values. */
function isCopied(wanted: TableDefinition, now: TableDefinition, renamed: ReadonlyMap<string, string>): boolean {
  return now.columns.every(({ name, type }) => {
    const to = [...renamed].find(([from]) => isSameName(from, name))?.[1] ?? name;
    return findColumn(wanted, to)?.type === type;
  });
}
