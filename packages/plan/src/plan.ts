/*!
 * Planning. A draft is a list of steps that turn schema B into A. A proof executes the steps on an engine, and excludes changes that lose
 * data. Three loops plan again, one in the other, because what each of them looks for shows only when the inner one has ended:
 * - `planChanges`: some losses show only in a plan that allows others, and the user needs the names of all losses at once.
 * - `planUntilAnswered`: a plan has questions about rows, and the answers may change it.
 * - `draftUntilProven`: a proof excludes changes, and the next draft leaves them out.
 */
import { compareDefinitions, compareStatements, isEnterpriseSchema, type PropertyDifference } from '@sqlpipe/ddl';
import { createPredictingEngine, type Engine, whenReady } from '@sqlpipe/engine';
import { type Entry, formatIgnorePattern, IgnoreRules, Schema, selectWanted } from '@sqlpipe/schema';
import { displayName, isObjectKind, NameSet } from '@sqlpipe/sql';
import { CodedError } from '@sqlpipe/text';
import { assemblePlan, type Plan, type ProvenDraft } from './assemble-plan.js';
import {
  createPlanContext,
  ignoresProperty,
  type PlanContext,
  type PlanOptions,
  type SchemaPair,
} from './context/plan-context.js';
import { ServerAnswers } from './context/server-answers.js';
import { alterExpiry } from './draft/alter-object.js';
import { Draft, omitRemaining } from './draft/draft.js';
import { dropOldTables, resumeRebuilds } from './draft/rebuild.js';
import { createPrincipals, grantRights, revokeRights } from './draft/reconcile-acl.js';
import {
  dropExtra,
  dropToFreeNames,
  omitContradictoryRenames,
  reconcileTables,
  renameTables,
} from './draft/reconcile-objects.js';
import { omitUnrepaired, reconcileMarks, reconcileStoredViews } from './draft/refresh-views.js';
import { changeKey, describeChange, formatLoss, formatPathForShell, type NamedLoss, type Omission } from './losses.js';
import { proveDraft } from './proof/prove.js';
import { findRunnableView } from './views/view-queries.js';

/**
 * Plans the statements that turn schema B into A. The plan leaves out a change that is impossible, or that loses data without permission.
 * @throws InvalidOptionError if a name in the options matches nothing, is ambiguous or contradicts a schema
 * @throws RejectedViewError if a server would reject a view of A, see `planWithAnswers`
 * @throws Error, which is a bug of the planner, if the plan cannot be proven or does not lead to A
 * @throws what the options `fetchHistory`, `fetchRow` and `fetchSizes` throw
 */
export async function planChanges(a: Iterable<string>, b: Iterable<string>, given: PlanOptions = {}): Promise<Plan> {
  const statementsOfB = [...b];
  const { statements: statementsOfA, notes } = selectWanted([...a], statementsOfB, given.ignore ?? new IgnoreRules());
  const schemas = { a: new Schema(statementsOfA, given.defaults), b: new Schema(statementsOfB) };
  const options = { ...given, isEnterprise: given.isEnterprise ?? isEnterpriseSchema(statementsOfB) };
  const answers = new ServerAnswers(options);
  const proven = await planUntilAnswered(schemas, answers, options);
  const omissions = [...proven.omissions];
  const allowLoss = [...(options.allowLoss ?? [])];
  let newNames = omissions.flatMap(namesOfLosses);
  while (newNames.length > 0) {
    allowLoss.push(...newNames);
    // Suppose A lacks table `t`, but has a view of `t`. The trial drops `t`, so a server would reject the view. This must not be an error.
    const trial = await planUntilAnswered(schemas, answers, { ...options, allowLoss, skipInvalid: true });
    const lossyOmissions = trial.omissions.filter(({ losses }) => losses.length > 0);
    omissions.push(...lossyOmissions);
    newNames = lossyOmissions.flatMap(namesOfLosses).filter(name => !allowLoss.includes(name));
  }
  const plan = await assemblePlan({ ...proven, omissions });
  return { ...plan, notes: [...notes, ...plan.notes] };
}

const namesOfLosses = ({ losses }: Omission): string[] => losses.map(formatLoss);

/** Plans and asks the server, until no question is left: a plan that an answer has changed may have new questions. */
async function planUntilAnswered(pair: SchemaPair, answers: ServerAnswers, options: PlanOptions): Promise<ProvenDraft> {
  for (;;) {
    const proven = await whenReady(() => planWithAnswers(pair, answers, options));
    if (await answers.fetchQueuedAnswers()) continue;
    // Questions about the history of a view scan all of its rows. So they are asked last, and only about views that a draft recomputes.
    // `undefined` stands for the query that the view has in B.
    for (const { view, queryAfterPlan } of proven.recomputedByDrafts)
      for (const query of new Set([undefined, queryAfterPlan]))
        answers.queueHistory(view, () => findRunnableView(view, proven.draft.context, query), query);
    if (!(await answers.fetchQueuedAnswers())) return proven;
  }
}

/**
 * Plans with the answers that the server has given so far. A server may reject a view of A, for example because the view reads a missing
 * table. The plan does not touch such a view if B has the same problem (`isAlsoRejectedInB`), or if `skipInvalid` is set.
 * @throws RejectedViewError for any other view of A that a server would reject
 */
function planWithAnswers({ a, b }: SchemaPair, answers: ServerAnswers, options: PlanOptions): ProvenDraft {
  const loadEngineOfB = () => {
    const engine = createPredictingEngine(options);
    engine.load(b.statements);
    return engine;
  };
  const context = createPlanContext({ a, b }, loadEngineOfB(), answers, options);
  const rejected = findRejectedViews(context);
  if (rejected.length === 0) return draftUntilProven(context, loadEngineOfB);
  const rejectedInAOnly = options.skipInvalid
    ? []
    : rejected.filter(({ entry }) => !isAlsoRejectedInB(entry, rejected, context));
  if (rejectedInAOnly.length > 0) throw new RejectedViewError(rejectedInAOnly);
  const names = new NameSet(rejected.map(({ entry }) => entry.name));
  const isAccepted = ({ kind, name }: Entry) => !isObjectKind(kind) || !names.has(name);
  // The rejected views are removed from both schemas. So the plan does not touch these views, whatever differs.
  const proven = planWithAnswers({ a: a.filter(isAccepted), b: b.filter(isAccepted) }, answers, options);
  const omissionsOfRejected = rejected.flatMap(view => omitRejected(view, context, options));
  return { ...proven, omissions: [...proven.omissions, ...omissionsOfRejected] };
}

/** Lists a rejected view as left out, unless B has it too and `--ignore` covers `invalid` and all properties that differ. */
function omitRejected({ entry, reason }: RejectedView, context: PlanContext, { skipInvalid }: PlanOptions): Omission[] {
  const inB = context.b.findObject(entry.name);
  const isInB = inB?.kind === entry.kind;
  const differences = isInB ? compareStatements(entry.statement, inB.statement).differences : [];
  const differing = isInB ? (['invalid', ...differences.map(({ property }) => property)] as const) : [];
  const properties = differing.filter(property => !ignoresProperty(context, entry, property));
  if (isInB && properties.length === 0) return [];
  const hint = `--ignore ${formatPathForShell(formatIgnorePattern(entry.name))} takes it off this list`;
  const reasons = [`it is invalid in A: ${reason}`];
  const change = describeChange(entry, displayName(entry), properties);
  return [{ ...change, reasons, losses: [], hints: skipInvalid ? [] : [hint] }];
}

/** Drafts a plan and proves it. The next draft leaves out what a proof has excluded, until a proof excludes nothing. */
function draftUntilProven(context: PlanContext, loadEngineOfB: () => Engine): ProvenDraft {
  const excluded = new Map<string, Omission>();
  const recomputedViews: { view: string; queryAfterPlan: string | undefined }[] = [];
  const acceptedLosses: NamedLoss[] = [];
  for (;;) {
    const draft = draftPlan(context, loadEngineOfB(), excluded);
    const proof = proveDraft(draft, loadEngineOfB());
    for (const [view, { queryAfterPlan }] of proof.rows.recomputedViews) recomputedViews.push({ view, queryAfterPlan });
    acceptedLosses.push(...proof.acceptedLosses);
    if (proof.excluded.length === 0) {
      omitRemaining(draft);
      omitUnrepaired(draft);
      // A loss that only an earlier draft had is listed too, because the user needs the names of all losses at once.
      const named = new Set(draft.omissions.flatMap(namesOfLosses));
      const hasNewLoss = (omission: Omission) => namesOfLosses(omission).some(name => !named.has(name));
      const omissions = [...draft.omissions, ...[...excluded.values()].filter(hasNewLoss)];
      return { draft, proof, omissions, recomputedByDrafts: recomputedViews, acceptedByDrafts: acceptedLosses };
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

/** Steps that can fail without harm come first. Destructive steps come last, except a DROP that frees a name for another step. */
function draftPlan(context: PlanContext, engine: Engine, excluded: ReadonlyMap<string, Omission>): Draft {
  const draft = new Draft(engine, excluded, context);
  omitContradictoryRenames(draft);
  revokeRights(draft); // first, so that an interrupted plan leaves too few rights instead of too many
  createPrincipals(draft);

  dropToFreeNames(draft);
  renameTables(draft);
  resumeRebuilds(draft);

  reconcileTables(draft);
  reconcileStoredViews(draft);
  reconcileMarks(draft);
  grantRights(draft);

  dropOldTables(draft);
  alterExpiry(draft);
  dropExtra(draft);
  grantRights(draft); // again: a DROP above may have removed a right that A grants; the GRANT fails now, so it is listed as left out
  return draft;
}

/** A server would reject views of A, for example because they read something that A lacks. */
export class RejectedViewError extends CodedError {
  override name = 'RejectedViewError';

  constructor(readonly problems: readonly RejectedView[]) {
    const lines = problems.map(({ entry, reason }) => `${displayName(entry)}: ${reason}`);
    super('DAMAGED', 'the wanted schema is not valid', { lines });
  }
}

interface RejectedView {
  readonly entry: Entry;
  readonly reason: string;
}

/** Checking a view takes milliseconds, so only those are checked that differ from B or read what differs. */
function findRejectedViews({ a, engineOfB, wantedEngine: engine }: PlanContext): RejectedView[] {
  const isDifferent = (name: string): boolean => {
    const [wanted, former] = [engine.definitionOf(name), engineOfB.definitionOf(name)];
    return !wanted || !former || compareDefinitions(wanted, former).differences.length > 0;
  };
  const lacksReference = (name: string): boolean => {
    const object = engine.find(name);
    return object !== undefined && 'references' in object && object.references.some(each => !engine.find(each));
  };
  const { catalogue } = engine;
  const names = catalogue.list().map(({ name }) => name);
  const affected = catalogue.withReaders(names.filter(name => lacksReference(name) || isDifferent(name)));
  return names.flatMap(name => {
    const entry = affected.has(name) ? a.findObject(name) : undefined;
    const reason = entry && engine.findUnresolvedReason(name);
    return entry && reason !== undefined ? [{ entry, reason }] : [];
  });
}

/** Whether a view is rejected in B for the same reason: B has the same view and rejects it, or the view reads from such a view. */
function isAlsoRejectedInB(
  entry: Entry,
  rejected: RejectedView[],
  context: PlanContext,
  seen = new Set<Entry>(),
): boolean {
  const { a, b, engineOfB } = context;
  seen.add(entry);
  const former = b.findObject(entry.name);
  const isIgnored = ({ property }: PropertyDifference) => ignoresProperty(context, entry, property);
  const isSame = former && compareStatements(entry.statement, former.statement).differences.every(isIgnored);
  if (isSame && engineOfB.findUnresolvedReason(entry.name) !== undefined) return true;
  const isRejected = (needed: Entry) => rejected.some(view => view.entry === needed);
  return a
    .dependenciesOf(entry)
    .some(needed => !seen.has(needed) && isRejected(needed) && isAlsoRejectedInB(needed, rejected, context, seen));
}
