/*!
 * The statements that turn one schema into another, in an order that runs, without losing anything by surprise: what would
 * lose rows, values or a guarantee, and what no statement can change, is left out and listed.
 */
import {
  type Alteration,
  type CompareOptions,
  compareDefinitions,
  compareStatements,
  type Definition,
  type MaterializedViewDefinition,
  ownerOf,
  parseChange,
  parseMeaning,
  parsePrincipal,
  parseRights,
  printAliasChanges,
  printAlter,
  printRevocation,
  printRight,
  type Refresh,
  type Right,
  RightSet,
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
  type Kind,
  unquote,
} from '@sqlpipe/sql';
import { Catalog, dumpOrder, type Entry } from '../catalog.js';
import { compareSchemas } from '../compare-schemas.js';
import { InvalidSelectionError } from '../selection.js';
import { alterTable, canSetTtl } from './alter-table.js';
import { type Consequence, ImpactAnalyzer, type ImpactOptions } from './impact.js';
import { formatPath, formatPathForShell, pathKey, readings, resolvePath, splitRename } from './names.js';
import { parseRebuildName, rebuildTable } from './rebuild.js';
import { retention } from './retention.js';
import { type SchemaObject, SchemaState } from './state.js';

/** How to plan. */
export interface PlanOptions extends ImpactOptions {
  readonly defaults?: CompareOptions['defaults'];
  /** Whether another owner is no difference. */
  readonly ignoreOwner?: boolean;
  /** Whether what only B has stays, and is no difference. */
  readonly keepExtra?: boolean;
  /** What may be lost: `trades`, `trades.qty`. */
  readonly allowLoss?: readonly string[];
  /** What is called otherwise now: `old=new`, `trades.old=new`. */
  readonly renamed?: readonly string[];
  /** Tables to recreate where they differ. */
  readonly rebuild?: readonly string[];
  /** Whether the old table of a rebuild is dropped. */
  readonly dropOld?: boolean;
}

/** A statement of a plan, and what it does beside what it says. */
export interface PlannedStatement {
  readonly statement: string;
  readonly consequences: readonly Consequence[];
  /** The same in words, a line each. */
  readonly costs: readonly string[];
}

/** A difference that stays. */
export interface Omission {
  readonly identity: Identity;
  /** What of it differs, as a comparison calls it; all of it where there are none. */
  readonly properties: readonly string[];
  /** What is not done: `DROP COLUMN qty`. */
  readonly what: string;
  readonly reason: string;
  /** What would allow it: the value of --allow-loss. */
  readonly allow?: readonly string[];
}

/** How to turn B into A. */
export interface Plan {
  readonly statements: readonly PlannedStatement[];
  readonly omissions: readonly Omission[];
}

/**
 * The plan that turns the schema B into A; checked, as it is applied to B's definitions in memory.
 * @throws InvalidSelectionError for names that say nothing, or more than one thing; an error without a code where the
 *   plan does not lead to A
 */
export function planChanges(a: Iterable<string>, b: Iterable<string>, options: PlanOptions = {}): Plan {
  return new Planner([...a], [...b], options).run();
}

/** Why something of a table, or of an object of any kind, can not be altered. */
const UNALTERABLE: [property: RegExp, reason: string][] = [
  [/^designated timestamp$|^column order$|^volume$/, 'needs a new table'],
  [/^partitioning$/, 'needs a new table'],
  [/^column '.*' name$/s, 'changing only the case of a name needs two renames'],
  [/^column '.*'$/s, 'no conversion between these types: needs a new table'],
  [/^WAL$/, 'ALTER TABLE … SET TYPE has an effect only after a restart of the server'],
  [/^TTL$/, 'with partitions by month or year, a TTL can be changed, but not removed'],
  [/^dedup keys$/, 'only a WAL table has dedup keys, which include the designated timestamp'],
  [/^storage policy$/, 'the open source edition has no storage policies'],
  [/^owner$/, 'no statement changes an owner'],
  [/^name$/, 'changing only the case of a name needs two renames'],
  [/^refresh$/, 'no statement changes DEFERRED'],
  [/^refresh (start|time zone|period)$/, 'this server keeps a different one'],
  [/^statement$/, 'compared as text: its syntax is unknown'],
  [/^credentials$/, 'no server shows them'],
];

const reasonFor = (property: string): string | undefined =>
  UNALTERABLE.find(([pattern]) => pattern.test(property))?.[1];

/** What of a materialized view ALTER can change. */
const ALTERABLE = new Set(['TTL', 'refresh', 'refresh start', 'refresh period', 'refresh time zone', 'owner', 'name']);

class Planner {
  readonly #a: Catalog;
  readonly #b: Catalog;
  readonly #impact: ImpactAnalyzer;
  readonly #state: SchemaState;
  readonly #isEnterprise: boolean;
  readonly #statements: { statement: string; consequences: Consequence[] }[] = [];
  readonly #omissions: Omission[] = [];
  /** What may be lost, by name in lower case: objects, and columns of objects. */
  readonly #allowed = new Set<string>();
  /** New names of objects by old ones, and of columns by the new name of their table and the old one of their own. */
  readonly #renamedObjects = new Map<string, string>();
  /** Of all objects, of those that have been renamed already too. */
  readonly #newNames = new Map<string, string>();
  readonly #renamedColumns = new Map<string, Map<string, string>>();
  /** Names of A that are not there in the end as A has them, so that nothing can be made over them. */
  readonly #blocked = new Set<string>();
  /** What a rebuild leaves beside. */
  readonly #leftovers = new Set<string>();
  readonly #tablesToRebuild: Set<string>;
  readonly #meanings = new Map<Entry, Definition | undefined>();

  constructor(
    a: readonly string[],
    readonly b: readonly string[],
    readonly options: PlanOptions,
  ) {
    this.#a = new Catalog(a);
    this.#b = new Catalog(b);
    this.#state = new SchemaState(b, options);
    this.#impact = new ImpactAnalyzer(this.#state, options);
    this.#isEnterprise = this.#b.entries.some(
      ({ kind, statement }) =>
        isAcl(kind) || ownerOf(statement) !== undefined || /\bSTORAGE\s+POLICY\b/i.test(statement),
    );
    this.#readRenames(options.renamed ?? []);
    this.#readAllowed(options.allowLoss ?? []);
    this.#tablesToRebuild = new Set((options.rebuild ?? []).map(name => this.#tableToRebuild(name)));
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

  readonly #columnsOf = (name: string): ReadonlySet<string> | undefined => {
    const old = [...this.#newNames].find(([, to]) => foldCase(to) === foldCase(name))?.[0];
    const names = [name, this.#newNames.get(foldCase(name)) ?? name, old ?? name];
    const exists = names.some(
      each =>
        this.#state.find(each) ||
        this.#a.findObject(each) ||
        this.#a.findPrincipal(each) ||
        this.#b.findPrincipal(each),
    );
    if (!exists) return undefined;
    const found = names.flatMap(each => [this.#state.find(each)?.definition, this.#meaning(this.#a.findObject(each))]);
    return new Set(
      found.flatMap(each => (each?.kind === 'table' ? each.columns.map(column => foldCase(column.name)) : [])),
    );
  };

  /** Those of objects first, as those of columns may name a table by its old name. */
  #readRenames(renames: readonly string[]): void {
    const ofColumns: [rename: string, from: string, to: string][] = [];
    for (const rename of renames) {
      const [from, to] = splitRename(rename);
      const name = resolvePath(to, name => (this.#a.findObject(name) ? new Set() : undefined))?.object;
      if (name === undefined || resolvePath(from, this.#columnsOf)?.column !== undefined)
        ofColumns.push([rename, from, to]);
      else this.#readObjectRename(rename, resolvePath(from, this.#columnsOf)?.object ?? unquote(from), name);
    }
    for (const each of ofColumns) this.#readColumnRename(...each);
  }

  #readObjectRename(rename: string, from: string, to: string): void {
    const [before, after] = [this.#state.find(from), this.#a.findObject(to)];
    if (!after) throw new InvalidSelectionError(`--renamed ${rename}: A has no '${to}'`);
    this.#newNames.set(foldCase(from), after.name);
    if (!before && this.#state.find(to)) return; // it has been done
    if (!before) throw new InvalidSelectionError(`--renamed ${rename}: B has no '${from}'`);
    if (this.#a.findObject(from)) throw new InvalidSelectionError(`--renamed ${rename}: A has a '${from}' too`);
    if (this.#state.find(to)) throw new InvalidSelectionError(`--renamed ${rename}: B has a '${to}' too`);
    this.#renamedObjects.set(foldCase(before.name), after.name);
  }

  #readColumnRename(rename: string, from: string, to: string): void {
    const short = resolvePath(to, this.#columnsOf)?.column ?? unquote(to);
    const old = resolvePath(from, this.#columnsOf);
    if (old?.column === undefined) {
      const isDone = readings(from).some(
        ({ object, column }) => column !== undefined && this.#columnsOf(object)?.has(foldCase(short)),
      );
      if (isDone) return;
      throw new InvalidSelectionError(`--renamed ${rename}: B has no '${from}'`);
    }
    const table = this.#newNames.get(foldCase(old.object)) ?? old.object;
    const after = this.#meaning(this.#a.findObject(table));
    const names = after?.kind === 'table' ? after.columns.map(({ name }) => name) : [];
    const name = names.find(each => foldCase(each) === foldCase(short));
    if (name === undefined)
      throw new InvalidSelectionError(`--renamed ${rename}: A has no column '${short}' in '${table}'`);
    if (names.some(each => foldCase(each) === foldCase(old.column ?? '')))
      throw new InvalidSelectionError(`--renamed ${rename}: A has a column '${old.column}' too`);
    const renames = this.#renamedColumns.get(foldCase(table)) ?? new Map<string, string>();
    this.#renamedColumns.set(foldCase(table), renames.set(old.column, name));
  }

  #readAllowed(names: readonly string[]): void {
    for (const path of names.flatMap(name => resolvePath(name, this.#columnsOf) ?? [])) {
      this.#allowed.add(pathKey(path));
      const renamed = this.#renamedObjects.get(foldCase(path.object));
      if (renamed !== undefined) this.#allowed.add(pathKey({ ...path, object: renamed }));
    }
  }

  #tableToRebuild(name: string): string {
    const path = resolvePath(name, this.#columnsOf);
    if (this.#a.findObject(path?.object ?? '')?.kind !== 'table')
      throw new InvalidSelectionError(`--rebuild ${name}: A has no such table`);
    return foldCase(path?.object ?? '');
  }

  #meaning(entry: Entry | undefined): Definition | undefined {
    if (!entry) return undefined;
    if (this.#meanings.has(entry)) return this.#meanings.get(entry);
    const findTable = (name: string) => this.#a.findObject(name)?.statement;
    const meaning = parseMeaning(entry.statement, { ...this.options, findTable } as CompareOptions);
    this.#meanings.set(entry, meaning);
    return meaning;
  }

  #emit(statement: string): void {
    this.#statements.push({ statement, consequences: this.#impact.apply(statement) });
  }

  /** Adds a statement to the plan, unless it loses what may not be lost, or breaks a materialized view that stays. */
  #attempt(statement: string, identity: Identity, properties: readonly string[]): boolean {
    const consequences = this.#impact.preview(statement);
    const lost = [...consequences.filter(({ effect }) => effect === 'loss'), ...this.#lostByRefresh(consequences)];
    const forbidden = lost.filter(each => !this.#allowed.has(pathKey(each)));
    const broken = consequences.filter(each => this.#staysBroken(each, statement));
    if (forbidden.length === 0 && broken.length === 0) {
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

  /** What is lost where a materialized view that a statement invalidates is built again from a base that has forgotten more. */
  #lostByRefresh(consequences: readonly Consequence[]): Consequence[] {
    return consequences.flatMap(({ effect, object }): Consequence[] => {
      const view = this.#state.find(object)?.definition;
      if (effect !== 'invalid' || view?.kind !== 'materialized view') return [];
      const base = view.base ?? '';
      const bases = [this.#state.find(base)?.definition];
      if (this.#allowed.has(pathKey({ object: base }))) bases.push(this.#meaning(this.#a.findObject(base)));
      const isKept = Math.min(...bases.map(retention)) >= retention(view);
      if (isKept && !this.#impact.isAhead(object)) return [];
      const text = `rebuilding materialized view '${object}' loses what '${base}' no longer holds`;
      return [{ effect: 'loss', object, text }];
    });
  }

  /** Whether a materialized view could not be refreshed after a statement, as its query would not run. */
  #staysBroken(consequence: Consequence, statement: string): boolean {
    const change = parseChange(statement);
    if (change?.verb !== 'alter') return this.#isUnwanted(consequence) !== undefined;
    const gone = change.alters.flatMap(({ alteration }) =>
      alteration.change === 'drop column' || alteration.change === 'rename column' ? [alteration.column] : [],
    );
    return this.#isUnwantedOver(consequence, gone);
  }

  /** Whether what is invalidated is a materialized view that uses one of these columns, and that A has not, or has in another way. */
  #isUnwantedOver(consequence: Consequence, columns: readonly string[]): boolean {
    const view = this.#isUnwanted(consequence);
    return view !== undefined && columns.some(column => this.#impact.mentions(view, column));
  }

  #isUnwanted({ effect, object }: Consequence): SchemaObject | undefined {
    const view = this.#state.find(object);
    if (effect !== 'invalid' || view?.kind !== 'matview' || !view.definition) return undefined;
    const wanted = this.#meaning(this.#a.findObject(object));
    const differences = wanted && compareDefinitions(wanted, view.definition).differences;
    const isWanted = differences?.every(
      ({ property }) => property !== 'query' && property !== 'base' && property !== 'kind',
    );
    return isWanted ? undefined : view;
  }

  /** Rights that A does not give, or gives without the grant option, go first. */
  #revoke(): void {
    if (this.options.keepExtra) return;
    const wanted = rightsOf(this.#a);
    for (const right of [...this.#state.rights]) if (!wanted.has(right)) this.#emit(printRevocation(right));
  }

  /** Rights on more go first, as they take the place of those on less: where that loses a grant option, it is given again. */
  #grant(): void {
    const rights = [...rightsOf(this.#a)].sort((one, other) => breadth(other) - breadth(one));
    for (const right of rights) {
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
        this.#omit(entry, [property], `${property}: ${b} to ${a}`, `cannot be altered: ${reasonFor(property)}`);
  }

  #dropPrincipals(): void {
    if (this.options.keepExtra) return;
    for (const entry of dumpOrder(this.#b)) {
      if (!isPrincipal(entry.kind) || this.#a.findPrincipal(entry.name)) continue;
      const words = { user: 'USER', group: 'GROUP', 'service-account': 'SERVICE ACCOUNT' }[entry.kind as 'user'];
      this.#attempt(`DROP ${words} ${JSON.stringify(entry.name)};`, entry, []);
    }
  }

  /** Drops what A does not have, and what has to be created again; what reads from others first. */
  #dropObjects(): void {
    for (const entry of dumpOrder(this.#b).reverse()) {
      if (!isObject(entry.kind)) continue;
      const renamed = this.#renamedObjects.get(foldCase(entry.name));
      const wanted = this.#a.findObject(renamed ?? entry.name);
      if (renamed !== undefined && entry.kind === 'table' && wanted?.kind === 'table') continue;
      if (!wanted && this.#isOfRebuild(entry.name)) continue;
      const statement = `DROP ${DROPPED[entry.kind]} '${entry.name}';`;
      if (renamed !== undefined && entry.kind === 'view' && wanted?.kind === 'view') this.#emit(statement);
      else if (!wanted || renamed !== undefined) {
        if (!this.options.keepExtra || renamed !== undefined) this.#dropExtra(statement, entry);
      } else if (wanted.kind !== entry.kind || this.#mustRecreate(entry, wanted))
        this.#dropToRecreate(statement, entry);
    }
  }

  #dropExtra(statement: string, entry: Entry): void {
    const isAllowed = this.#allowed.has(pathKey({ object: entry.name }));
    // A view holds no rows, and yet nobody may have its query elsewhere.
    if (entry.kind === 'view' && !isAllowed)
      this.#omit(entry, [], describe(statement), `loses ${displayName(entry)}`, [formatPath({ object: entry.name })]);
    else this.#attempt(statement, entry, []);
  }

  #dropToRecreate(statement: string, entry: Entry): void {
    const isAllowed = this.#allowed.has(pathKey({ object: entry.name }));
    if (isAllowed && this.#attempt(statement, entry, [])) return;
    this.#blocked.add(foldCase(entry.name));
    if (isAllowed) return;
    const reason = `it can only be dropped and recreated, which loses ${displayName(entry)}${entry.kind === 'view' ? '' : ' and its rows'}`;
    this.#omit(entry, [], describe(statement), reason, [formatPath({ object: entry.name })]);
  }

  #mustRecreate(entry: Entry, wanted: Entry): boolean {
    const [now, then] = [this.#state.find(entry.name)?.definition, this.#meaning(wanted)];
    if (!now || !then || now.kind === 'table' || now.kind === 'view') return false;
    const { differences } = compareDefinitions(then, now);
    if (now.kind === 'live view') return differences.some(({ property }) => !['owner', 'name'].includes(property));
    const isAlterable = (property: string): boolean =>
      ALTERABLE.has(property) && (property !== 'TTL' || canRemoveTtl(then, now));
    return differences.some(({ property }) => !isAlterable(property)) || isDeferred(then) !== isDeferred(now);
  }

  /** A name that another table has yet is taken when that one has been renamed. */
  #renameTables(): void {
    const pending = [...this.#renamedObjects].filter(([from]) => this.#state.find(from)?.kind === 'table');
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

  /** Whether a rebuild of this plan, begun before, has made a table; one that it leaves is no difference. */
  #isOfRebuild(name: string): boolean {
    const { table, role } = parseRebuildName(name) ?? {};
    if (table === undefined || !this.#tablesToRebuild.has(foldCase(table))) return false;
    if (role === 'before') this.#leftovers.add(foldCase(name));
    return true;
  }

  /** Of a rebuild that ended between the two renames the new table, which was checked before, gets its name; half a copy goes. */
  #resumeRebuilds(): void {
    for (const { name } of [...this.#state.objects]) {
      const { table = '', role, mark } = parseRebuildName(name) ?? {};
      if (role !== 'new' || !this.#tablesToRebuild.has(foldCase(table))) continue;
      const isExchanged = !this.#state.find(table) && this.#state.find(`${table}_before_${mark}`);
      this.#emit(isExchanged ? `RENAME TABLE '${name}' TO '${table}';` : `DROP TABLE '${name}';`);
    }
  }

  /** Turns one object of B into what A has. */
  #reconcile(entry: Entry): void {
    const now = this.#state.find(entry.name);
    const isBlocked = this.#blocked.has(foldCase(entry.name));
    if (isBlocked && (now === undefined || now.kind !== entry.kind)) return void this.#omitUnlessListed(entry);
    if (isBlocked && now) return; // it stays as it is
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
    const wanted = this.#meaning(entry);
    if (!wanted || !now.definition || ('query' in wanted && wanted.query !== undefined))
      return this.#omit(entry, [], displayName(entry), 'its syntax is unknown');
    this.#alter(entry, wanted);
    this.#omitUnalterable(entry, wanted);
  }

  #isSame(entry: Entry, now: SchemaObject | undefined): boolean {
    const wanted = this.#meaning(entry);
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
    else if (wanted.kind === 'table' && this.#tablesToRebuild.has(foldCase(entry.name))) this.#rebuild(entry, wanted);
    else if (wanted.kind === 'table') {
      const renamed = this.#renamedColumns.get(foldCase(entry.name)) ?? new Map();
      const before = this.#omissions.length;
      alterTable(wanted, renamed, { current, attempt: attempt('table'), isEnterprise: this.#isEnterprise });
      const isRenamed = [...renamed.keys()].every(
        column => !current<TableDefinition>().columns.some(each => foldCase(each.name) === foldCase(column)),
      );
      if (!isRenamed && this.#omissions.length > before) this.#blocked.add(foldCase(entry.name));
    }
  }

  #rebuild(entry: Entry, wanted: TableDefinition): void {
    const now = this.#state.find(entry.name)?.definition as TableDefinition;
    const renamed = this.#renamedColumns.get(foldCase(entry.name)) ?? new Map();
    const { statements, oldName } = rebuildTable(wanted, now, renamed, this.options.dropOld ?? false);
    const rename = `RENAME TABLE '${now.name}' TO '${oldName}';`;
    const consequences = this.#impact.preview(rename);
    const gone = now.columns.filter(
      ({ name }) => !wanted.columns.some(column => foldCase(column.name) === foldCase(name)),
    );
    const broken = consequences.filter(each =>
      this.#isUnwantedOver(
        each,
        gone.map(({ name }) => name),
      ),
    );
    const lost = [...this.#lostByRefresh(consequences)].filter(each => !this.#allowed.has(pathKey(each)));
    const isDropAllowed =
      !this.options.dropOld || this.#allowed.has(pathKey({ object: now.name })) || isCopied(wanted, now, renamed);
    if (broken.length > 0 || lost.length > 0 || !isDropAllowed) {
      const reason = isDropAllowed
        ? [...broken, ...lost].map(({ text }) => text).join('; ')
        : '--drop-old loses columns, or values, that the new table does not have';
      const allow = isDropAllowed ? lost.map(formatPath) : [formatPath({ object: now.name })];
      return this.#omit(entry, [], `rebuild of table '${now.name}'`, reason, allow);
    }
    if (!this.options.dropOld) this.#leftovers.add(foldCase(oldName));
    for (const statement of statements) this.#emit(statement);
  }

  /** What is different yet no statement changes. */
  #omitUnalterable(entry: Entry, wanted: Definition): void {
    const now = this.#state.find(entry.name)?.definition;
    if (!now) return;
    const listed = this.#omissions
      .filter(({ identity }) => identityKey(identity) === identityKey(entry))
      .flatMap(({ properties }) => (properties.length > 0 ? properties : [ALL]));
    for (const { property, a, b } of compareDefinitions(wanted, now).differences) {
      if (listed.includes(property) || listed.includes(ALL) || (property === 'owner' && this.options.ignoreOwner))
        continue;
      const reason = reasonFor(property);
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

  /** Materialized views that are refreshed no more, by what the plan does or since before, each after the one that it reads from. */
  #refresh(): void {
    const order = [...dumpOrder(this.#a), ...dumpOrder(this.#b)].filter(({ kind }) => kind === 'matview');
    for (const { name } of order) {
      if (!this.#impact.isInvalidated(name)) continue;
      const view = this.#state.find(name) as SchemaObject;
      const statement = `REFRESH MATERIALIZED VIEW '${view.name}' FULL;`;
      // What may be lost was checked before the plan invalidated it.
      if (!this.options.invalidated?.has(foldCase(name))) this.#emit(statement);
      else if (this.#a.findObject(name)) this.#attempt(statement, identityOf(view), []);
    }
  }

  #omitOthers(): void {
    for (const entry of this.#a.entries)
      if (entry.kind === 'other')
        this.#omit(entry, [], displayName(entry), 'it creates no object that can be compared');
  }

  /** @throws Error where what the plan leads to is neither A nor listed */
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
      return `${text}; ${found.kind === 'matview' ? 'REFRESH … FULL' : 'a repair'} follows`;
    });
    return { statement, consequences, costs: costs.length > 0 ? costs : [defaultCost(statement)] };
  }
}

const ALL = '';

const DROPPED: Partial<Record<Kind, string>> = {
  table: 'TABLE',
  view: 'VIEW',
  matview: 'MATERIALIZED VIEW',
  liveview: 'LIVE VIEW',
};

const identityOf = ({ kind, name }: Pick<SchemaObject, 'kind' | 'name'>): Identity => ({ kind, name, verb: 'CREATE' });

/** A statement in few words, for a list. */
const describe = (statement: string): string => statement.replace(/;$/, '').replace(/\s+/g, ' ');

function defaultCost(statement: string): string {
  const { kind } = identify(statement);
  return kind === 'matview' ? 'builds it from its base' : 'metadata only';
}

const rightsOf = (catalog: Catalog): RightSet =>
  new RightSet(
    catalog.entries.filter(({ kind }) => givesRight(kind)).flatMap(({ statement }) => parseRights(statement) ?? []),
  );

/** More for a right on more: on the database, on all tables, on one, on a column. */
function breadth(right: Right): number {
  if (right.kind !== 'grant' || right.table === undefined) return 3;
  if (right.table === '*') return 2;
  return right.column === undefined ? 1 : 0;
}

const isAbout = (omission: Omission, identity: Identity, statement: string): boolean =>
  hasName(identity) && hasName(omission.identity)
    ? identityKey(omission.identity) === identityKey(identity)
    : !hasName(identity) && omission.identity.kind === identity.kind && statement !== '';

const isDeferred = (definition: Definition): boolean =>
  definition.kind === 'materialized view' && definition.refresh.deferred;

const canRemoveTtl = (wanted: Definition, now: Definition): boolean =>
  wanted.kind === 'materialized view' &&
  now.kind === 'materialized view' &&
  canSetTtl(wanted.ttl, now.partitionBy ?? 'DAY');

/** Whether the new table has all columns of the old one, with types that hold all values. */
function isCopied(wanted: TableDefinition, now: TableDefinition, renamed: ReadonlyMap<string, string>): boolean {
  return now.columns.every(({ name, type }) => {
    const to = [...renamed].find(([from]) => foldCase(from) === foldCase(name))?.[1] ?? name;
    return wanted.columns.some(column => foldCase(column.name) === foldCase(to) && column.type === type);
  });
}

function alterMaterializedView(
  wanted: MaterializedViewDefinition,
  current: () => MaterializedViewDefinition,
  attempt: (alteration: Alteration, ...properties: string[]) => boolean,
): void {
  const properties = ['refresh', 'refresh start', 'refresh period', 'refresh time zone'];
  const { differences } = compareDefinitions(wanted, current());
  if (differences.some(({ property }) => properties.includes(property))) {
    const { start } = current().refresh;
    const isTimer = wanted.refresh.type === 'EVERY' && !wanted.refresh.period;
    const refresh: Refresh = { ...wanted.refresh, start: wanted.refresh.start ?? (isTimer ? start : undefined) };
    attempt({ change: 'refresh', refresh }, ...properties);
  }
  if (wanted.ttl !== current().ttl && canSetTtl(wanted.ttl, current().partitionBy ?? 'DAY'))
    attempt({ change: 'ttl', ttl: wanted.ttl }, 'TTL');
}
