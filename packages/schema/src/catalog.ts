/*! The statements of a schema as a set of objects: which needs which, and the order the service would dump them in. */
import { findReferences, grantTargets, ownerOf } from '@sqlpipe/ddl';
import { foldCase, type Identity, isObject, isPrincipal, type Kind, requireUnambiguous } from '@sqlpipe/sql';
import { topologicalOrder } from './topological-order.js';

/** A statement with what it makes. */
export interface Entry extends Identity {
  statement: string;
}

/** The entry of one statement. @throws AmbiguousStatementError where a comment hides from SQL what QuestDB runs */
export function toEntry(statement: string): Entry {
  const { kind, name, verb } = requireUnambiguous(statement, ['9.3.2']);
  return { kind, name, verb, statement };
}

/** Statements by the object that each makes, names compared as the service does: without regard to case. */
export class Catalog {
  readonly entries: readonly Entry[];
  /** By folded name. Of two statements for one name the first counts. */
  readonly #objects = new Map<string, Entry>();
  readonly #principals = new Map<string, Entry>();
  #dependencies?: ReadonlyMap<string, string[]>;

  /** @param statements in any order, of any kind @throws as `toEntry` */
  constructor(statements: Iterable<string>) {
    this.entries = Array.from(statements, toEntry);
    for (const entry of this.entries) {
      const names = isObject(entry.kind) ? this.#objects : isPrincipal(entry.kind) ? this.#principals : undefined;
      if (names && !names.has(foldCase(entry.name))) names.set(foldCase(entry.name), entry);
    }
  }

  /** The table, view, materialized or live view of that name in any case. */
  findObject(name: string): Entry | undefined {
    return this.#objects.get(foldCase(name));
  }

  /** The user, group or service account of that name in any case. */
  findPrincipal(name: string): Entry | undefined {
    return this.#principals.get(foldCase(name));
  }

  /**
   * For each object, by its name as stored, the names of those in the catalog that its text refers to. Only direct
   * ones.
   */
  dependencies(): ReadonlyMap<string, string[]> {
    this.#dependencies ??= new Map(
      Array.from(this.#objects.values(), entry => [entry.name, this.#referencedObjects(entry).map(({ name }) => name)]),
    );
    return this.#dependencies;
  }

  /**
   * The entries of the catalog that must exist before an entry is created: the objects that it reads from and its
   * owner, or what a membership, an assumption or a grant is on and its receiver. Only direct ones.
   */
  prerequisites(entry: Entry): Entry[] {
    const { objects, principals } = grantTargets(entry.statement, entry.kind);
    const named = [
      ...objects.map(name => this.findObject(name)),
      ...[...principals, ownerOf(entry.statement) ?? ''].map(name => this.findPrincipal(name)),
    ];
    return [...this.#referencedObjects(entry), ...named.filter(found => found !== undefined)];
  }

  /** The objects that an object's text refers to. What the object is called was no view yet when it was made. */
  #referencedObjects(entry: Entry): Entry[] {
    const isView = (name: string) => this.findObject(name)?.kind === 'view' && this.findObject(name) !== entry;
    return findReferences(entry.statement, isView).flatMap(name => this.findObject(name) ?? []);
  }
}

/**
 * The entries in the order of `SHOW CREATE DATABASE`: users, groups and service accounts, then the objects as
 * dependencies and names have it, then memberships, assumptions and grants, each kind by itself; and at the end, in
 * input order, statements that create nothing. None is lost. The order within the kinds of access control is ours, as
 * the server's is not public.
 */
export function dumpOrder(catalog: Catalog): Entry[] {
  const of = (...kinds: Kind[]) => catalog.entries.filter(({ kind }) => kinds.includes(kind));
  return [
    ...of('user').sort(compareNames),
    ...of('group').sort(compareNames),
    ...of('service-account').sort(compareNames),
    ...orderObjects(catalog),
    ...of('membership').sort(compareNames),
    ...of('assumption').sort(compareStatementTexts),
    ...of('grant').sort(compareStatementTexts),
    ...of('other'),
  ];
}

function orderObjects(catalog: Catalog): Entry[] {
  const order = topologicalOrder(catalog.dependencies(), name => catalog.findObject(name)?.kind === 'view');
  const places = new Map(order.map((name): [string, Entry[]] => [foldCase(name), []]));
  for (const entry of catalog.entries) if (isObject(entry.kind)) places.get(foldCase(entry.name))?.push(entry);
  return [...places.values()].flat();
}

const compareStatementTexts = (a: Entry, b: Entry): number => compareText(a.statement, b.statement);
const compareNames = (a: Entry, b: Entry): number => compareText(a.name, b.name) || compareStatementTexts(a, b);

/** As JavaScript's own order of strings, which is the service's. */
const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
