/*!
 * Plans the statements that turn one schema into another. A plan is drafted optimistically, then proven by running it on an
 * engine. The changes that the proof blames are left out of the next draft, until a draft is proven.
 */
import { type CompareOptions, compareStatements, ownerOf, parseMeaning } from '@sqlpipe/ddl';
import { Engine, type HistoryAnswer, whenReady } from '@sqlpipe/engine';
import {
  compareSchemas,
  type Entry,
  type Health,
  IgnoreRules,
  problemsOf,
  Schema,
  selectWanted,
} from '@sqlpipe/schema';
import { displayName, foldCase, hasName, type Identity, identify, identityKey, isAcl, isObject } from '@sqlpipe/sql';
import { createPrincipals, dropPrincipals, grantRights, revokeRights } from './access-changes.js';
import { findAskedView } from './asked-view.js';
import { assemblePlan, type Plan, type ProvenDraft } from './assemble-plan.js';
import type { AskSizes } from './cost.js';
import { changeKey, Draft, type Omission } from './draft.js';
import {
  alterRetention,
  dropExtraObjects,
  makeRoom,
  omitRefused,
  omitUnalterable,
  reconcileObjects,
  renameTables,
} from './object-changes.js';
import { formatPath, formatPathForShell } from './object-path.js';
import { prove } from './prove.js';
import { dropOldTables, findLeftovers, isPartOfRebuild, resumeRebuilds } from './rebuild.js';
import { omitUnrepaired, refreshViews, restateViews } from './refresh-views.js';
import { type RequestOptions, Requests } from './requests.js';
import { type Row, RowFindings } from './row-findings.js';
import type { Task } from './task.js';
import type { AskHistory, HistoryFinding } from './text/history.js';
import { findUnresolvedViews, type UnresolvedView, UnresolvedViewError } from './unresolved.js';
import { WantedSchema } from './wanted-schema.js';

/** Options for planning. */
export interface PlanOptions extends RequestOptions {
  readonly defaults?: CompareOptions['defaults'];
  /** Whether a different owner is ignored. */
  readonly ignoreOwner?: boolean;
  /** Whether objects, principals and rights that only B has are kept, and do not count as differences. */
  readonly keepExtra?: boolean;
  /** The differences that stay, and are not listed. */
  readonly ignore?: IgnoreRules | undefined;
  /** Whether the old table of a rebuild is dropped. */
  readonly dropOld?: boolean;
  /** What the server of B reports of its objects. */
  readonly health?: Health;
  /** The version of B's server. */
  readonly version?: string | undefined;
  /** Whether A is an instance: views that are invalid there are left out. In a schema that is written they are an error. */
  readonly skipInvalid?: boolean;
  /** Whether B's server is of the enterprise edition; if it is not known, its statements tell. */
  readonly enterprise?: boolean;
  /** Asks B's server; without it, the assertions of the plan decide when it is applied. */
  readonly askHistory?: AskHistory | undefined;
  /** Asks B's server, for the cost in the head of the plan. */
  readonly askSizes?: AskSizes | undefined;
  /** Asks B's server for the one row of a query about the rows of a table; without it, assertions decide. */
  readonly askRow?: ((query: string) => Promise<Row>) | undefined;
}

/**
 * Plans the statements that turn schema B into A.
 * @throws InvalidSelectionError for names that match nothing or are ambiguous; UnresolvedViewError if a view of A cannot be
 *   created over A; an error without a code if the plan does not lead to A
 */
export async function planChanges(a: Iterable<string>, b: Iterable<string>, options: PlanOptions = {}): Promise<Plan> {
  const inB = [...b];
  const { statements: inA, notes } = selectWanted([...a], inB, options.ignore ?? new IgnoreRules());
  const findings = new Map<string, HistoryFinding>();
  const answers = new Map<string, Row>();
  const { askHistory, askRow } = options;
  for (;;) {
    const rows = new RowFindings(answers, askRow !== undefined);
    const proven = await whenReady(() => planOnce(inA, inB, findings, rows, options));
    for (const query of rows.questions) answers.set(query, await askRow?.(query));
    if (rows.questions.size > 0) continue;
    const questions = [...proven.rebuilt].filter(view => !findings.has(view));
    if (!askHistory || questions.length === 0) {
      const plan = await assemblePlan(proven, options.askSizes);
      return { ...plan, notes: [...notes, ...plan.notes] };
    }
    for (const view of questions) {
      const asked = findAskedView(view, proven.task);
      // biome-ignore lint/nursery/useAwaitThenable: the function of an option returns a promise
      if (asked) findings.set(view, await askHistory(asked.definition));
    }
  }
}

function planOnce(
  a: readonly string[],
  b: readonly string[],
  findings: ReadonlyMap<string, HistoryFinding>,
  rows: RowFindings,
  options: PlanOptions,
): ProvenDraft {
  const { defaults, health, ignoreOwner = false, keepExtra = false, dropOld = false } = options;
  const { ignore = new IgnoreRules() } = options;
  const schema = new Schema(b);
  const isEnterprise = options.enterprise ?? isEnterpriseSchema(b);
  /**
   * Whether a materialized view holds rows that its query no longer gives. Without an answer of the server, it is assumed to
   * keep them, unless their loss is allowed.
   */
  const historyOf = (view: string): HistoryAnswer =>
    findings.get(view)?.answer ??
    (requests.mayLose({ loss: 'history', object: view })
      ? 'unknown'
      : before.wasNeverRefreshed(view)
        ? 'empty'
        : 'kept');
  const server = { enterprise: isEnterprise, version: options.version, defaults };
  const loadB = () => {
    const engine = createEngine({ ...server, ...(health && { health }) });
    engine.load(b);
    return engine;
  };
  const wanted = new WantedSchema(a, defaults);
  const before = loadB();
  const requests = new Requests(wanted, schema, before, options);
  const leftovers = findLeftovers(wanted, before, requests);
  const task = {
    a: wanted,
    b: schema,
    requests,
    historyOf,
    before,
    problems: schema.entries.flatMap(entry => problemsOf(entry, health ?? {})),
    rows,
    leftovers,
    isEnterprise,
    version: options.version,
    defaults,
    ignoreOwner,
    keepExtra,
    ignore,
    dropOld,
  };
  // Without the health of B: a view that is invalid in B may be valid as A defines it.
  const unresolved = findUnresolvedViews(task, createEngine({ ...server, ...(health && { health: {} }) }));
  const unbroken = options.skipInvalid ? [] : unresolved.filter(({ entry }) => !isAsBroken(entry, unresolved, task));
  if (unbroken.length > 0) throw new UnresolvedViewError(unbroken);
  if (unresolved.length > 0) {
    const names = new Set(unresolved.map(({ entry }) => foldCase(entry.name)));
    const without = (statements: readonly string[]) =>
      statements.filter(
        statement => !(isObject(identify(statement).kind) && names.has(foldCase(identify(statement).name))),
      );
    const proven = planOnce(without(a), without(b), findings, rows, options);
    for (const { entry, reason } of unresolved) {
      const properties = schema.findObject(entry.name)?.kind === entry.kind ? ['invalid'] : [];
      const ignore = `--ignore ${formatPathForShell(formatPath({ object: entry.name }))} does not list it`;
      const hints = options.skipInvalid ? [] : [ignore];
      proven.draft.omit(
        { identity: entry, properties, what: displayName(entry) },
        `it is invalid in A: ${reason}`,
        ...hints,
      );
    }
    return proven;
  }
  const excluded = new Map<string, Omission>();
  const rebuilt = new Set<string>();
  for (;;) {
    const draft = draftPlan(task, loadB(), excluded);
    const proof = prove(draft.steps, loadB(), task);
    for (const view of proof.rebuilt.keys()) rebuilt.add(view);
    if (proof.excluded.length === 0) {
      requireResult(draft, task);
      return { draft, proof, task, findings, rebuilt };
    }
    const known = excluded.size;
    for (const omission of proof.excluded) excluded.set(changeKey(omission), omission);
    if (excluded.size === known)
      throw new Error(
        `the plan cannot be proven: ${proof.excluded.map(({ what, reasons }) => `${what}: ${reasons.join('; ')}`).join('; ')}`,
      );
  }
}

/** An engine without objects that executes statements as a server would. The version of the enterprise edition says nothing. */
export const createEngine = ({
  enterprise,
  version,
  defaults,
  health,
}: Pick<PlanOptions, 'enterprise' | 'version' | 'defaults' | 'health'>): Engine =>
  new Engine({
    edition: enterprise ? 'enterprise' : 'open source',
    version: enterprise ? undefined : version,
    rows: 'assumed',
    ...(defaults && { defaults }),
    ...(health && { health }),
  });

/** Whether B has a view that is not valid in the same way, or the view reads from one that B has. */
function isAsBroken(entry: Entry, unresolved: readonly UnresolvedView[], task: Task): boolean {
  const { a, b, before } = task;
  const existing = b.findObject(entry.name)?.statement;
  const isSame = existing !== undefined && compareStatements(entry.statement, existing).differences.length === 0;
  if (isSame && before.whyUnresolvable(entry.name) !== undefined) return true;
  const needed = new Set(a.prerequisites(entry).map(({ name }) => foldCase(name)));
  return unresolved.some(
    other =>
      other.entry !== entry && needed.has(foldCase(other.entry.name)) && isAsBroken(other.entry, unresolved, task),
  );
}

/** Whether statements are the dump of an enterprise edition: access control, owners, storage policies. */
export const isEnterpriseSchema = (statements: readonly string[]): boolean =>
  statements.some(
    statement => isAcl(identify(statement).kind) || ownerOf(statement) !== undefined || hasStoragePolicy(statement),
  );

/** Parses only the few statements that may have one. */
function hasStoragePolicy(statement: string): boolean {
  const meaning = /\bstorage\b/i.test(statement) ? parseMeaning(statement) : undefined;
  return meaning?.kind === 'table' && meaning.policy !== undefined;
}

/** The steps in their order: first revocations and what is in the way of a name, then what can fail without harm, last what cannot be undone. */
function draftPlan(task: Task, engine: Engine, excluded: ReadonlyMap<string, Omission>): Draft {
  const draft = new Draft(engine, excluded, task.ignore);
  omitRefused(task, draft);
  revokeRights(task, draft);
  createPrincipals(task, draft);
  makeRoom(task, draft);
  renameTables(task, draft);
  resumeRebuilds(task, draft);
  reconcileObjects(task, draft);
  restateViews(task, draft);
  refreshViews(task, draft);
  grantRights(task, draft);
  dropOldTables(task, draft);
  alterRetention(task, draft);
  dropExtraObjects(task, draft);
  dropPrincipals(task, draft);
  grantRights(task, draft); // who is dropped takes along what he gave
  omitUnalterable(task, draft);
  omitUnrepaired(task, draft);
  return draft;
}

/** Requires that the draft leads to A, but for what it lists. @throws Error for another difference */
function requireResult(draft: Draft, task: Task): void {
  const { engine, omissions } = draft;
  const { a, keepExtra, defaults, ignoreOwner, ignore } = task;
  const { differences } = compareSchemas(
    a.entries.map(({ statement }) => statement),
    engine.statements(),
    { ...(defaults && { defaults }), ignoreOwner, ignore },
  );
  for (const { identity, a, comparison } of differences) {
    if (a === undefined && (keepExtra || isPartOfRebuild(identity.name, task))) continue;
    const listed = omissions.filter(omission => isAbout(omission, identity));
    const isListed = (property: string) =>
      listed.some(({ properties }) => properties.length === 0 || properties.includes(property));
    const rest = comparison ? comparison.differences.filter(({ property }) => !isListed(property)) : [];
    // What is blocked is left as it is, for the reason that is listed.
    if (listed.length > 0 && (rest.length === 0 || draft.isBlocked(identity.name))) continue;
    throw new Error(
      `the plan does not lead to A: ${displayName(identity)}${rest.map(({ property, a, b }) => `: ${property}: ${b} to ${a}`).join('')}`,
    );
  }
}

const isAbout = (omission: Omission, identity: Identity): boolean =>
  hasName(identity)
    ? hasName(omission.identity) && identityKey(omission.identity) === identityKey(identity)
    : omission.identity.kind === identity.kind;
