/*! A schema in memory to which statements are applied. */
import {
  type AliasChange,
  type Alter,
  applyAlteration,
  type CompareOptions,
  type Definition,
  parseAliasChange,
  parseChange,
  parseMeaning,
  parseRevocation,
  parseRights,
  printDefinition,
  printGroup,
  printRight,
  type Right,
  RightSet,
} from '@sqlpipe/ddl';
import { foldCase, givesRight, isObject, isPrincipal, isSameName, type Kind } from '@sqlpipe/sql';
import { toEntry } from '../catalog.js';

/** An object of a schema. */
export interface SchemaObject {
  readonly kind: Kind;
  readonly name: string;
  /** The statement that creates it. */
  readonly statement: string;
  /** The definition in the statement; undefined if its syntax is unknown. */
  readonly definition: Definition | undefined;
}

/** Information about the server of a schema. */
export interface StateOptions {
  readonly defaults?: CompareOptions['defaults'];
}

/** The objects, principals and rights of a schema, changed by one statement at a time. */
export class SchemaState {
  readonly #options: StateOptions;
  readonly #objects = new Map<string, SchemaObject>();
  readonly #principals = new Map<string, string>();
  readonly #rights = new RightSet();
  /** Statements that give rights and whose syntax is unknown. */
  readonly #otherRights = new Set<string>();

  constructor(statements: Iterable<string> = [], options: StateOptions = {}) {
    this.#options = options;
    for (const statement of statements)
      if (givesRight(toEntry(statement).kind)) this.#give(statement, right => this.#rights.add(right));
      else this.apply(statement);
  }

  /** Finds an object by its name, in any case. */
  find(name: string): SchemaObject | undefined {
    return this.#objects.get(foldCase(name));
  }

  get objects(): Iterable<SchemaObject> {
    return this.#objects.values();
  }

  get rights(): RightSet {
    return this.#rights;
  }

  /** The statements that create the current objects, principals and rights. */
  *statements(): Generator<string> {
    yield* this.#principals.values();
    for (const { statement } of this.#objects.values()) yield statement;
    for (const right of this.#rights) yield printRight(right);
    yield* this.#otherRights;
  }

  /** Returns an independent copy. */
  clone(): SchemaState {
    const copy = new SchemaState([], this.#options);
    for (const [key, object] of this.#objects) copy.#objects.set(key, object);
    for (const [key, statement] of this.#principals) copy.#principals.set(key, statement);
    for (const right of this.#rights) copy.#rights.add(right);
    for (const statement of this.#otherRights) copy.#otherRights.add(statement);
    return copy;
  }

  /** Applies a statement; a statement whose syntax is unknown changes nothing. */
  apply(statement: string): void {
    const { kind, name } = toEntry(statement);
    if (isObject(kind)) this.#create(kind, name, statement);
    else if (isPrincipal(kind)) this.#principals.set(foldCase(name), statement);
    else if (givesRight(kind)) this.#give(statement, right => this.#rights.grant(right));
    else this.#change(statement);
  }

  #create(kind: Kind, name: string, statement: string): void {
    if (this.find(name)) return;
    const findTable = (model: string) => this.find(model)?.statement;
    const definition = parseMeaning(statement, { ...this.#options, findTable } as CompareOptions);
    this.#objects.set(foldCase(name), { kind, name, statement, definition });
  }

  #give(statement: string, give: (right: Right) => void): void {
    const rights = parseRights(statement);
    if (!rights) this.#otherRights.add(statement);
    for (const right of rights ?? []) give(right);
  }

  #change(statement: string): void {
    for (const right of parseRevocation(statement) ?? []) this.#rights.revoke(right);
    const alias = parseAliasChange(statement);
    if (alias) return this.#changeAlias(alias);
    const change = parseChange(statement, this.#options.defaults);
    if (change?.verb === 'alter') for (const alter of change.alters) this.#alter(alter);
    else if (change?.verb === 'drop' && isPrincipal(change.kind)) this.#dropPrincipal(change.name);
    else if (change?.verb === 'drop' && this.find(change.name)?.kind === change.kind) this.#drop(change.name);
    else if (change?.verb === 'rename') this.#rename(change.name, change.to);
  }

  #changeAlias({ group, alias }: AliasChange): void {
    const found = this.#principals.get(foldCase(group));
    if (found !== undefined) this.#principals.set(foldCase(group), printGroup(toEntry(found).name, alias));
  }

  /** Who is in it, and what it was given, goes with it. */
  #dropPrincipal(name: string): void {
    this.#principals.delete(foldCase(name));
    this.#rights.drop(name);
  }

  #alter({ kind, name, alteration }: Alter): void {
    const object = this.find(name);
    if (!object?.definition || object.kind !== kind) return;
    this.#put(object.kind, applyAlteration(object.definition, alteration));
    if (alteration.change !== 'rename column' && alteration.change !== 'drop column') return;
    for (const right of this.rightsOn(name, alteration.column)) {
      this.#rights.delete(right);
      if (alteration.change === 'rename column') this.#rights.add({ ...right, column: alteration.to } as Right);
    }
  }

  #put(kind: Kind, definition: Definition): void {
    const { name } = definition;
    const statement = printDefinition(definition, { quoted: true });
    this.#objects.set(foldCase(name), { kind, name, statement, definition });
  }

  /** Drops an object and the rights on it. */
  #drop(name: string): void {
    this.#objects.delete(foldCase(name));
    for (const right of this.rightsOn(name)) this.#rights.delete(right);
  }

  /** Renames a table and drops the rights on it, because it is unknown whether they apply to the new name. */
  #rename(name: string, to: string): void {
    const object = this.find(name);
    if (object?.definition?.kind !== 'table' || this.find(to)) return;
    this.#drop(name);
    this.#put('table', { ...object.definition, name: to });
  }

  /** The grants on a table, or on one of its columns. */
  rightsOn(table: string, column?: string): Right[] {
    return [...this.#rights].filter(
      right =>
        right.kind === 'grant' &&
        right.table !== undefined &&
        isSameName(right.table, table) &&
        (column === undefined || (right.column !== undefined && isSameName(right.column, column))),
    );
  }
}
