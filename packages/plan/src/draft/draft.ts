/*! A draft executes each statement on an engine when it is added. What the draft loses is found later, when it is proven (prove.ts). */
import { type Alteration, type PropertyName, printAlter } from '@sqlpipe/ddl';
import { type Engine, type Execution, isNotExecutable, OpaqueError } from '@sqlpipe/engine';
import {
  displayName,
  findSecrets,
  identityKey,
  type NamedObject,
  NameMap,
  NameSet,
  type ObjectKind,
  redactFully,
} from '@sqlpipe/sql';
import { maskSecrets } from '@sqlpipe/text';
import type { PlanContext } from '../context/plan-context.js';
import type { NamedLoss } from '../losses/losses.js';
import type { Change, Omission } from '../losses/omission.js';
import type { Assertion } from '../queries/assertions.js';
import { printOnOneLine } from '../statements/statement-text.js';

export interface Step {
  readonly statement: string;
  readonly assertion?: Assertion;
  readonly change: Change;
}

export type Refusal = readonly [reason: string, ...hints: string[]];

/** By this key, the next draft recognizes a change. */
export const changeKey = ({ identity, what }: Change): string => `${identityKey(identity)} ${what}`;

export const changeOf = (
  identity: NamedObject,
  what = displayName(identity),
  properties: readonly PropertyName[] = [],
): Change => ({ identity, properties, what });

/** A secret is not shown, so `what` does not contain it. */
const changeByStatement = (statement: string, identity: NamedObject, properties?: readonly PropertyName[]) =>
  changeOf(identity, printOnOneLine(redactFully(statement)), properties);

export class Draft {
  readonly steps: Step[] = [];
  /** The old names of the tables that the draft renames. */
  readonly renamedTables: string[] = [];
  /** The allowed losses that the draft relies on. */
  readonly acceptedLosses: NamedLoss[] = [];
  readonly #omissions = new Set<Omission>();
  /** What reads a blocked object is left out too. */
  readonly #blocked = new NameSet();
  /**
   * By view: the first step after which no server can say whether its query returns its rows. The step makes the view invalid, or changes
   * the query of a plain view below it.
   */
  readonly #outdatedBy = new NameMap<Step>();

  /** @param engine has B @param excluded the changes that the proofs of earlier drafts have excluded, by `changeKey` */
  constructor(
    readonly engine: Engine,
    readonly excluded: ReadonlyMap<string, Omission>,
    readonly context: PlanContext,
  ) {}

  /** @returns false if the change is ignored or excluded, or if the engine rejects a statement: then none is added */
  add(change: Change, statements: readonly (string | Assertion)[]): boolean {
    if (this.isIgnored(change.identity, change.properties[0])) return false;
    const excluded = this.excluded.get(changeKey(change));
    if (excluded) {
      this.addOmission(excluded);
      return false;
    }
    const before = this.engine.savepoint();
    const steps = statements.map(
      (each): Step =>
        typeof each === 'string' ? { statement: each, change } : { statement: each.statement, assertion: each, change },
    );
    try {
      const executions = steps.map(({ statement }) => this.engine.execute(statement));
      for (const [i, step] of steps.entries()) this.#addStep(step, executions[i], steps.length > 1);
      return true;
    } catch (error) {
      this.engine.rollback(before);
      this.omit(change, whyNotExecutable(error, ...steps.map(({ statement }) => statement)));
      return false;
    }
  }

  /**
   * The DROP of a recreated view comes before the first step that outdates the view. Otherwise, after an interruption, no server could say
   * whether its query returns all rows. If the loss of these rows is allowed, the DROP is not moved.
   */
  #addStep(step: Step, execution: Execution | undefined, isRecreation: boolean): void {
    const { effects = [], transitions = [] } = execution ?? {};
    const { object = '' } = effects.find(({ kind, loss }) => kind === 'materialized view' && loss === 'drop') ?? {};
    const isEarly = isRecreation && !this.context.allowed.allows({ loss: 'history', object });
    const cause = isEarly ? this.#outdatedBy.get(object) : undefined;
    this.steps.splice(cause ? this.steps.indexOf(cause) : this.steps.length, 0, step);
    // Views that the same step outdates may read from this one. They are dropped before it.
    for (const [view, first] of this.#outdatedBy) if (first === cause) this.#outdatedBy.set(view, step);
    const invalidated = effects.flatMap(({ effect, object }) => (effect === 'invalidated' ? [object] : []));
    const redefined = new NameSet(
      transitions.flatMap(({ before, after }) =>
        before?.kind === 'view' && after?.kind === 'view' && before.body !== after.body ? [after.name] : [],
      ),
    );
    const { catalogue } = this.engine;
    for (const name of redefined) for (const view of catalogue.dependentsOf(name)) redefined.add(view.name);
    for (const view of [...invalidated, ...redefined])
      if (!this.#outdatedBy.has(view)) this.#outdatedBy.set(view, step);
  }

  /** Whether an option ignores a property. The first property of a change decides, because the others follow from it. */
  isIgnored(identity: NamedObject, property: PropertyName | undefined): boolean {
    const { ignore, ignoreOwner } = this.context;
    if (property === undefined) return false;
    return (ignoreOwner && property === 'owner') || ignore.ignoresProperty(identity, property);
  }

  addStatement(statement: string, identity: NamedObject, properties: readonly PropertyName[] = []): boolean {
    return this.add(changeByStatement(statement, identity, properties), [statement]);
  }

  /**
   * Adds a statement after the assertions at the head. No step may depend on it, because the engine executes it after the others.
   * @param owner if the engine rejects the statement, the first change of this object gets it, so the proof excludes that change
   */
  addFirst(statement: string, identity: NamedObject, owner: NamedObject): void {
    const first = this.steps.findIndex(({ assertion }) => assertion === undefined);
    let change = changeByStatement(statement, identity);
    try {
      this.engine.execute(statement);
    } catch (error) {
      if (!isNotExecutable(error)) throw error;
      change = this.steps.find(step => identityKey(step.change.identity) === identityKey(owner))?.change ?? change;
    }
    this.steps.splice(first, 0, { statement, change });
  }

  excludes(statement: string, identity: NamedObject): boolean {
    return this.excluded.has(changeKey(changeByStatement(statement, identity)));
  }

  alter(kind: ObjectKind, name: string, alteration: Alteration, properties: readonly PropertyName[]): boolean {
    return this.addStatement(printAlter({ kind, name, alteration }), { kind, name }, properties);
  }

  preview(statement: string): NameMap<string> {
    const before = this.engine.savepoint();
    this.engine.execute(statement);
    const invalid = this.engine.invalidViews();
    this.engine.rollback(before);
    return invalid;
  }

  omit(change: Change, ...[reason, ...hints]: Refusal): void {
    this.addOmission({ ...change, reasons: [reason], losses: [], hints });
  }

  addOmission(omission: Omission): void {
    if (!this.isIgnored(omission.identity, omission.properties[0])) this.#omissions.add(omission);
  }

  get omissions(): readonly Omission[] {
    return [...this.#omissions];
  }

  hasOmission(identity: NamedObject, property?: PropertyName): boolean {
    return this.omissions.some(
      omission =>
        identityKey(omission.identity) === identityKey(identity) &&
        (property === undefined || omission.properties.length === 0 || omission.properties.includes(property)),
    );
  }

  /** @returns whether the loss is allowed */
  acceptLoss(loss: NamedLoss): boolean {
    const isAllowed = this.context.allowed.allows(loss);
    if (isAllowed) this.acceptedLosses.push(loss);
    return isAllowed;
  }

  block(...names: string[]): void {
    for (const name of names) this.#blocked.add(name);
  }

  isBlocked(name: string): boolean {
    return this.#blocked.has(name);
  }
}

/** Why a statement cannot be executed, without the secrets of the statements. @throws an error that is not about the statement */
export function whyNotExecutable(error: unknown, ...statements: readonly string[]): string {
  if (!isNotExecutable(error)) throw error;
  const reason = maskSecrets(error.message, statements.flatMap(findSecrets));
  return error instanceof OpaqueError ? reason : `the server would reject it: ${reason}`;
}
