/*!
 * Plans the statements that turn schema B into schema A. The first draft has all changes that an engine accepts. Running the draft shows
 * which changes lose something or make a view invalid. The next draft leaves these out, until a draft is proven.
 * A draft and its proof may queue questions. B's server is asked, and the plan is made again with the answers.
 */
import { compareStatements, ownerOf, type PropertyName, tryParseDefinition } from '@sqlpipe/ddl';
import { Engine, type EngineOptions, type StoredRows, whenReady } from '@sqlpipe/engine';
import {
  compareSchemas,
  type Entry,
  IgnoreRules,
  InvalidSelectionError,
  problemsOf,
  Schema,
  selectWanted,
} from '@sqlpipe/schema';
import { displayName, foldCase, hasName, identify, identityKey, isAcl, isObject } from '@sqlpipe/sql';
import { createPrincipals, dropPrincipals, grantRights, revokeRights } from './access-changes.js';
import { findAskableDefinition } from './asked-view.js';
import { assemblePlan, type Plan, type ProvenDraft } from './assemble-plan.js';
import { changeKey, Draft } from './draft.js';
import {
  alterExpiry,
  dropExtraObjects,
  freeNames,
  listUnalterable,
  omitContradictoryRenames,
  reconcileObjects,
  renameTables,
} from './object-changes.js';
import { proveDraft } from './prove.js';
import { dropOldTables, findLeftovers, isAuxiliaryTable, resumeRebuilds } from './rebuild.js';
import { listUnrepaired, refreshViews, resendViewQueries } from './refresh-views.js';
import { findRejectedViews, type RejectedView, RejectedViewError } from './rejected-views.js';
import { Renames } from './renames.js';
import { ServerAnswers } from './server-answers.js';
import type { PlanOptions, Task } from './task.js';
import { AllowedLosses, formatLoss } from './text/losses.js';
import { formatPath, formatPathForShell, resolvePath } from './text/object-path.js';
import type { Omission } from './text/omission.js';
import { markUnfilled } from './unfilled-marks.js';
import { WantedSchema } from './wanted-schema.js';

interface Schemas {
  readonly a: readonly string[];
  readonly b: readonly string[];
}

/**
 * Plans the statements that turn schema B into A.
 * @throws InvalidSelectionError for names that match nothing or are ambiguous; RejectedViewError if a server would reject a view of A,
 *   for example because the view reads something that A lacks; an error without a code if the plan does not lead to A
 */
export async function planChanges(a: Iterable<string>, b: Iterable<string>, options: PlanOptions = {}): Promise<Plan> {
  const inB = [...b];
  const { statements: inA, notes } = selectWanted([...a], inB, options.ignore ?? new IgnoreRules());
  const schemas = { a: inA, b: inB };
  const answers = new ServerAnswers(options);
  const proven = await planUntilAnswered(schemas, answers, options);
  const { omissions } = proven.draft;
  const allowLoss = [...(options.allowLoss ?? [])];
  // Some losses show only if others are allowed. The user needs the names of all at once.
  for (let names = omissions.flatMap(namesOfLosses); names.length > 0; ) {
    allowLoss.push(...names);
    // A view may be rejected only because a loss is allowed now. It must not fail this plan.
    const { draft } = await planUntilAnswered(schemas, answers, { ...options, allowLoss, skipInvalid: true });
    const later = draft.omissions.filter(({ losses = [] }) => losses.length > 0);
    omissions.push(...later);
    names = later.flatMap(namesOfLosses).filter(name => !allowLoss.includes(name));
  }
  const plan = await assemblePlan(proven);
  return { ...plan, notes: [...notes, ...plan.notes] };
}

/** The names of the losses that have to be allowed for a change. */
const namesOfLosses = ({ losses = [] }: Omission): string[] => losses.map(formatLoss);

/** Plans until no question is left. An answer may change the plan, and a changed plan may have new questions. */
async function planUntilAnswered(schemas: Schemas, answers: ServerAnswers, options: PlanOptions): Promise<ProvenDraft> {
  for (;;) {
    const proven = await whenReady(() => planWithAnswers(schemas, answers, options));
    if (await answers.askQuestions()) continue;
    const unasked = [...proven.recomputedInAnyDraft].filter(view => !answers.findHistory(view));
    if (!options.askHistory || unasked.length === 0) return proven;
    for (const view of unasked) await answers.askHistory(view, findAskableDefinition(view, proven.draft.task));
  }
}

/**
 * Plans with the answers so far. A view of A that a server would reject is an error. If B has the same problem, or if `skipInvalid` is set, the
 * plan leaves the view out instead.
 * @throws RejectedViewError
 */
function planWithAnswers({ a, b }: Schemas, answers: ServerAnswers, options: PlanOptions): ProvenDraft {
  const { version, defaults, health } = options;
  const server = { isEnterprise: options.isEnterprise ?? isEnterpriseSchema(b), version, defaults };
  const loadB = () => {
    const engine = createEngine({ ...server, health });
    engine.load(b);
    return engine;
  };
  const task = createTask({ a, b }, loadB(), answers, { ...options, ...server });
  // A view that is invalid in B may be valid as A defines it. So the health of B is replaced by one without invalid views.
  const rejected = findRejectedViews(task, createEngine({ ...server, health: health && {} }));
  if (rejected.length === 0) return draftUntilProven(task, loadB);
  const rejectedInAOnly = options.skipInvalid
    ? []
    : rejected.filter(({ entry }) => !isAlsoRejectedInB(entry, rejected, task));
  if (rejectedInAOnly.length > 0) throw new RejectedViewError(rejectedInAOnly);
  const names = new Set(rejected.map(({ entry }) => foldCase(entry.name)));
  const isAccepted = (statement: string) => {
    const { kind, name } = identify(statement);
    return !isObject(kind) || !names.has(foldCase(name));
  };
  // These views are removed from both schemas, and then listed as left out.
  const proven = planWithAnswers({ a: a.filter(isAccepted), b: b.filter(isAccepted) }, answers, options);
  for (const { entry, reason } of rejected) {
    // If B has a view of this name, the omission is about its validity only. Otherwise it is about the complete view.
    const properties = task.b.findObject(entry.name)?.kind === entry.kind ? (['invalid'] as const) : [];
    const hint = `--ignore ${formatPathForShell(formatPath({ object: entry.name }))} takes it off this list`;
    proven.draft.omit(
      { identity: entry, properties, what: displayName(entry) },
      `it is invalid in A: ${reason}`,
      ...(options.skipInvalid ? [] : [hint]),
    );
  }
  return proven;
}

/** Collects what the parts of the planner need to know. @param engineOfB an engine that has B */
function createTask(
  schemas: Schemas,
  engineOfB: Engine,
  answers: ServerAnswers,
  options: PlanOptions & Pick<Task, 'isEnterprise'>,
): Task {
  const [a, b] = [new WantedSchema(schemas.a, options.defaults), new Schema(schemas.b)];
  const renames = new Renames(a, b, engineOfB, options.renamed ?? []);
  const allowed = new AllowedLosses(options.allowLoss ?? [], renames.findColumns, name => renames.otherName(name));
  const toRebuild = new Set(
    (options.rebuild ?? []).map(name => {
      const { object = '' } = resolvePath(name, renames.findColumns) ?? {};
      if (a.findObject(object)?.kind === 'table') return foldCase(object);
      throw new InvalidSelectionError(`--rebuild ${name}: A has no such table`);
    }),
  );
  return {
    ...options,
    a,
    b,
    renames,
    allowed,
    toRebuild,
    storedRowsOf: view =>
      answers.findHistory(view)?.answer ?? assumeStoredRows(view, engineOfB, allowed, options.askHistory !== undefined),
    engineOfB,
    healthProblems: b.entries.flatMap(entry => problemsOf(entry, options.health ?? {})),
    answers,
    leftovers: findLeftovers(a, engineOfB, toRebuild),
    ignore: options.ignore ?? new IgnoreRules(),
  };
}

/** What is assumed about the rows of a materialized view of B until the server has answered. @param hasServer whether it can be asked */
function assumeStoredRows(view: string, engineOfB: Engine, allowed: AllowedLosses, hasServer: boolean): StoredRows {
  // If the loss is allowed, no assertion checks the rows, so nothing is assumed.
  if (allowed.allows({ kind: 'history', object: view })) return 'unknown';
  if (engineOfB.wasNeverRefreshed(view)) return 'none';
  // Without a server, only an assertion of the plan checks the rows. It cannot see that a full refresh of a view with periods leaves out the
  // current period, so the answer for such a view is `unknown`.
  const definition = engineOfB.definitionOf(view);
  const hasPeriod = definition?.kind === 'materialized view' && definition.refresh.period !== undefined;
  return hasPeriod && !hasServer ? 'unknown' : 'recomputable';
}

/** Drafts plans until one is proven. Each draft leaves out the changes that the proofs of the earlier ones have excluded. */
function draftUntilProven(task: Task, loadB: () => Engine): ProvenDraft {
  const excluded = new Map<string, Omission>();
  const recomputed = new Set<string>();
  for (;;) {
    const draft = draftPlan(task, loadB(), excluded);
    const proof = proveDraft(draft, loadB());
    for (const view of proof.recomputed.keys()) recomputed.add(view);
    if (proof.excluded.length === 0) {
      requireLeadsToA(draft);
      // This draft did not try the excluded changes of objects that are blocked now, so its omissions lack them. They are added, so that
      // the user sees the names of all losses at once.
      const named = new Set(draft.omissions.flatMap(namesOfLosses));
      const namesNewLoss = (omission: Omission) => namesOfLosses(omission).some(name => !named.has(name));
      draft.omissions.push(...[...excluded.values()].filter(namesNewLoss));
      return { draft, proof, recomputedInAnyDraft: recomputed };
    }
    const countBefore = excluded.size;
    for (const omission of proof.excluded) excluded.set(changeKey(omission), omission);
    // Without a new exclusion, the next draft would be the same.
    if (excluded.size === countBefore)
      throw new Error(
        `the plan cannot be proven: ${proof.excluded.map(({ what, reasons }) => `${what}: ${reasons.join('; ')}`).join('; ')}`,
      );
  }
}

/**
 * Creates an empty engine, which executes statements as a server would. The version of an enterprise server is ignored: the engine
 * knows only versions of the open-source edition.
 */
export const createEngine = ({ isEnterprise, version, defaults, health }: EngineOptions): Engine =>
  new Engine({ isEnterprise, version: isEnterprise ? undefined : version, rows: 'assumed', defaults, health });

/** Whether a view is rejected in B for the same reason: B has the same view and rejects it, or the view reads from such a view. */
function isAlsoRejectedInB(
  entry: Entry,
  rejected: readonly RejectedView[],
  task: Task,
  seen = new Set<Entry>(),
): boolean {
  const { a, b, engineOfB } = task;
  seen.add(entry);
  const existing = b.findObject(entry.name)?.statement;
  const isSame = existing !== undefined && compareStatements(entry.statement, existing).differences.length === 0;
  if (isSame && engineOfB.whyNotCreatable(entry.name) !== undefined) return true;
  const isRejected = (needed: Entry) => rejected.some(view => view.entry === needed);
  return a
    .prerequisites(entry)
    .some(needed => !seen.has(needed) && isRejected(needed) && isAlsoRejectedInB(needed, rejected, task, seen));
}

/** Whether statements come from an enterprise edition: only it has access control, owners and storage policies. */
export const isEnterpriseSchema = (statements: readonly string[]): boolean =>
  statements.some(statement => {
    // Parsing is slow, so only a statement with the word is parsed.
    const definition = /\bstorage\b/i.test(statement) ? tryParseDefinition(statement) : undefined;
    const hasPolicy = definition?.kind === 'table' && definition.policy !== undefined;
    return hasPolicy || isAcl(identify(statement).kind) || ownerOf(statement) !== undefined;
  });

/**
 * Drafts the steps in their order. Destructive steps come last, except those whose result another step needs, such as a freed name or a
 * dropped column.
 */
function draftPlan(task: Task, engine: Engine, excluded: ReadonlyMap<string, Omission>): Draft {
  const draft = new Draft(engine, excluded, task);
  omitContradictoryRenames(draft);
  revokeRights(draft);
  createPrincipals(draft);

  freeNames(draft);
  renameTables(draft);
  resumeRebuilds(draft);

  reconcileObjects(draft);
  resendViewQueries(draft);
  refreshViews(draft);
  markUnfilled(draft);
  grantRights(draft);

  // Destructive steps that no other step needs.
  dropOldTables(draft);
  alterExpiry(draft);
  dropExtraObjects(draft);
  dropPrincipals(draft);
  grantRights(draft); // again: the rights that a dropped principal had granted to others are gone

  // What the plan does not change.
  listUnalterable(draft);
  listUnrepaired(draft);
  return draft;
}

/** Requires that the draft leads to A, except for its omissions. @throws Error for another difference */
function requireLeadsToA(draft: Draft): void {
  const { engine, omissions, task } = draft;
  const { a: wanted, keepExtra, defaults, ignoreOwner = false, ignore } = task;
  const { differences } = compareSchemas(
    wanted.entries.map(({ statement }) => statement),
    engine.statements(),
    { defaults, ignoreOwner, ignore },
  );
  for (const { identity, a: entry, comparison } of differences) {
    if (entry === undefined && (keepExtra || isAuxiliaryTable(identity.name, task))) continue;
    const omitted = omissions.filter(omission =>
      hasName(identity)
        ? hasName(omission.identity) && identityKey(omission.identity) === identityKey(identity)
        : omission.identity.kind === identity.kind,
    );
    const isOmitted = (property: PropertyName) =>
      omitted.some(({ properties }) => properties.length === 0 || properties.includes(property));
    const unexplained = comparison ? comparison.differences.filter(({ property }) => !isOmitted(property)) : [];
    // A blocked object is changed only in part, so it may also differ in properties that its omissions do not list.
    if (omitted.length > 0 && (unexplained.length === 0 || draft.isBlocked(identity.name))) continue;
    throw new Error(
      `the plan does not lead to A: ${displayName(identity)}${unexplained.map(({ property, a: to, b: from }) => `: ${property}: ${from} to ${to}`).join('')}`,
    );
  }
}
