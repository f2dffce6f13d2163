/*! A draft collects the statements of a plan and executes each on an engine. A proof (prove.ts) later finds the rows that are lost. */
import {
  type Alteration,
  COLUMN_ORDER,
  findUnalterable,
  isLossless,
  type PropertyDifference,
  type PropertyName,
  printAlter,
  printRight,
  type Unalterable,
} from '@sqlpipe/ddl';
import { type Conversion, type Engine, type Execution, isNotExecutable, OpaqueError } from '@sqlpipe/engine';
import { compareSchemas } from '@sqlpipe/schema';
import {
  addToList,
  displayName,
  findSecrets,
  isNamedKind,
  type KindAndName,
  NameMap,
  NameSet,
  namespaceKey,
  type ObjectKind,
  printOnOneLine,
  redactFully,
} from '@sqlpipe/sql';
import { maskSecrets } from '@sqlpipe/text';
import { isAuxiliaryTable } from '../auxiliary.js';
import { findRemovedGrants, ignoresProperty, type PlanContext } from '../context/plan-context.js';
import {
  type Change,
  COLUMN_ORDER_REASON,
  changeKey,
  columnOrderHints,
  describeChange,
  formatPath,
  formatPathForShell,
  type ObjectPath,
  type Obstacle,
  type Omission,
  pathKey,
} from '../losses.js';
import { type Assertion, conversionAssertion } from '../queries/assertions.js';
import { formatChangedValues, printMisfit } from '../queries/conversions.js';
import { findMisfitConditions, type RowCondition } from '../queries/row-conditions.js';

export interface Step {
  readonly statement: string;
  readonly assertion?: Assertion;
  readonly change: Change;
}

/** The change that a statement makes. Its secrets are removed from what is shown. */
export const toStatementChange = (statement: string, identity: KindAndName, properties?: readonly PropertyName[]) => ({
  ...describeChange(identity, printOnOneLine(redactFully(statement)), properties),
  id: statement,
});

export class Draft {
  readonly steps: Step[] = [];
  readonly #statements = new Set<string>();
  /** The conversions that may change values, by `pathKey` of the column in B. */
  readonly #conversions = new Map<string, Conversion>();
  /** What is left out, by what is shown of it. If a draft tries to give the same right twice, this is listed once. */
  readonly #omissions = new Map<string, Omission>();
  readonly #omissionsByObject = new Map<string, Omission[]>();
  /** Objects that the plan cannot change as needed. An object that reads a blocked object is left out too. */
  readonly blocked = new NameSet();
  /** For each view, the first step that invalidates it or changes a plain view below it. After it, no server can compare its rows. */
  readonly #outdatedBy = new NameMap<Step>();

  /** @param engine has the objects of B @param excluded the changes that earlier proofs have excluded, by `changeKey` */
  constructor(
    readonly engine: Engine,
    private readonly excluded: ReadonlyMap<string, Omission>,
    readonly context: PlanContext,
  ) {}

  /**
   * Adds all statements of a change. Adds none of them if the change is ignored or excluded, or if the engine rejects a statement. If a
   * statement recreates an object, the grants on this object are added after the statement.
   */
  add(change: Change, statements: readonly (string | Assertion)[]): boolean {
    if (isIgnored(change, this.context)) return false;
    const excluded = this.excluded.get(changeKey(change));
    if (excluded) {
      this.addOmission(excluded);
      return false;
    }
    const savepoint = this.engine.log.savepoint();
    const executed: [Step, Execution][] = [];
    const execute = (step: Step): void => {
      const execution = this.engine.execute(step.statement);
      executed.push([step, execution]);
      // The grants follow at once. If a plan is interrupted between the CREATE and the GRANT, the next plan no longer knows the grant.
      const created = execution.transitions.flatMap(({ before, after }) => (after && !before ? after.name : []));
      for (const grant of created.flatMap(name => findRemovedGrants(name, this.engine, this.context)))
        execute({ statement: printRight(grant), change });
    };
    try {
      for (const each of statements)
        if (typeof each === 'string') execute({ statement: each, change });
        else execute({ statement: each.statement, assertion: each, change });
      for (const [step, execution] of executed) this.#addStep(step, execution, statements.length > 1);
      return true;
    } catch (error) {
      this.engine.log.rollback(savepoint);
      this.omit(change, formatExecutionError(error, ...statements.filter(each => typeof each === 'string')));
      return false;
    }
  }

  /**
   * Adds a step:
   * - The DROP of a materialized view that is recreated goes before the step that outdates the view (`#outdatedBy`), unless the user allows
   *   the loss of its rows. If a plan is interrupted while a view is outdated, no later plan can ask what its DROP would lose.
   * - Any other step goes to the end.
   */
  #addStep(step: Step, { effects, transitions }: Execution, isRecreation: boolean): void {
    const { object = '' } = effects.find(each => each.kind === 'materialized view' && each.lossKind === 'drop') ?? {};
    const isEarly = isRecreation && !this.context.allowed.allows({ lossKind: 'history', object });
    const outdatingStep = isEarly ? this.#outdatedBy.get(object) : undefined;
    this.#insert(step, outdatingStep);
    // Other views that the same step outdates may read the dropped view. So their DROPs, if any, are inserted before this DROP.
    for (const [view, first] of outdatingStep ? this.#outdatedBy : [])
      if (first === outdatingStep) this.#outdatedBy.set(view, step);
    const invalidated = effects.flatMap(({ type, object }) => (type === 'invalidated' ? [object] : []));
    const redefined = transitions.flatMap(({ before, after }) =>
      before?.kind === 'view' && after?.kind === 'view' && before.body !== after.body ? [after.name] : [],
    );
    for (const view of [...invalidated, ...this.engine.catalogue.withReaders(redefined)])
      if (!this.#outdatedBy.has(view)) this.#outdatedBy.set(view, step);
  }

  addStatement(statement: string, identity: KindAndName, properties: readonly PropertyName[] = []): boolean {
    return this.add(toStatementChange(statement, identity, properties), [statement]);
  }

  /** Inserts a statement before the first step that is no assertion. The draft's engine executes it after all steps so far. */
  addBeforeChanges(statement: string, identity: KindAndName): void {
    this.engine.execute(statement);
    const firstChange = this.steps.find(({ assertion }) => assertion === undefined);
    this.#insert({ statement, change: toStatementChange(statement, identity) }, firstChange);
  }

  /** @param next the step that follows; undefined at the end */
  #insert(step: Step, next: Step | undefined): void {
    this.#statements.add(step.statement);
    this.steps.splice(next ? this.steps.indexOf(next) : this.steps.length, 0, step);
  }

  hasStep(statement: string): boolean {
    return this.#statements.has(statement);
  }

  excludes(statement: string, identity: KindAndName): boolean {
    return this.excluded.has(changeKey({ identity, id: statement }));
  }

  alter(kind: ObjectKind, name: string, alteration: Alteration, properties: readonly PropertyName[]): boolean {
    return this.addStatement(printAlter({ kind, name, alteration }), { kind, name }, properties);
  }

  omit(change: Omit<Change, 'id'>, ...[reason, ...hints]: Obstacle): void {
    this.addOmission({ ...change, reasons: [reason], losses: [], hints });
  }

  addOmission(omission: Omission): void {
    const { identity, properties, what, reasons, losses, hints } = omission;
    const key = `${namespaceKey(identity)} ${JSON.stringify([properties, what, reasons, losses, hints])}`;
    if (isIgnored(omission, this.context) || this.#omissions.has(key)) return;
    this.#omissions.set(key, omission);
    addToList(this.#omissionsByObject, omissionKey(identity), omission);
  }

  get omissions(): Omission[] {
    return [...this.#omissions.values()];
  }

  /** Whether something of an object or a principal is left out. @param property by default any */
  omits(identity: KindAndName, property?: PropertyName): boolean {
    return (this.#omissionsByObject.get(omissionKey(identity)) ?? []).some(
      ({ properties }) => property === undefined || properties.length === 0 || properties.includes(property),
    );
  }

  /** Records a conversion. @returns asserts that no value changes: if one may not fit (`printMisfit`), or if the server found no change */
  recordConversion(conversion: Conversion): Assertion[] {
    if (printMisfit(conversion) !== undefined) return [conversionAssertion(conversion)];
    if (isLossless(conversion.from, conversion.to)) return [];
    const inB = withNamesOfB(conversion, this.context);
    this.#conversions.set(pathKey({ object: inB.table, column: inB.column }), inB);
    return this.context.answers.askChangedValues(inB)?.changed === 0 ? [conversionAssertion(conversion)] : [];
  }

  /** Formats how many values the conversion of a column changes, as the end of a sentence. @param path has the names after the plan */
  formatChangedValues(path: ObjectPath): string {
    const conversion = this.#conversions.get(pathKey(this.context.renames.pathBeforePlan(path)));
    return formatChangedValues(conversion && this.context.answers.askChangedValues(conversion));
  }
}

function withNamesOfB({ table, column, ...types }: Conversion, { renames }: PlanContext): Conversion {
  const path = renames.pathBeforePlan({ object: table, column });
  return { ...types, table: path.object, column: path.column ?? '' };
}

/** Forbids a conversion because of values that do not fit. `Draft.recordConversion` asks for the values that fit and change. */
export const findMisfitObstacle = (conversion: Conversion, context: PlanContext): Obstacle | undefined =>
  findRowObstacle(findMisfitConditions(withNamesOfB(conversion, context)), context);

/** @param conditions have the names of B */
export function findRowObstacle(conditions: readonly RowCondition[], { answers }: PlanContext): Obstacle | undefined {
  for (const { questions, formatProblem } of conditions) {
    const count = answers.askCount(questions[0]);
    if (count) return formatProblem(count);
  }
  return undefined;
}

/** Says why the engine does not execute a statement. The statements' secrets are masked. @throws an error that is not about a statement */
export function formatExecutionError(error: unknown, ...statements: readonly string[]): string {
  if (!isNotExecutable(error)) throw error;
  const reason = maskSecrets(error.message.trim(), statements.flatMap(findSecrets));
  return error instanceof OpaqueError ? reason : `the server would reject it: ${reason}`;
}

/** A right has no name, so all rights of a kind have the same key. */
const omissionKey = (item: KindAndName): string => (isNamedKind(item.kind) ? namespaceKey(item) : item.kind);

/** Whether an option ignores a change. Its first property decides, because the others follow from it. */
const isIgnored = ({ identity, properties: [property] }: Omit<Change, 'id'>, context: PlanContext): boolean =>
  property !== undefined && ignoresProperty(context, identity, property);

/**
 * Lists each difference from A that no omission of the same object explains. A right has no name: any omission of its kind explains it.
 * @throws Error for a difference that a statement removes: then the plan does not lead to A
 */
export function omitRemaining(draft: Draft): void {
  const { engine, context } = draft;
  const { a, ignoreExtra, defaults, ignoreOwner = false, ignore } = context;
  for (const entry of a.entries)
    if (entry.kind === 'other') draft.omit(describeChange(entry), 'it creates no object that can be compared');
  const { differences } = compareSchemas(a.statements, engine.statements(), { defaults, ignoreOwner, ignore });
  for (const { identity, a: wanted, comparison } of differences) {
    if (wanted === undefined && (ignoreExtra || isAuxiliaryTable(identity.name, context))) continue;
    // If an object is blocked, later changes of it were not tried. So one omission explains all of its differences.
    if (draft.omits(identity) && (!comparison || draft.blocked.has(identity.name))) continue;
    if (!comparison) throw new Error(`the plan does not lead to A: ${displayName(identity)}`);
    for (const difference of comparison.differences)
      if (!draft.omits(identity, difference.property)) omitProperty(identity, difference, draft);
  }
}

/** @throws Error if `ddl` gives no reason why no statement removes the difference: then an ALTER exists that the draft lacks */
export function omitProperty(identity: KindAndName, { property, a, b }: PropertyDifference, draft: Draft): void {
  const change = { identity, properties: [property] };
  if (property === COLUMN_ORDER) {
    const order = { ...change, what: `${property}: (${b}) to (${a})` };
    return draft.omit(order, COLUMN_ORDER_REASON, ...columnOrderHints(identity.name));
  }
  const unalterable = findUnalterable(property, identity.kind);
  if (!unalterable) throw new Error(`${displayName(identity)}: no statement was found for ${property}: ${b} to ${a}`);
  draft.omit({ ...change, what: `${property}: ${b} to ${a}` }, ...formatUnalterable(identity.name, unalterable));
}

export const formatUnalterable = (table: string, { reason, needsNewTable }: Unalterable): Obstacle => [
  ['cannot be altered', reason, needsNewTable && 'needs a new table'].filter(Boolean).join(': '),
  ...(needsNewTable ? [`--rebuild ${formatPathForShell(formatPath({ object: table }))} makes one`] : []),
];
