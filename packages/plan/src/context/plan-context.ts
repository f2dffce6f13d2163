import type { CompareOptions } from '@sqlpipe/ddl';
import { createPredictingEngine, type Engine, type ExternalFacts } from '@sqlpipe/engine';
import { type Health, type HealthProblem, IgnoreRules, InvalidOptionError, problemsOf, Schema } from '@sqlpipe/schema';
import { isObjectKind, NameSet } from '@sqlpipe/sql';
import type { AuxiliaryTables } from '../auxiliary/auxiliary-tables.js';
import { findLeftovers, findTablesBetweenRenames } from '../auxiliary/rebuild-names.js';
import { AllowedLosses, resolvePath } from '../losses/losses.js';
import type { Assertion } from '../queries/assertions.js';
import { formatIgnoredObject, RenameReader } from '../renames/read-renames.js';
import type { Renames } from '../renames/renames.js';
import { findKeptGrants, type KeepOptions } from './kept-of-b.js';
import type { RowQueries, ServerAnswers } from './server-answers.js';

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

/** The plan turns schema B into A. Nothing changes the engines. */
export interface Schemas {
  readonly a: Schema;
  readonly b: Schema;
  readonly renames: Renames;
  /** An engine with the objects of B. */
  readonly engineOfB: Engine;
  /** An engine with the objects of A, and with those that only B has and the plan keeps. */
  readonly wantedEngine: Engine;
}

export type SchemaPair = Pick<Schemas, 'a' | 'b'>;

/** What is known of B's server, besides its schema. */
export interface ServerFacts extends Pick<PlanOptions, 'hiddenGrants' | 'version'> {
  readonly answers: ServerAnswers;
  readonly findStoredRows: Required<ExternalFacts>['findStoredRows'];
  readonly healthProblems: readonly HealthProblem[];
}

type Choices = KeepOptions & Pick<PlanOptions, 'defaults' | 'dropOld' | 'firstAssertions'>;

/** Everything that the planner knows. A function that needs only a part of it says which one. */
export interface PlanContext extends Schemas, Choices, ServerFacts, AuxiliaryTables {
  readonly allowed: AllowedLosses;
  readonly renameReader: Pick<RenameReader, 'notes' | 'warnings' | 'contradictions'>;
  /** The grants of B that the plan keeps although A may lack them (`findKeptGrants`). */
  readonly keptGrants: ReturnType<typeof findKeptGrants>;
}

export function createPlanContext(
  { a, b }: SchemaPair,
  engineOfB: Engine,
  answers: ServerAnswers,
  options: PlanOptions,
): PlanContext {
  const ignore = options.ignore ?? new IgnoreRules();
  const renameReader = new RenameReader(a, b, engineOfB, ignore, options.renamed);
  const { renames, findColumns } = renameReader;
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
  const leftovers = findLeftovers(a, engineOfB, tablesToRebuild);
  const wantedEngine = createWantedEngine({ a, b }, allowed, options);
  const schemas: Schemas = { a, b, renames, engineOfB, wantedEngine };
  return {
    ...options,
    ...schemas,
    renameReader,
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
    leftovers,
    tablesBetweenRenames: findTablesBetweenRenames(a, engineOfB, leftovers),
    ignore,
    keptGrants: findKeptGrants(engineOfB, renames, { ...options, ignore }),
  };
}

function createWantedEngine({ a, b }: SchemaPair, allowed: AllowedLosses, options: PlanOptions): Engine {
  const { ignoreExtra, ignore, defaults, health } = options;
  const keptEntries = b.entries.filter(
    entry =>
      isObjectKind(entry.kind) &&
      !a.findObject(entry.name) &&
      (ignoreExtra || ignore?.ignoresObject(entry) || !allowed.allows({ lossKind: 'drop', object: entry.name })),
  );
  // A view that is invalid in B may be valid as A defines it. So if B has a health, this engine gets an empty one, which lists no view.
  // With a health, the engine trusts the server about a view that the engine itself would reject (`compileLoaded`).
  const engine = createPredictingEngine({ ...options, health: health && {} });
  const statements = [...a.entries, ...keptEntries].map(({ statement }) => statement);
  engine.load(new Schema(statements, defaults).statements);
  return engine;
}

/** Whether the query of a view of B returns all rows that the view stores. */
export function losesNothingByRefresh(view: string, { findStoredRows }: Pick<ServerFacts, 'findStoredRows'>): boolean {
  const answer = findStoredRows(view);
  return answer === 'none' || answer === 'recomputable';
}
