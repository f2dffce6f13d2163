import {
  type CompareOptions,
  type Definition,
  findColumn,
  findProperty,
  type Grant,
  type PropertyName,
  printRight,
  type Right,
} from '@sqlpipe/ddl';
import { createPredictingEngine, type Engine, type ExternalFacts } from '@sqlpipe/engine';
import {
  type Health,
  type HealthProblem,
  IgnoreRules,
  InvalidOptionError,
  problemsOf,
  type Schema,
  toUnambiguousEntry,
} from '@sqlpipe/schema';
import { addToList, isObjectKind, type KindAndName, NameMap, NameSet } from '@sqlpipe/sql';
import { type AuxiliaryTables, findInterruptedRebuilds } from '../auxiliary.js';
import { AllowedLosses, resolvePath } from '../losses.js';
import type { Assertion } from '../queries/assertions.js';
import { formatIgnoredObject, Renames } from '../renames.js';
import type { RowQueries, ServerAnswers } from './server-answers.js';

/** The options that say what a plan keeps. */
export interface KeepOptions {
  /** Whether the plan keeps objects, principals and rights that only B has. Then they do not count as differences. */
  readonly ignoreExtra?: boolean | undefined;
  readonly ignoreOwner?: boolean | undefined;
  /** The differences that the plan neither changes nor lists. */
  readonly ignore: IgnoreRules;
}

/** Options for planning. */
export interface PlanOptions extends RowQueries, Partial<KeepOptions> {
  readonly firstAssertions?: readonly Assertion[];
  /** Names such as `drop:trades.qty` and `history:m_1h`. */
  readonly allowLoss?: readonly string[];
  /** `old=new` or `trades.old=new`. */
  readonly renamed?: readonly string[];
  /** The tables to rebuild. A table is not rebuilt if only its retention differs. */
  readonly rebuild?: readonly string[];
  readonly defaults?: CompareOptions['defaults'];
  readonly dropOld?: boolean;
  readonly health?: Health;
  readonly version?: string | undefined;
  /** Whether views that are invalid in A are left out. Otherwise they are an error, except those that B also rejects. */
  readonly skipInvalid?: boolean;
  /** Whether B is of the enterprise edition. By default, the statements of B decide. */
  readonly isEnterprise?: boolean | undefined;
  /** Why the grants of B are not known. If set, the plan replaces no object, because it could not give back the grants on the object. */
  readonly hiddenGrants?: string | undefined;
}

/** Everything that the planner knows. The plan turns schema B into A. Nothing changes the engines. */
export interface PlanContext
  extends AuxiliaryTables,
    KeepOptions,
    Pick<PlanOptions, 'defaults' | 'dropOld' | 'firstAssertions' | 'hiddenGrants' | 'version'> {
  readonly b: Schema;
  readonly renames: Renames;
  /** An engine with the objects of A, and with those that only B has and the plan keeps. */
  readonly wantedEngine: Engine;
  readonly answers: ServerAnswers;
  readonly findStoredRows: Required<ExternalFacts>['findStoredRows'];
  readonly healthProblems: readonly HealthProblem[];
  readonly allowed: AllowedLosses;
  /** The grants of B that the plan keeps although A may lack them, with the names after the plan, by the object that they are on. */
  readonly keptGrants: NameMap<Grant[]>;
}

export type SchemaPair = Pick<PlanContext, 'a' | 'b'>;

export function createPlanContext(pair: SchemaPair, engineOfB: Engine, answers: ServerAnswers, options: PlanOptions) {
  const { a, b } = pair;
  const ignore = options.ignore ?? new IgnoreRules();
  const renames = new Renames(a, b, engineOfB, ignore, options.renamed);
  const { findColumns } = renames;
  const allowed = new AllowedLosses(options.allowLoss ?? [], findColumns, path => renames.findPaths(path));
  const tablesToRebuild = new NameSet(
    (options.rebuild ?? []).map(name => {
      const { object = '' } = resolvePath(name, findColumns) ?? {};
      if (a.findObject(object)?.kind === 'table') return object;
      const isIgnored = ignore.ignoresObject({ kind: 'table', name: object });
      const reason = isIgnored ? formatIgnoredObject(object) : 'A has no such table';
      throw new InvalidOptionError(`--rebuild ${name}: ${reason}`);
    }),
  );
  const context: PlanContext = {
    ...options,
    ...pair,
    renames,
    engineOfB,
    wantedEngine: createWantedEngine(pair, allowed, options),
    allowed,
    tablesToRebuild,
    findStoredRows(view, query) {
      const history = answers.findHistory(view, query);
      if (history) return history.answer;
      // If the loss is allowed, no assertion checks the rows, so nothing is known of them.
      if (allowed.allows({ lossKind: 'history', object: view })) return 'unknown';
      // An assertion of the plan will check that the query returns the stored rows.
      return engineOfB.wasNeverRefreshed(view) ? 'none' : 'recomputable';
    },
    healthProblems: b.entries.flatMap(entry => problemsOf(entry, options.health ?? {})),
    answers,
    ...findInterruptedRebuilds(a, engineOfB, tablesToRebuild),
    ignore,
    keptGrants: findKeptGrants(engineOfB, renames, { ...options, ignore }),
  };
  return context;
}

function createWantedEngine({ a, b }: SchemaPair, allowed: AllowedLosses, options: PlanOptions): Engine {
  const { ignoreExtra, ignore, health } = options;
  const keptEntries = b.entries.filter(
    entry =>
      isObjectKind(entry.kind) &&
      !a.findObject(entry.name) &&
      (ignoreExtra || ignore?.ignoresObject(entry) || !allowed.allows({ lossKind: 'drop', object: entry.name })),
  );
  // A view that is invalid in B may be valid as A defines it. So if B has a health, this engine gets an empty one, which lists no view.
  // With a health, the engine trusts the server about a view that the engine itself would reject (`compileLoaded`).
  const engine = createPredictingEngine({ ...options, health: health && {} });
  engine.load([...a.entries, ...keptEntries].map(({ statement }) => statement));
  return engine;
}

/** Whether the query of a view of B returns all rows that the view stores. */
export function losesNothingByRefresh(view: string, { findStoredRows }: PlanContext): boolean {
  const answer = findStoredRows(view);
  return answer === 'none' || answer === 'recomputable';
}

/** Whether an option ignores a property of an object. */
export const ignoresProperty = (options: KeepOptions, identity: KindAndName, property: PropertyName): boolean =>
  (options.ignoreOwner && property === 'owner') || options.ignore.ignoresProperty(identity, property);

/** Whether an object that takes the place of a former one keeps a property of it: A leaves it open, or an option ignores it. */
export function keepsProperty(options: KeepOptions, wanted: Definition, property: PropertyName): boolean {
  const entry = findProperty(property, wanted.kind);
  return (entry?.isOptional && entry.value(wanted) === undefined) || ignoresProperty(options, wanted, property);
}

/** Whether the plan keeps a right that only B has. */
export const keepsRight = (right: Right, { ignoreExtra = false, ignore }: KeepOptions): boolean =>
  ignoreExtra || (ignore.hasObjectRules && ignore.ignoresObject(toUnambiguousEntry(printRight(right))));

function findKeptGrants(engineOfB: Engine, renames: Renames, options: KeepOptions): NameMap<Grant[]> {
  const grants = new NameMap<Grant[]>();
  for (const right of engineOfB.acl.rights) {
    if (right.kind !== 'grant' || right.table === undefined || !keepsRight(right, options)) continue;
    const table = renames.nameAfterPlan(right.table);
    const column = right.column && (renames.columnRenamesOf(table).get(right.column) ?? right.column);
    addToList(grants, table, { ...right, table, column });
  }
  return grants;
}

/** Finds the kept grants that an engine lacks because of a DROP, although it has the object, the column and the principal again. */
export function findRemovedGrants(table: string, engine: Engine, { engineOfB, keptGrants }: PlanContext): Grant[] {
  const grants = keptGrants.get(table) ?? [];
  const object = grants.length > 0 ? engine.catalogue.compileAndFind(table) : undefined;
  if (!object) return [];
  // B may be known without its principals. Then nothing in the plan drops one.
  const isDropped = ({ entity }: Grant) => engineOfB.acl.find(entity) !== undefined && !engine.acl.find(entity);
  return grants.filter(
    grant =>
      !engine.acl.rights.includes(grant) &&
      !isDropped(grant) &&
      (grant.column === undefined || findColumn(object, grant.column) !== undefined),
  );
}
