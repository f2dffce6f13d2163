/*!
 * Proves a plan by running it on an engine that has B: the engine accepts each statement, no rows of B are lost without permission, and no
 * view becomes invalid. A change that causes a failure is excluded: the next draft leaves it out.
 */
import { printRight } from '@sqlpipe/ddl';
import { type Effect, type Engine, type Execution, type ExternalFacts, RowAccount } from '@sqlpipe/engine';
import { displayName, isSameName, NameMap, NameSet } from '@sqlpipe/sql';
import { isAuxiliaryTable, parseMark, parseRebuildName } from '../auxiliary.js';
import { findRemovedGrants, keepsProperty, losesNothingByRefresh, type PlanContext } from '../context/plan-context.js';
import { type Draft, formatExecutionError, type Step } from '../draft/draft.js';
import { type Change, changeKey, type NamedLoss, type Omission } from '../losses.js';
import { printCompileQuestion, printComputableAssertion } from '../queries/with-queries.js';
import { printFullRefresh } from '../statements.js';
import { createRowQuestions, findRunnableView, isRedefined, printQueryAfterPlan } from '../views/view-queries.js';

export interface Proof {
  /** The effects of each step. If a step was rejected, the list ends before this step. */
  readonly effects: readonly (readonly Effect[])[];
  /** The changes that must be left out; empty if the plan is proven. */
  readonly excluded: readonly (Change & Omission)[];
  readonly rows: RowAccount;
  /** The allowed losses that the steps cause. */
  readonly acceptedLosses: readonly NamedLoss[];
}

interface Failure {
  /** The indexes of steps. */
  readonly causes: readonly number[];
  readonly reason: string;
  readonly loss?: NamedLoss;
  readonly hint?: string | undefined;
}

/** @param engine has B; the proof executes the steps on it, up to the first one that is rejected */
export function proveDraft(draft: Draft, engine: Engine): Proof {
  const { steps, context } = draft;
  const rows = new RowAccount(engine, createExternalFacts(context, engine));
  const repairable = new RepairableViews(engine);
  const effects: (readonly Effect[])[] = [];
  /** For each name that an object had, the last step after which no object had it. */
  const removals = new NameMap<number>();
  const reject = (index: number, reason: string): Proof => ({
    effects,
    excluded: toOmissions([{ causes: [index], reason }], steps),
    rows,
    acceptedLosses: [],
  });
  for (const [index, { statement, assertion }] of steps.entries())
    try {
      if (assertion) rows.recordAssertion(assertion);
      const execution = engine.execute(statement);
      const reason = findUnusableQuery(execution, engine, context);
      if (reason !== undefined) return reject(index, reason);
      effects.push(rows.recordStatement(statement, execution));
      repairable.recordStep(execution, index);
      for (const { before, after } of execution.transitions) if (before && !after) removals.set(before.name, index);
    } catch (error) {
      return reject(index, formatExecutionError(error, statement));
    }
  const failures: Failure[] = [];
  const acceptedLosses: NamedLoss[] = [];
  for (const { effect, causes } of rows.losses()) {
    const { lossKind, object, column, text } = effect;
    // A mark, or the new table of an interrupted rebuild, is no loss. The loss of an old table `t_before_…` has the name of `t`.
    if (lossKind === undefined || context.leftovers.has(object) || parseMark(object, context) !== undefined) continue;
    const table = isAuxiliaryTable(object, context) ? parseRebuildName(object)?.table : undefined;
    const loss = { lossKind, object: table ?? object, column };
    const changedValues = lossKind === 'values' ? draft.formatChangedValues({ object, column }) : '';
    if (context.allowed.allows(loss)) acceptedLosses.push(loss);
    else failures.push({ causes, reason: text + changedValues, loss });
  }
  failures.push(...findInvalidatedViews(rows, repairable, engine, context));
  failures.push(...findLostRights(removals, engine, context));
  return { effects, excluded: toOmissions(failures, steps), rows, acceptedLosses };
}

/** Finds the objects that would lose the grants or the owner of B. What A states is not compared here: `omitRemaining` does that. */
function findLostRights(removals: NameMap<number>, engine: Engine, context: PlanContext): Failure[] {
  const { a, engineOfB, hiddenGrants, renames } = context;
  return [...removals].flatMap(([name, index]): Failure[] => {
    const former = engineOfB.find(name);
    const object = engine.find(renames.nameAfterPlan(name));
    if (!former || !object) return [];
    const grants = findRemovedGrants(object.name, engine, context).map(printRight);
    const { owner } = former;
    const wanted = a.definitionOf(object.name);
    const isOwnerKept = !wanted || keepsProperty(context, wanted, 'owner');
    const isOwnerGone = owner === undefined || (engineOfB.acl.find(owner) && !engine.acl.find(owner));
    const isOwnerLost = isOwnerKept && !isOwnerGone && !isSameName(object.owner, owner);
    return [
      ...grants.map(grant => `nothing in the plan gives back ${grant.replace(/;$/, '')}`),
      ...(isOwnerLost ? [`${displayName(object)} would no longer be OWNED BY '${owner}'`] : []),
      ...(hiddenGrants === undefined || former.kind === 'view'
        ? []
        : [`the grants on it could not be given back, because they are not known: ${hiddenGrants}`]),
    ].map(reason => ({ causes: [index], reason }));
  });
}

/** A view that is invalid in B counts too if a refresh would lose nothing, and the plan removes its base or makes it unrepairable. */
function findInvalidatedViews(rows: RowAccount, repairable: RepairableViews, engine: Engine, context: PlanContext) {
  return [...engine.invalidViews()].flatMap(([name, reason]): Failure[] => {
    const wasInvalid = repairable.invalidBefore.has(name);
    const view = engine.find(name);
    const isIgnored = view !== undefined && context.ignore.ignoresObject(view);
    // No interrupted plan has made an ignored view invalid. So it is not in the way.
    const unrepairableSince = isIgnored ? undefined : repairable.unrepairableSince.get(name);
    const causes = wasInvalid
      ? [unrepairableSince ?? [], rows.removalCausesOfBase(name)].flat()
      : rows.invalidatingStatementsOf(name);
    const isRecomputable = losesNothingByRefresh(name, context);
    if (wasInvalid && !(causes.length > 0 && isRecomputable)) return [];
    // A view that A lacks is not created again: if the plan was interrupted after the DROP, its definition would be lost.
    const isCreatable = view?.kind === 'materialized view' && isRecomputable && !engine.findUnresolvedReason(name);
    const isRecreatedIfInA = isCreatable && !context.a.findObject(name) && !isIgnored;
    const hint = isRecreatedIfInA ? `if A has ${engine.displayNameOf(name)}, the plan creates it again` : undefined;
    return [{ causes, reason: `invalidates ${engine.displayNameOf(name)}: ${reason}`, hint }];
  });
}

/**
 * Checks whether the server rejects the query of a changed view. The engine does not know all functions, so the server is asked. Until it
 * was asked, the query counts as accepted. The server cannot be asked if the query reads an object that B lacks.
 * @returns why a plan cannot rely on the query of such a view
 */
function findUnusableQuery({ transitions }: Execution, engine: Engine, context: PlanContext): string | undefined {
  for (const { before, after } of transitions) {
    if (after?.kind !== 'view' && after?.kind !== 'materialized view') continue;
    const isRepaired = before?.kind === 'view' && before.isStale;
    const isSame = before && 'body' in before && before.body === after.body && !isRepaired;
    const names = [...engine.catalogue.closure(after.references)];
    if (isSame || !names.every(name => context.engineOfB.find(context.renames.nameBeforePlan(name)))) continue;
    const question = printCompileQuestion(printQueryAfterPlan(after, engine, context).query);
    const isRejected = context.answers.askIfRejected(question);
    if (isRejected === false) continue;
    const problem = isRejected === true ? 'the server rejects' : 'it is not known whether the server accepts';
    return `${problem} the query of ${displayName(after)}`;
  }
  return undefined;
}

function createExternalFacts(context: PlanContext, engine: Engine): ExternalFacts {
  const { a, engineOfB, findStoredRows, ignore, renames, answers } = context;
  const questions = createRowQuestions(answers, engineOfB, view => findRunnableView(view, context)?.body);
  const isWanted = (view: string) => {
    const entry = a.findObject(renames.nameAfterPlan(view));
    return entry !== undefined && !ignore.ignoresObject(entry);
  };
  return {
    findStoredRows,
    ...questions,
    askExpired: each => (findStoredRows(each.former.name) === 'none' ? 0 : questions.askExpired(each)),
    newNameOf: view => renames.nameAfterPlan(view),
    isWanted,
    isRedefined: (former, current) => isRedefined(former, current, context),
    askComputable(former, current) {
      const { query, isChanged } = printQueryAfterPlan(current, engine, context);
      if (!isChanged && !isRedefined(former, current, context)) return undefined;
      const assertion = printComputableAssertion(current.name, query);
      const queryAfterPlan = isWanted(former.name) ? undefined : query;
      return { assertion, queryAfterPlan, isRejected: answers.askIfRejected(assertion) };
    },
  };
}

/**
 * Groups the failures by the changes that cause them. If a change alone causes a failure, only such changes are left out: without them,
 * the others may cause none. Example: a REFRESH after a RENAME loses what the conversion of another column has changed.
 * @throws Error for a failure without a cause, because no change can be left out
 */
function toOmissions(failures: readonly Failure[], steps: readonly Step[]): (Change & Omission)[] {
  const found = new Map<string, { readonly change: Change; readonly failures: Failure[]; isSoleCause: boolean }>();
  for (const failure of failures) {
    const changes = new Map(
      failure.causes.flatMap(index => steps[index]?.change ?? []).map(each => [changeKey(each), each]),
    );
    if (changes.size === 0) throw new Error(`the plan is not proven: ${failure.reason}`);
    for (const [key, change] of changes) {
      const entry = found.get(key) ?? { change, failures: [], isSoleCause: false };
      entry.failures.push(failure);
      entry.isSoleCause ||= changes.size === 1;
      found.set(key, entry);
    }
  }
  const all = [...found.values()];
  const sole = all.filter(({ isSoleCause }) => isSoleCause);
  return (sole.length > 0 ? sole : all).map(({ change, failures }) => ({
    ...change,
    reasons: [...new Set(failures.map(({ reason }) => reason))],
    losses: failures.flatMap(({ loss }) => loss ?? []),
    hints: [...new Set(failures.flatMap(({ hint }) => hint ?? []))],
  }));
}

/**
 * Finds the steps after which no refresh repairs a view that is invalid in B. Perhaps an interrupted plan made the view invalid, and would
 * have refreshed it. Then the next plan has to leave the view as repairable as it is: it must not drop a column that the view reads.
 */
class RepairableViews {
  readonly invalidBefore: NameMap<string>;
  /** For each view that a refresh would repair before the first step, the step after which no refresh repairs it any more. */
  readonly unrepairableSince: NameMap<number | undefined>;

  /** @param engine has B; it executes the steps later */
  constructor(private readonly engine: Engine) {
    this.invalidBefore = engine.invalidViews();
    const repairable = this.#findRepairable([...this.invalidBefore.keys()]);
    this.unrepairableSince = new NameMap(Array.from(repairable, view => [view, undefined]));
  }

  recordStep({ transitions }: Execution, index: number): void {
    if (this.unrepairableSince.size === 0) return;
    const changed = transitions.filter(({ before, after }) => before?.columns !== after?.columns);
    const names = this.engine.catalogue.withReaders(changed.map(({ name }) => name));
    const affected = [...this.unrepairableSince].filter(([view]) => names.has(view));
    const repairable = this.#findRepairable(affected.map(([view]) => view));
    for (const [view, since = index] of affected)
      this.unrepairableSince.set(view, repairable.has(view) ? undefined : since);
  }

  /** Finds the views that are valid, or would be if they and the invalid views below them were refreshed. */
  #findRepairable(names: readonly string[]): NameSet {
    const { catalogue } = this.engine;
    const findView = (name: string) => {
      const object = catalogue.find(name);
      return object?.kind === 'materialized view' ? object : undefined;
    };
    const toRefresh = new NameSet(names);
    for (const name of toRefresh) {
      const base = findView(findView(name)?.base ?? '');
      if (base?.invalidReason !== undefined) toRefresh.add(base.name); // the set grows during the loop
    }
    return this.engine.tryOut(() => {
      for (const { kind, name } of catalogue.inDependencyOrder([...toRefresh]))
        if (kind === 'materialized view') this.engine.execute(printFullRefresh(name));
      const views = names.flatMap(name => findView(name) ?? []);
      return new NameSet(views.filter(view => view.invalidReason === undefined).map(({ name }) => name));
    });
  }
}
