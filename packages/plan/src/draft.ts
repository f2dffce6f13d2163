/*!
 * A draft of a plan: statements that an engine has accepted one after the other, each for one change. What a draft loses is
 * not decided here, but by running it (prove.ts).
 */
import { type Alteration, type Definition, printAlter } from '@sqlpipe/ddl';
import { type Engine, isNotExecutable, OpaqueError } from '@sqlpipe/engine';
import { IgnoreRules } from '@sqlpipe/schema';
import { foldCase, type Identity, identityKey, type ObjectKind } from '@sqlpipe/sql';
import type { Loss } from './losses.js';
import { describe } from './text/statement-text.js';

/** A difference that a plan removes, or leaves out. */
export interface Change {
  readonly identity: Identity;
  /** The properties that differ, as in a comparison; empty for the complete object. */
  readonly properties: readonly string[];
  /** What is done, on one line: `ALTER TABLE 'trades' DROP COLUMN qty`. */
  readonly what: string;
}

/** A statement, and the change that it belongs to. */
export interface Step {
  readonly statement: string;
  readonly change: Change;
}

/** A difference that remains. */
export interface Omission extends Change {
  readonly reasons: readonly string[];
  /** The losses that have to be allowed. */
  readonly losses?: readonly Loss[];
  /** What can be done instead: `--rebuild trades makes a new table`. */
  readonly hints?: readonly string[];
}

/** Why a change is left out, and what can be done. */
export type Refusal = readonly [reason: string, ...hints: string[]];

/** A key that is the same for the same change in the next draft. */
export const changeKey = ({ identity, what }: Change): string => `${identityKey(identity)} ${what}`;

/** The statements so far, and the schema after them. */
export class Draft {
  readonly steps: Step[] = [];
  readonly omissions: Omission[] = [];
  /** The names of objects that will not be there as wanted, in lower case, so that nothing over them can be created. */
  readonly #blocked = new Set<string>();

  /**
   * @param engine B, which the statements change
   * @param excluded the changes that must not be made, by `changeKey`, because they cannot be proven
   */
  constructor(
    readonly engine: Engine,
    readonly excluded: ReadonlyMap<string, Omission>,
    readonly ignore = new IgnoreRules(),
  ) {}

  /** Adds the statements of a change, unless it is excluded or the engine rejects one of them. @returns whether it was added */
  add(change: Change, statements: readonly string[]): boolean {
    if (this.#isIgnored(change)) return false;
    const excluded = this.excluded.get(changeKey(change));
    const reason = excluded ? undefined : this.#execute(statements);
    if (excluded) {
      if (!this.omissions.includes(excluded)) this.omissions.push(excluded);
    } else if (reason !== undefined) this.omit(change, reason);
    else for (const statement of statements) this.steps.push({ statement, change });
    return !excluded && reason === undefined;
  }

  /** Whether what a change is about is ignored: the first of its properties, of which the others are a consequence. */
  #isIgnored({ identity, properties: [property] }: Change): boolean {
    return property !== undefined && this.ignore.ignoresProperty(identity, property);
  }

  /** Adds one statement that is a change by itself. */
  addStatement(statement: string, identity: Identity, properties: readonly string[] = []): boolean {
    return this.add({ identity, properties, what: describe(statement) }, [statement]);
  }

  /** Whether a statement that is a change by itself is excluded. */
  excludes(statement: string, identity: Identity): boolean {
    return this.excluded.has(changeKey({ identity, properties: [], what: describe(statement) }));
  }

  /** Adds an ALTER. */
  alter(kind: ObjectKind, name: string, alteration: Alteration, properties: string[]): boolean {
    const identity = { kind, name, verb: 'ALTER' };
    return this.addStatement(printAlter({ kind, name, alteration }), identity, properties);
  }

  /** Executes statements on the engine. @returns why one is rejected; then none has an effect */
  #execute(statements: readonly string[]): string | undefined {
    const before = this.engine.savepoint();
    try {
      for (const statement of statements) this.engine.execute(statement);
      return undefined;
    } catch (error) {
      this.engine.rollback(before);
      return whyNotExecutable(error);
    }
  }

  /** The invalid views that there would be after a statement, by name in lower case, with the reasons. */
  preview(statement: string): ReadonlyMap<string, string> {
    const before = this.engine.savepoint();
    this.engine.execute(statement);
    const invalid = this.engine.invalidViews();
    this.engine.rollback(before);
    return invalid;
  }

  /** Lists a difference that remains. */
  omit(change: Change, ...[reason, ...hints]: Refusal): void {
    if (!this.#isIgnored(change)) this.omissions.push({ ...change, reasons: [reason], hints });
  }

  /** Whether a difference of an object is listed already. */
  lists(identity: Identity, property?: string): boolean {
    return this.omissions.some(
      omission =>
        identityKey(omission.identity) === identityKey(identity) &&
        (property === undefined || omission.properties.length === 0 || omission.properties.includes(property)),
    );
  }

  block(...names: string[]): void {
    for (const name of names) this.#blocked.add(foldCase(name));
  }

  isBlocked(name: string): boolean {
    return this.#blocked.has(foldCase(name));
  }

  /** The definition of an object as it is now; undefined if there is none, or its syntax is unknown. */
  definitionOf(name: string): Definition | undefined {
    return this.engine.definitionOf(name);
  }
}

/** Why a statement cannot be executed. @throws the error, if it is another one */
export function whyNotExecutable(error: unknown): string {
  if (!isNotExecutable(error)) throw error;
  return error instanceof OpaqueError ? error.message : `the server would reject it: ${error.message}`;
}
