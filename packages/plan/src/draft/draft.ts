/*! A draft collects the statements of a plan and executes each on an engine. A proof (prove.ts) later finds the rows that are lost. */
import { type Alteration, type PropertyName, printAlter, printRight } from '@sqlpipe/ddl';
import { type Conversion, type Engine, type Execution, isNotExecutable, OpaqueError } from '@sqlpipe/engine';
import {
  addToList,
  displayName,
  findSecrets,
  hasName,
  type NamedObject,
  NameMap,
  NameSet,
  namespaceKey,
  type ObjectKind,
  redactFully,
} from '@sqlpipe/sql';
import { maskSecrets } from '@sqlpipe/text';
import { findRemovedGrants, ignoresProperty } from '../context/kept-of-b.js';
import type { PlanContext } from '../context/plan-context.js';
import { type ObjectPath, pathKey } from '../losses/object-path.js';
import type { Change, Omission } from '../losses/omission.js';
import type { Assertion } from '../queries/assertions.js';
import { formatChangedValues } from '../queries/conversions.js';
import { printOnOneLine } from '../statements.js';

export interface Step {
  readonly statement: string;
  readonly assertion?: Assertion;
  readonly change: Change;
}

export type Refusal = readonly [reason: string, ...hints: string[]];

/** A key that is equal for the same change of two drafts. Object and property are not enough: DROP INDEX and ADD INDEX share both. */
export const changeKey = ({ identity, what }: Change): string => `${namespaceKey(identity)} ${what}`;

const omissionKey = (identity: NamedObject): string => (hasName(identity) ? namespaceKey(identity) : identity.kind);

export const changeOf = (
  identity: NamedObject,
  what = displayName(identity),
  properties: readonly PropertyName[] = [],
): Change => ({ identity, properties, what });

/** Describes the change by its statement, without secrets, because `what` is shown to the user. */
const changeByStatement = (statement: string, identity: NamedObject, properties?: readonly PropertyName[]) =>
  changeOf(identity, printOnOneLine(redactFully(statement)), properties);

export class Draft {
  readonly steps: Step[] = [];
  readonly #statements = new Set<string>();
  /** The old names of the tables that the draft renames. */
  readonly renamedTables: string[] = [];
  /** The conversions that may change values, by `pathKey` of the column in B. */
  readonly conversions = new Map<string, Conversion>();
  /** The omissions, by their content. If a draft tries to give the same right twice, its omission is listed once. */
  readonly #omissions = new Map<string, Omission>();
  readonly #omissionsByObject = new Map<string, Omission[]>();
  /** Objects that the plan cannot change as needed. An object that reads a blocked object is left out too. */
  readonly #blocked = new NameSet();
  /**
   * For each materialized view, the first step that makes it invalid or changes a plain view below it. After this step, no server can say
   * whether the query of the materialized view returns all rows that it stores.
   */
  readonly #outdatedBy = new NameMap<Step>();

  /** @param engine has the objects of B @param excluded the changes that the proofs of earlier drafts have excluded, by `changeKey` */
  constructor(
    readonly engine: Engine,
    readonly excluded: ReadonlyMap<string, Omission>,
    readonly context: PlanContext,
  ) {}

  /**
   * Adds all statements of a change. Adds none of them if the change is ignored or excluded, or if the engine rejects a statement. If a
   * statement recreates an object, the grants on this object are added after the statement.
   */
  add(change: Change, statements: readonly (string | Assertion)[]): boolean {
    if (this.isIgnored(change.identity, change.properties[0])) return false;
    const excluded = this.excluded.get(changeKey(change));
    if (excluded) {
      this.addOmission(excluded);
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
      this.omit(change, whyNotExecutable(error, ...steps.map(({ statement }) => statement)));
      return false;
    }
  }

  /**
   * Adds a step at the end. Only the DROP of a view that is recreated is inserted before the step that outdates the view (`#outdatedBy`).
   * If a plan is interrupted while a view is outdated, the next plan cannot ask the server what a DROP of the view would lose. If the user
   * allows this loss, nothing has to be asked, so the DROP is added at the end.
   */
  #addStep(step: Step, execution: Execution | undefined, isRecreation: boolean): void {
    const { effects = [], transitions = [] } = execution ?? {};
    const { object = '' } = effects.find(({ kind, loss }) => kind === 'materialized view' && loss === 'drop') ?? {};
    const isEarly = isRecreation && !this.context.allowed.allows({ lossKind: 'history', object });
    const outdatingStep = isEarly ? this.#outdatedBy.get(object) : undefined;
    this.#insert(step, outdatingStep);
    // Other views that the same step outdates may read the dropped view. So their DROPs, if any, are inserted before this DROP.
    for (const [view, first] of this.#outdatedBy) if (first === outdatingStep) this.#outdatedBy.set(view, step);
    const invalidated = effects.flatMap(({ type, object }) => (type === 'invalidated' ? [object] : []));
    const redefined = transitions.flatMap(({ before, after }) =>
      before?.kind === 'view' && after?.kind === 'view' && before.body !== after.body ? [after.name] : [],
    );
    for (const view of [...invalidated, ...this.engine.catalogue.withReaders(redefined)])
      if (!this.#outdatedBy.has(view)) this.#outdatedBy.set(view, step);
  }

  /** Whether an option ignores a property. The first property of a change decides, because the others follow from it. */
  isIgnored(identity: NamedObject, property: PropertyName | undefined): boolean {
    return property !== undefined && ignoresProperty(this.context, identity, property);
  }

  addStatement(statement: string, identity: NamedObject, properties: readonly PropertyName[] = []): boolean {
    return this.add(changeByStatement(statement, identity, properties), [statement]);
  }

  /** Inserts a statement before the first step that is no assertion. The engine executes it last, so the steps so far must not need it. */
  addBeforeChanges(statement: string, identity: NamedObject): void {
    this.engine.execute(statement);
    const firstChange = this.steps.find(({ assertion }) => assertion === undefined);
    this.#insert({ statement, change: changeByStatement(statement, identity) }, firstChange);
  }

  /** @param next the step that follows; undefined at the end */
  #insert(step: Step, next: Step | undefined): void {
    this.#statements.add(step.statement);
    this.steps.splice(next ? this.steps.indexOf(next) : this.steps.length, 0, step);
  }

  hasStep(statement: string): boolean {
    return this.#statements.has(statement);
  }

  excludes(statement: string, identity: NamedObject): boolean {
    return this.excluded.has(changeKey(changeByStatement(statement, identity)));
  }

  alter(kind: ObjectKind, name: string, alteration: Alteration, properties: readonly PropertyName[]): boolean {
    return this.addStatement(printAlter({ kind, name, alteration }), { kind, name }, properties);
  }

  /** Finds the views that would be invalid after a statement, with the reasons. */
  preview(statement: string): NameMap<string> {
    const savepoint = this.engine.log.savepoint();
    this.engine.execute(statement);
    const invalid = this.engine.invalidViews();
    this.engine.log.rollback(savepoint);
    return invalid;
  }

  omit(change: Change, ...[reason, ...hints]: Refusal): void {
    this.addOmission({ ...change, reasons: [reason], losses: [], hints });
  }

  addOmission(omission: Omission): void {
    const { identity, ...content } = omission;
    const key = `${namespaceKey(identity)} ${JSON.stringify(content)}`;
    if (this.isIgnored(identity, omission.properties[0]) || this.#omissions.has(key)) return;
    this.#omissions.set(key, omission);
    addToList(this.#omissionsByObject, omissionKey(identity), omission);
  }

  get omissions(): readonly Omission[] {
    return [...this.#omissions.values()];
  }

  /** The omissions of an object or a principal. A right has no name, so these are the omissions of its kind. */
  omissionsOf(identity: NamedObject): readonly Omission[] {
    return this.#omissionsByObject.get(omissionKey(identity)) ?? [];
  }

  hasOmission(identity: NamedObject, property?: PropertyName): boolean {
    return this.omissionsOf(identity).some(
      ({ properties }) => property === undefined || properties.length === 0 || properties.includes(property),
    );
  }

  /** Formats how many values the conversion of a column changes, as the end of a sentence. @param path has the names after the plan */
  formatChangedValues(path: ObjectPath): string {
    const conversion = this.conversions.get(pathKey(this.context.renames.pathBeforePlan(path)));
    return formatChangedValues(conversion && this.context.answers.findChangedValues(conversion));
  }

  block(...names: string[]): void {
    for (const name of names) this.#blocked.add(name);
  }

  isBlocked(name: string): boolean {
    return this.#blocked.has(name);
  }
}

/** Says why the engine does not execute a statement. The statements' secrets are masked. @throws an error that is not about a statement */
export function whyNotExecutable(error: unknown, ...statements: readonly string[]): string {
  if (!isNotExecutable(error)) throw error;
  const reason = maskSecrets(error.message.trim(), statements.flatMap(findSecrets));
  return error instanceof OpaqueError ? reason : `the server would reject it: ${reason}`;
}
