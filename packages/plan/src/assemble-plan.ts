/*! Makes a plan from a proven draft: adds the assertions before the first change, the costs of each statement, and the head (`remarks`). */
import { type Column, type Definition, parseRights, printRight, tryParseDefinition } from '@sqlpipe/ddl';
import { areTypesKnown, type Effect, type Engine, isExpiryLoss, isFullRefresh } from '@sqlpipe/engine';
import { Schema } from '@sqlpipe/schema';
import {
  addToList,
  displayName,
  foldCase,
  identify,
  isSameName,
  isStoredViewKind,
  type KindAndName,
  type NameMap,
  NameSet,
} from '@sqlpipe/sql';
import { isAuxiliaryTable, parseMark, parseRebuildName } from './auxiliary.js';
import type { PlanContext } from './context/plan-context.js';
import type { StoredSize } from './context/server-answers.js';
import type { Draft, Step } from './draft/draft.js';
import {
  expiredRowsOf,
  formatPathForShell,
  formatRename,
  type NamedLoss,
  type ObjectPath,
  type Omission,
  pathKey,
} from './losses.js';
import type { Proof } from './proof/prove.js';
import {
  type Assertion,
  computableAssertion,
  emptyAssertion,
  noneExpireAssertion,
  noneLimitedAssertion,
  noneUnendedAssertion,
  nothingIsLostAssertion,
} from './queries/assertions.js';
import { printTableRename } from './statements.js';
import { GIVES_BACK } from './text/print-plan.js';
import { findRunnableView, isRedefined, toExpiryQuestion, withFormerName } from './views/view-queries.js';

export interface PlannedStatement {
  readonly statement: string;
  readonly effects: readonly Effect[];
  /** The lines of the comment above the statement: its costs, or what it is for. */
  readonly comments: readonly string[];
  /** One phrase per irreversible loss. The undo prints the phrases. The head of the plan only lists the statements: `statements 3, 7`. */
  readonly lost: readonly string[];
}

/** A plan that turns B into A. */
export interface Plan {
  readonly statements: readonly PlannedStatement[];
  readonly omissions: readonly Omission[];
  /** The names in `--allow-loss` that the plan needs. */
  readonly neededAllowances: readonly string[];
  /** The comment at the head of the plan: what it costs, and what to do before it runs. */
  readonly remarks: readonly string[];
  /** Messages for whoever makes the plan, for example that a `--renamed` is already done. They are not part of the plan's text. */
  readonly notes: readonly string[];
  /** One for each comment `renamed from` in A that has no effect, with the reason. */
  readonly warnings: readonly string[];
  /** The new name of each renamed object, by its old name. A view gets its new name by DROP and CREATE. */
  readonly renamed: NameMap<string>;
  readonly schemaAfter: Schema;
}

export interface ProvenDraft {
  readonly draft: Draft;
  readonly proof: Proof;
  readonly omissions: readonly Omission[];
  readonly recomputedByDrafts: readonly { readonly view: string; readonly queryAfterPlan: string | undefined }[];
  readonly acceptedByDrafts: readonly NamedLoss[];
}

export async function assemblePlan({ draft, proof, omissions, acceptedByDrafts }: ProvenDraft): Promise<Plan> {
  const { context } = draft;
  const { allowed, renames, version = '' } = context;
  const { assertions, acceptedLosses } = collectAssertions(proof, context);
  const neededAllowances = [...new Set(allowed.namesOf([...proof.acceptedLosses, ...acceptedLosses]))];
  const usedInAnyDraft = new Set([...neededAllowances, ...allowed.namesOf(acceptedByDrafts)]);
  const invalidAfterPlan = draft.engine.invalidViews();
  const statements = [
    ...assertions,
    ...draft.steps.map((step, i) => toPlannedStatement(step, proof.effects[i] ?? [], draft, invalidAfterPlan)),
  ];
  const takeOffer = createRenameOffers(context);
  const notes = [
    ...renames.notes,
    ...formatKeptTables(context, takeOffer),
    ...[...allowed.names].flatMap(name =>
      usedInAnyDraft.has(name) ? [] : `--allow-loss ${name}: nothing of this name is lost`,
    ),
  ];
  const irreversible = statements.flatMap(({ lost }, i) => (lost.length > 0 ? [i + 1] : []));
  // A plan drops a renamed view, and creates it under its new name.
  const renamedViews = [...renames.pending].flatMap(([from, to]) => {
    const isPlain = [context.engineOfB.find(from), draft.engine.find(to)].every(object => object?.kind === 'view');
    return isPlain || proof.rows.recomputedViews.has(from) ? `'${from}'='${to}'` : [];
  });
  // `parsePlanHead` reads these lines.
  const remarks = [
    ...(/^9\.3\.|^$/.test(version)
      ? []
      : [`made for QuestDB ${version} by the rules of 9.3: try it on a copy of the instance first`]),
    ...(await formatWork(draft, proof)),
    ...formatList(`nothing undoes statement${irreversible.length === 1 ? '' : 's'}`, irreversible),
    ...findTablesToKeepIdle(draft).map(name => `nothing may write to '${name}' while this plan is applied`),
    ...formatList('renamed views:', renamedViews),
    ...formatList('allowed losses:', neededAllowances),
  ];
  return {
    statements,
    omissions: omissions.map(({ hints, ...omission }) => {
      const dropped = omission.losses.filter(({ lossKind }) => lossKind === 'drop');
      return { ...omission, hints: [...hints, ...dropped.flatMap(path => takeOffer(path) ?? [])] };
    }),
    neededAllowances,
    remarks,
    notes,
    warnings: renames.warnings,
    renamed: renames.pending,
    schemaAfter: new Schema(draft.engine.statements()),
  };
}

const formatList = (start: string, list: readonly unknown[]): string[] =>
  list.length > 0 ? [`${start} ${list.join(', ')}`] : [];

function formatKeptTables(context: PlanContext, takeOffer: TakeOffer): string[] {
  const { a, b, tablesBetweenRenames, dropOld, ignoreExtra, renames } = context;
  return b.entries.flatMap(({ kind, name }) => {
    const { table = '', role } = parseRebuildName(name) ?? {};
    if (kind !== 'table' || a.findObject(name) || renames.pending.has(name) || tablesBetweenRenames.has(table))
      return [];
    if (!dropOld && role === 'old' && isAuxiliaryTable(name, context))
      return [`table '${name}' is kept: it is the old table of a rebuild; --drop-old drops it`];
    const offer = ignoreExtra ? takeOffer({ object: name }) : undefined;
    return offer === undefined ? [] : [`table '${name}' is kept; ${offer}`];
  });
}

/** Makes assertions that no rows are lost. They run before the first change, so they use the names of B. An allowed loss needs none. */
function collectAssertions({ rows }: Proof, context: PlanContext) {
  const { allowed, answers, engineOfB, findStoredRows } = context;
  const assertions = new Map<string, PlannedStatement>();
  const add = ({ statement, purpose }: Assertion, ...comments: string[]) =>
    assertions.set(statement, { statement, effects: [], comments: [purpose, ...comments], lost: [] });
  for (const assertion of context.firstAssertions ?? []) add(assertion);
  const assertedViews: string[] = [];
  const acceptedLosses: NamedLoss[] = [];
  const acceptIfAllowed = (loss: NamedLoss): boolean => {
    const isAllowed = allowed.allows(loss);
    if (isAllowed) acceptedLosses.push(loss);
    return isAllowed;
  };
  for (const [view, { assertion, periodicViews, queryAfterPlan }] of rows.recomputedViews) {
    const definition = findRunnableView(view, context, queryAfterPlan);
    if (!definition || acceptIfAllowed({ lossKind: 'history', object: definition.name })) continue;
    const history = answers.findHistory(view, queryAfterPlan);
    const columns = history?.columns ?? findKnownColumns(definition.name, engineOfB);
    if (assertion !== undefined) add(computableAssertion(assertion));
    // `none`: the server has answered that the view has no rows.
    if (history?.answer === 'none') add(emptyAssertion(definition.name));
    else {
      add(nothingIsLostAssertion(definition, columns), ...(history ? [] : ['no server was asked about such rows']));
      assertedViews.push(definition.name);
      for (const periodicView of periodicViews)
        add(noneUnendedAssertion(withFormerName({ former: definition, current: periodicView }, engineOfB)));
    }
  }
  const [first, ...others] = assertedViews;
  if (first !== undefined) add(noneLimitedAssertion([first, ...others]));
  for (const enforcement of rows.retentionEnforcements) {
    const { name } = enforcement.former;
    if (acceptIfAllowed(expiredRowsOf(name)) || findStoredRows(name) === 'none') continue;
    add(noneExpireAssertion(toExpiryQuestion(enforcement, engineOfB, findRunnableView(name, context)?.body)));
  }
  return { assertions: assertions.values(), acceptedLosses };
}

/** The columns of a materialized view. Undefined for any other object, or if the engine does not know all types. */
export function findKnownColumns(view: string, engine: Engine): readonly Column[] | undefined {
  const object = engine.catalogue.compileAndFind(view);
  return object?.kind === 'materialized view' && areTypesKnown(object.columns) ? object.columns : undefined;
}

/**
 * Finds the tables to which nothing may write while the plan runs:
 * - A renamed table. A writer that uses QuestDB's line protocol (ILP) would create a table with the old name. With ILP over TCP, the rename
 *   also loses rows that the server has not committed (observed on 9.3.4).
 * - A table whose rows the plan copies, converts or compares. A row that arrives too late would be missed.
 */
function findTablesToKeepIdle(draft: Draft): string[] {
  const { steps, context } = draft;
  const { engineOfB, renames } = context;
  const tables = [...renames.pending].map(([from, to]) => [engineOfB.find(from)?.name ?? from, to] as const);
  const renamed = tables.flatMap(([from, to]) => (draft.hasStep(printTableRename(from, to)) ? from : []));
  const checked = steps.flatMap(({ assertion }) => (assertion?.needsIdleTable ? assertion.tables[0] : []));
  return [...new Set([...renamed, ...checked.filter(table => engineOfB.find(table))])];
}

function toPlannedStatement(step: Step, effects: readonly Effect[], draft: Draft, invalidAfterPlan: NameMap<string>) {
  const { statement, assertion, change } = step;
  const { engine: engineAfterPlan, context } = draft;
  const { engineOfB, renames } = context;
  const purpose =
    assertion?.purpose ?? formatMark(statement, change.identity, context) ?? formatKeptGrant(statement, context);
  if (purpose !== undefined) return { statement, effects: [], comments: [purpose], lost: [] };
  const comments: string[] = [];
  const lost: string[] = [];
  for (const effect of effects) {
    const { type, object, column, kind, lossKind, text } = effect;
    const successor = engineAfterPlan.find(renames.nameAfterPlan(object));
    const existsAfterPlan = successor?.kind === kind;
    // Dedup keys can be set again, and recreated materialized views compute their rows again. Rows that expire in a view which the plan
    // creates are no rows of B.
    const isRecreated = lossKind === 'drop' && kind === 'materialized view' && existsAfterPlan;
    const isOfNewObject = isExpiryLoss(effect) && !engineOfB.find(renames.nameBeforePlan(object));
    if (type === 'lost' && lossKind !== 'keys' && !isRecreated && !isOfNewObject)
      lost.push(`${displayName({ kind, name: object })}: ${text}`);
    if (lossKind === 'drop' && isStoredViewKind(kind) && column === undefined && existsAfterPlan)
      comments.push(`is replaced by ${engineAfterPlan.displayNameOf(successor.name)}; CREATE follows`);
    else if (lossKind === 'values') comments.push(text + draft.formatChangedValues({ object, column }));
    else if (type !== 'invalidated' || invalidAfterPlan.has(object)) comments.push(text);
    else {
      const nextStatement = { view: 'ALTER VIEW', 'live view': 'CREATE' }[kind as string] ?? 'REFRESH … FULL';
      comments.push(`${text}; ${existsAfterPlan ? nextStatement : 'DROP'} follows`);
    }
  }
  if (comments.length === 0) comments.push(formatCostWithoutEffects(statement));
  comments.push(...formatKeptRows(change.identity, engineAfterPlan, context));
  return { statement, effects, comments, lost };
}

/** When a plain view gets another query, each materialized view of B that reads the plain view keeps the rows of the former query. */
function formatKeptRows({ kind, name }: KindAndName, engineAfterPlan: Engine, context: PlanContext) {
  const [former, planned] = [context.engineOfB.find(name), engineAfterPlan.find(name)];
  if (kind !== 'view' || former?.kind !== kind || planned?.kind !== kind || !isRedefined(former, planned, context))
    return [];
  return engineAfterPlan.catalogue
    .materializedReadersOf(name)
    .filter(({ id }) => context.engineOfB.catalogue.findById(id) !== undefined)
    .map(view => `${displayName(view)} keeps the rows of the former query until REFRESH … FULL`);
}

function formatMark(statement: string, { name }: KindAndName, context: PlanContext): string | undefined {
  const view = parseMark(name, context);
  if (view === undefined) return undefined;
  return identify(statement).kind === 'table'
    ? `marks '${view}' as not filled yet: if this plan is interrupted, the next one fills it`
    : `removes the mark: '${view}' is filled`;
}

function formatKeptGrant(statement: string, { keptGrants }: PlanContext): string | undefined {
  const keptRights = (parseRights(statement) ?? []).flatMap(
    right => ('table' in right && keptGrants.get(right.table ?? '')) || [],
  );
  return keptRights.some(each => printRight(each) === statement) ? GIVES_BACK : undefined;
}

/** CREATE MATERIALIZED VIEW fills the view, unless it has DEFERRED. Any other statement without effects changes metadata only. */
function formatCostWithoutEffects(statement: string): string {
  const created = identify(statement).kind === 'materialized view' ? tryParseDefinition(statement) : undefined;
  if (created?.kind !== 'materialized view') return 'metadata only';
  return created.refresh.deferred ? 'leaves it empty until it is refreshed' : 'builds it from its base';
}

/** Formats the server's work: `rewrites table 't' (6,000 rows, 24 kB)`. Without sizes, only copies: other comments name other work. */
async function formatWork({ steps, engine, context }: Draft, { effects }: Proof): Promise<string[]> {
  const { answers, engineOfB, renames } = context;
  const work = new Map<string, Set<string>>();
  const add = (verb: string, name: string): void => {
    const table = engineOfB.find(renames.nameBeforePlan(name))?.name;
    if (table !== undefined) work.set(table, (work.get(table) ?? new Set()).add(verb));
  };
  for (const [i, { statement, assertion }] of steps.entries()) {
    if (assertion?.followsCopy) add('copies', assertion.tables[0]);
    const { kind, name } = identify(statement);
    const rewritten = (effects[i] ?? []).filter(({ type }) => type === 'rewritten');
    const refreshed = rewritten.filter(isFullRefresh).map(({ object }) => object);
    for (const viewName of kind === 'materialized view' ? [name] : refreshed) {
      const view = engine.find(viewName);
      if (view?.kind === 'materialized view') add('reads', view.base);
    }
    for (const { kind, object } of rewritten) if (kind === 'table') add('rewrites', object);
  }
  const sizes = work.size > 0 ? await answers.server.fetchSizes?.() : undefined;
  return [...work].flatMap(([table, verbs]) => {
    const size = sizes?.get(table);
    const isCopied = verbs.has('copies');
    if (!size && !isCopied) return [];
    const what = `${[...verbs].join(' and ')} ${engineOfB.displayNameOf(table)}`;
    // 9.3.4 does not show the free space of a disk, so the plan cannot check it.
    return [`${what}${size ? ` (${formatSize(size)})` : ''}${isCopied ? ', which needs as much free disk' : ''}`];
  });
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** The bytes with three digits, in units of 1000 as for disks. */
function formatSize({ rows, bytes }: StoredSize): string {
  const rounded = Number(bytes.toPrecision(3));
  const power = Math.min(Math.max(Math.floor(Math.log10(rounded) / 3), 0), UNITS.length - 1);
  return `${rows.toLocaleString('en-US')} ${rows === 1 ? 'row' : 'rows'}, ${rounded / 1000 ** power} ${UNITS[power]}`;
}

/** Takes a new name for a dropped table or column, and formats the offer; undefined if no new one is similar. */
type TakeOffer = (dropped: ObjectPath) => string | undefined;

/** If a table or column is dropped and a similar one is created, the user may have renamed it. No name is offered twice. */
function createRenameOffers({ a, engineOfB, renames }: PlanContext): TakeOffer {
  const renamed = new NameSet(renames.pending.values());
  /** The names of the new tables, by `columnKey`. */
  const newTables = new Map<string, string[]>();
  for (const entry of a.entries) {
    const { kind, name } = entry;
    const isNew = kind === 'table' && a.findObject(name) === entry && !engineOfB.find(name) && !renamed.has(name);
    if (isNew) addToList(newTables, columnKey(a.definitionOf(entry)), name);
  }
  const offeredColumns = new Set<string>();

  /** Takes a new column of the same type, preferably that in the same place. */
  const takeColumn = ({ object: table, column }: ObjectPath): string | undefined => {
    const other = renames.otherName(table) ?? table;
    const former = columnsOf(engineOfB.definitionOf(table) ?? engineOfB.definitionOf(other));
    const wanted = columnsOf(a.definitionOf(table) ?? a.definitionOf(other));
    const index = former.findIndex(({ name }) => isSameName(name, column));
    const usedNames = new NameSet([...former.map(({ name }) => name), ...renames.columnRenamesOf(table).values()]);
    const keyOf = ({ name }: Column) => pathKey({ object: table, column: name });
    const candidates = wanted.filter(
      each => each.type === former[index]?.type && !usedNames.has(each.name) && !offeredColumns.has(keyOf(each)),
    );
    const chosen = candidates.find(candidate => wanted.indexOf(candidate) === index) ?? candidates[0];
    if (chosen) offeredColumns.add(keyOf(chosen));
    return chosen?.name;
  };

  return dropped => {
    const { object, column } = dropped;
    // A new table must have the same columns.
    const name =
      column === undefined ? newTables.get(columnKey(engineOfB.definitionOf(object)))?.shift() : takeColumn(dropped);
    return name && `renamed? --renamed ${formatPathForShell(formatRename(dropped, name))}`;
  };
}

const columnsOf = (definition: Definition | undefined): readonly Column[] =>
  definition?.kind === 'table' ? definition.columns : [];

const columnKey = (definition: Definition | undefined): string =>
  columnsOf(definition)
    .map(({ name, type }) => `${foldCase(name)} ${type}`)
    .sort()
    .join('\0');
