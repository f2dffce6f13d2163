/*! Makes a plan of a draft that is proven: with its assertions, the costs of each statement, and what its head says. */
import { parseMeaning } from '@sqlpipe/ddl';
import type { Effect, Engine } from '@sqlpipe/engine';
import { foldCase } from '@sqlpipe/sql';
import { findAskedView, findExpirable } from './asked-view.js';
import { type AskSizes, describeLosses, describeWork } from './cost.js';
import type { Draft, Omission, Step } from './draft.js';
import type { Proof } from './prove.js';
import { describeKeptTables, RenameOffers, withOffers } from './rename-offers.js';
import type { Task } from './task.js';
import { parseAssertion, printEmptyAssertion, printExpiredAssertion } from './text/assertions.js';
import { assertComputable } from './text/common-queries.js';
import { printRemarks } from './text/head.js';
import { type HistoryFinding, printHistoryAssertion } from './text/history.js';

/** A statement of a plan, and its effects. */
export interface PlannedStatement {
  readonly statement: string;
  readonly effects: readonly Effect[];
  /** Descriptions of the effects, one line each. */
  readonly costs: readonly string[];
  /** Descriptions of what is lost for good. */
  readonly lost: readonly string[];
}

/** A plan that turns B into A. */
export interface Plan {
  readonly statements: readonly PlannedStatement[];
  readonly omissions: readonly Omission[];
  /** The names of the losses that were allowed, and that the plan needs. */
  readonly allowedLosses: readonly string[];
  /** What the head of the plan says beside its state. */
  readonly remarks: readonly string[];
  /** Remarks about the options, and about differences that do not count. */
  readonly notes: readonly string[];
  /** Why comments about renames have no effect. */
  readonly warnings: readonly string[];
  /** The statements of the schema after the plan. */
  readonly result: readonly string[];
}

/** A draft that is proven, with what it was made from. */
export interface ProvenDraft {
  readonly draft: Draft;
  readonly proof: Proof;
  readonly task: Task;
  readonly findings: ReadonlyMap<string, HistoryFinding>;
  /** The views that this draft or an earlier one computes again, in lower case. */
  readonly rebuilt: ReadonlySet<string>;
}

/** Makes a plan of a proven draft: adds the assertions, each before the first step that makes a view be computed again, and the costs. */
export async function assemblePlan(
  { draft, proof, task, findings }: ProvenDraft,
  askSizes: AskSizes | undefined,
): Promise<Plan> {
  const { before } = task;
  const assertions = new Map<number, PlannedStatement[]>();
  const assert = (at: number, planned: PlannedStatement) =>
    assertions.set(at, [...(assertions.get(at) ?? []), planned]);
  for (const [view, at] of proof.rebuilt) {
    const asked = findAskedView(view, task);
    if (!asked || task.requests.mayLose({ loss: 'history', object: asked.definition.name })) continue;
    const { definition, isRestated } = asked;
    const { answer, columns } = findings.get(view) ?? {};
    const judged = proof.judged.get(view);
    if (judged !== undefined) assert(0, toAssertion(assertComputable(judged)));
    const planned =
      answer === 'empty'
        ? toAssertion(printEmptyAssertion({ table: definition.name }))
        : toAssertion(
            printHistoryAssertion(definition, columns),
            ...(findings.has(view) ? [] : ['no server was asked']),
          );
    // New names are those of B: a later statement may change them.
    assert(isRestated ? 0 : at, planned);
  }
  for (const enforcement of proof.enforcements) {
    const { name } = enforcement.former;
    if (task.requests.mayLose({ loss: 'ttl', object: name }) || task.historyOf(foldCase(name)) === 'empty') continue;
    assert(0, toAssertion(printExpiredAssertion(...findExpirable(enforcement, task))));
  }
  const statements = draft.steps.flatMap((step, at) => [
    ...(assertions.get(at) ?? []),
    toPlanned(step, proof.effects[at] ?? [], draft.engine, task),
  ]);
  const { used, unused } = task.requests.allowedLosses();
  const { renames } = task.requests;
  const offers = new RenameOffers(task);
  const notes = [
    ...renames.notes,
    ...describeKeptTables(task, offers),
    ...unused.map(name => `--allow-loss ${name}: nothing of this name is lost`),
  ];
  const isView = ([name]: [string, string]) => proof.rebuilt.has(name);
  const remarks = printRemarks({
    version: task.version,
    work: await describeWork(draft, proof, task, askSizes),
    irreversible: statements.flatMap(({ lost }, i) => (lost.length > 0 ? [i + 1] : [])),
    atRest: findTablesAtRest(draft.steps, before),
    viewNames: new Map([...renames.objects].filter(isView)),
    allowedLosses: used,
  });
  return {
    statements,
    omissions: draft.omissions.map(omission => withOffers(omission, offers)),
    allowedLosses: used,
    remarks,
    notes,
    warnings: renames.warnings,
    result: draft.engine.statements(),
  };
}

/**
 * The tables that steps copy or rename. Over ILP a renamed table is created again at once. Rows that 9.3.4 has received over TCP and
 * not committed yet are lost (observed: up to the last half second).
 */
const findTablesAtRest = (steps: readonly Step[], before: Engine): string[] => [
  ...new Set(
    steps.flatMap(({ statement, change: { identity } }) => {
      if (identity.verb === 'RENAME') return [identity.name];
      const { needsRest, tables: [table] = [] } = parseAssertion(statement) ?? {};
      return needsRest && table !== undefined && before.find(table) ? [table] : [];
    }),
  ),
];

function toPlanned(
  { statement }: Step,
  effects: readonly Effect[],
  after: Engine,
  { rows, requests }: Task,
): PlannedStatement {
  const stillInvalid = after.invalidViews();
  const findNow = (name: string) => after.find(requests.renames.newName(name));
  const costs = effects.map(({ effect, object, column, kind, loss, text }) => {
    const now = findNow(object);
    const isThere = now?.kind === kind;
    const isStoredView = kind === 'materialized view' || kind === 'live view';
    if (loss === 'drop' && isStoredView && column === undefined && isThere)
      return `makes way for ${after.title(now.name)}; CREATE follows`;
    if (loss === 'values') return text + rows.describeLost(object, column);
    if (effect !== 'invalidated' || stillInvalid.has(foldCase(object))) return text;
    const repair = { view: 'a repair', 'live view': 'CREATE' }[kind as string] ?? 'REFRESH … FULL';
    return `${text}; ${isThere ? repair : 'DROP'} follows`;
  });
  if (parseAssertion(statement)) return toAssertion(statement);
  const created = parseMeaning(statement);
  const isView = created?.kind === 'materialized view';
  const filling =
    isView && created.refresh.deferred ? 'leaves it empty until it is refreshed' : 'builds it from its base';
  return {
    statement,
    effects,
    costs: costs.length > 0 ? costs : [isView ? filling : 'metadata only'],
    lost: describeLosses(effects, findNow),
  };
}

/** A statement of a plan that is an assertion; its comments say what it does. */
export const toAssertion = (statement: string, ...remarks: string[]): PlannedStatement => ({
  statement,
  effects: [],
  costs: [parseAssertion(statement)?.purpose ?? '', ...remarks],
  lost: [],
});
