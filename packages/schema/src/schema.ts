import {
  type CompareOptions,
  type Definition,
  findReferences,
  locateNamesInRights,
  ownerOf,
  parseRights,
  type Right,
  sortByScope,
  tryParseDefinition,
} from '@sqlpipe/ddl';
import {
  addToList,
  identify,
  isObjectKind,
  isPrincipalKind,
  isRightKind,
  KINDS,
  type Kind,
  NameMap,
  requireUnambiguous,
  type StatementIdentity,
} from '@sqlpipe/sql';
import { topologicalOrder } from './topological-order.js';

/** A statement, with the identity of what it creates. */
export interface Entry extends StatementIdentity {
  statement: string;
}

/** Identifies a statement by the rules of SQL, even if QuestDB reads it differently. */
export const toEntry = (statement: string): Entry => ({ ...identify(statement), statement });

/** Converts a statement into an entry. @throws CodedError if a comment hides from SQL what QuestDB runs */
export function toUnambiguousEntry(statement: string): Entry {
  return { ...requireUnambiguous(statement), statement };
}

/** Statements by the name of the object or principal that each creates. As on the server, the case of a name does not matter. */
export class Schema {
  readonly entries: readonly Entry[];
  /** If two statements have the same name, the first is used. */
  readonly #objects = new NameMap<Entry>();
  readonly #principals = new NameMap<Entry>();
  readonly #definitions = new Map<Entry, Definition | undefined>();
  #objectReferences?: ReadonlyMap<string, string[]>;
  #dependents?: Map<Entry, Entry[]>;

  /** @param defaults what the server fills in if a statement omits it @throws like `toUnambiguousEntry` */
  constructor(
    statements: Iterable<string>,
    private readonly defaults?: CompareOptions['defaults'],
  ) {
    this.entries = Array.from(statements, toUnambiguousEntry);
    for (const entry of this.entries) {
      const { kind, name } = entry;
      const names = isObjectKind(kind) ? this.#objects : isPrincipalKind(kind) ? this.#principals : undefined;
      if (names && !names.has(name)) names.set(name, entry);
    }
  }

  filter(isWanted: (entry: Entry) => boolean): Schema {
    const wanted = this.entries.filter(isWanted).map(({ statement }) => statement);
    return new Schema(wanted, this.defaults);
  }

  get statements(): string[] {
    return this.entries.map(({ statement }) => statement);
  }

  findObject(name: string): Entry | undefined {
    return this.#objects.get(name);
  }

  findPrincipal(name: string): Entry | undefined {
    return this.#principals.get(name);
  }

  /** The definition of an object, which is parsed once; undefined if there is no such object, or its syntax is unknown. */
  definitionOf(object: Entry | string): Definition | undefined {
    const entry = typeof object === 'string' ? this.findObject(object) : object;
    if (entry && !this.#definitions.has(entry)) {
      const findTable = (name: string) => this.findObject(name)?.statement;
      this.#definitions.set(entry, tryParseDefinition(entry.statement, { defaults: this.defaults, findTable }));
    }
    return entry && this.#definitions.get(entry);
  }

  /** The rights that an entry gives, if any, and if they are known. `*` stands for the columns that a table has in the schema. */
  rightsOf({ kind, statement }: Entry): Right[] | undefined {
    const columnsOf = (table: string): string[] | undefined => {
      const definition = this.definitionOf(table);
      if (definition?.kind !== 'table' || definition.like !== undefined || definition.query !== undefined)
        return undefined;
      return definition.columns.map(({ name }) => name);
    };
    return isRightKind(kind) ? parseRights(statement, columnsOf) : undefined;
  }

  /** For each object, by its name as stored, the names of the objects that its text refers to directly. */
  objectReferences(): ReadonlyMap<string, string[]> {
    this.#objectReferences ??= new Map(
      Array.from(this.#objects.values(), entry => [entry.name, this.#referencedObjects(entry).map(({ name }) => name)]),
    );
    return this.#objectReferences;
  }

  /** What must exist before an entry: what it refers to directly, its owner, and what a membership, assumption or grant names. */
  dependenciesOf(entry: Entry): Entry[] {
    const { objects, principals } = locateNamesInRights(entry.statement, entry.kind);
    const named = [
      ...objects.map(({ name }) => this.findObject(name)),
      ...principals.map(({ name }) => this.findPrincipal(name)),
      this.findPrincipal(ownerOf(entry.statement) ?? ''),
    ];
    return [...this.#referencedObjects(entry), ...named.filter(found => found !== undefined)];
  }

  /** The entries that depend on this entry directly. */
  dependentsOf(entry: Entry): readonly Entry[] {
    if (!this.#dependents) {
      this.#dependents = new Map();
      for (const each of this.entries)
        for (const dependency of this.dependenciesOf(each)) addToList(this.#dependents, dependency, each);
    }
    return this.#dependents.get(entry) ?? [];
  }

  /** The objects that an entry refers to. A view hides a query of WITH with its name. The entry does not, because it does not exist yet. */
  #referencedObjects(entry: Entry): Entry[] {
    const isView = (name: string) => this.findObject(name)?.kind === 'view' && this.findObject(name) !== entry;
    return findReferences(entry.statement, isView).flatMap(name => this.findObject(name) ?? []);
  }
}

/**
 * Sorts entries as `SHOW CREATE DATABASE` does: principals by kind, objects by dependencies and names, rights by kind, wider grants first.
 * Other statements follow in input order. Within a kind of access control, the order is our own, because the server's is not public.
 */
export function dumpOrder(schema: Schema): Entry[] {
  const sorted = (isIncluded: (kind: Kind) => boolean) =>
    KINDS.filter(isIncluded).flatMap(kind => {
      const isByText = kind === 'assumption' || kind === 'grant';
      const compare = (a: Entry, b: Entry) =>
        (isByText ? 0 : compareText(a.name, b.name)) || compareText(a.statement, b.statement);
      return schema.entries.filter(entry => entry.kind === kind).sort(compare);
    });
  const order = topologicalOrder(schema.objectReferences(), name => schema.findObject(name)?.kind === 'view');
  const objects = new NameMap(order.map((name): [string, Entry[]] => [name, []]));
  for (const entry of schema.entries) if (isObjectKind(entry.kind)) objects.get(entry.name)?.push(entry);
  return [
    ...sorted(isPrincipalKind),
    ...[...objects.values()].flat(),
    ...sortByScope(sorted(isRightKind), ({ statement }) => statement),
    ...schema.entries.filter(({ kind }) => kind === 'other'),
  ];
}

/** Compares strings in JavaScript's order, which is the server's too. */
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
