/*! A draft collects the statements of a plan and executes each on an engine. A proof (prove.ts) later finds the rows that are lost. */
import { type Alteration, type PropertyName, printAlter, printRight } from '@sqlpipe/ddl';
import { type Conversion, type Engine, type Execution, isNotExecutable, OpaqueError } from '@sqlpipe/engine';
import {
  addToList,
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
import { findRemovedGrants, ignoresProperty, type KeepOptions } from '../context/kept-of-b.js';
import type { PlanContext } from '../context/plan-context.js';
import { type ObjectPath, pathKey } from '../losses/losses.js';
import { type Change, changeKey, describeChange, type Obstacle, type Omission } from '../losses/omission.js';
import type { Assertion } from '../queries/assertions.js';
import { formatChangedValues } from '../queries/conversions.js';

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
  readonly conversions = new Map<string, Conversion>();
  readonly omissions: Omissions;
  /** Objects that the plan cannot change as needed. An object that reads a blocked object is left out too. */
  readonly #blocked = new NameSet();
  /**
   * For each view, the first step that makes it invalid or changes a plain view below it. After this step, no server can say whether the
   * query of a materialized view returns all rows that the view stores.
   */
  readonly #outdatedBy = new NameMap<Step>();

  /**
   * @param engine has the objects of B
   * @param excluded the changes that the proofs of earlier drafts have excluded, by `changeKey`
   */
  constructor(
    readonly engine: Engine,
    private readonly excluded: ReadonlyMap<string, Omission>,
    readonly context: PlanContext,
  ) {
    this.omissions = new Omissions(context);
  }

  /**
   * Adds all statements of a change. Adds none of them if the change is ignored or excluded, or if the engine rejects a statement. If a
   * statement recreates an object, the grants on this object are added after the statement.
   */
  add(change: Change, statements: readonly (string | Assertion)[]): boolean {
    if (isIgnored(change, this.context)) return false;
    const excluded = this.excluded.get(changeKey(change));
    if (excluded) {
      this.omissions.add(excluded);
      return false;
    }
    const savepoint = this.engine.log.savepoint();
    const steps: Step[] = [];
    const executions: Execution[] = [];
    const execute = (step: Step): void => {
      steps.push(step);
      const execution = this.engine.execute(step.statement);
      executions.push(execution);
      // The grants follow at once. If a plan is interrupted between the CREATE and the GRANT, the next plan no longer knows the grant.
      const created = execution.transitions.flatMap(({ before, after }) => (after && !before ? after.name : []));
      for (const grant of created.flatMap(name => findRemovedGrants(name, this.engine, this.context)))
        execute({ statement: printRight(grant), change });
    };
    try {
      for (const each of statements)
        execute(
          typeof each === 'string'
            ? { statement: each, change }
            : { statement: each.statement, assertion: each, change },
        );
      for (const [i, step] of steps.entries()) this.#addStep(step, executions[i], statements.length > 1);
      return true;
    } catch (error) {
      this.engine.log.rollback(savepoint);
      this.omit(change, formatExecutionError(error, ...steps.map(({ statement }) => statement)));
      return false;
    }
  }

  /**
   * Adds a step:
   * - The DROP of a materialized view that is recreated goes before the step that outdates the view (`#outdatedBy`), unless the user allows
   *   the loss of its rows. If a plan is interrupted while a view is outdated, no later plan can ask what its DROP would lose.
   * - Any other step goes to the end.
   */
  #addStep(step: Step, execution: Execution | undefined, isRecreation: boolean): void {
    const { effects = [], transitions = [] } = execution ?? {};
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

  block(...names: readonly string[]): void {
    for (const name of names) this.#blocked.add(name);
  }

  isBlocked(name: string): boolean {
    return this.#blocked.has(name);
  }

  omit(change: Omit<Change, 'id'>, ...[reason, ...hints]: Obstacle): void {
    this.omissions.add({ ...change, reasons: [reason], losses: [], hints });
  }

  /** Formats how many values the conversion of a column changes, as the end of a sentence. @param path has the names after the plan */
  formatChangedValues(path: ObjectPath): string {
    const conversion = this.conversions.get(pathKey(this.context.renames.pathBeforePlan(path)));
    return formatChangedValues(conversion && this.context.answers.askChangedValues(conversion));
  }
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
export const isIgnored = ({ identity, properties: [property] }: Omit<Change, 'id'>, options: KeepOptions): boolean =>
  property !== undefined && ignoresProperty(options, identity, property);

/** What a draft leaves out. */
class Omissions {
  /** By what is shown of them. If a draft tries to give the same right twice, its omission is listed once. */
  readonly #omissions = new Map<string, Omission>();
  readonly #omissionsByObject = new Map<string, Omission[]>();

  constructor(private readonly options: KeepOptions) {}

  add(omission: Omission): void {
    const { identity, properties, what, reasons, losses, hints } = omission;
    const key = `${namespaceKey(identity)} ${JSON.stringify([properties, what, reasons, losses, hints])}`;
    if (isIgnored(omission, this.options) || this.#omissions.has(key)) return;
    this.#omissions.set(key, omission);
    addToList(this.#omissionsByObject, omissionKey(identity), omission);
  }

  list(): Omission[] {
    return [...this.#omissions.values()];
  }

  /** Whether something of an object or a principal is left out. @param property by default any */
  has(identity: KindAndName, property?: PropertyName): boolean {
    return (this.#omissionsByObject.get(omissionKey(identity)) ?? []).some(
      ({ properties }) => property === undefined || properties.length === 0 || properties.includes(property),
    );
  }
}
