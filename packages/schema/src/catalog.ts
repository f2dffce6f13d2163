/*! The statements of a schema as a set of objects: which needs which, and the order the service would dump them in. */
import { access, owner, references } from '@sqlpipe/ddl';
import { foldCase, type Identity, isObject, isPrincipal, type Kind, requireUnambiguous } from '@sqlpipe/sql';
import { topologicalOrder } from './order.js';

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
  #needs?: ReadonlyMap<string, string[]>;

  /** @param statements in any order, of any kind @throws as `toEntry` */
  constructor(statements: Iterable<string>) {
    this.entries = Array.from(statements, toEntry);
    for (const entry of this.entries) {
      const names = isObject(entry.kind) ? this.#objects : isPrincipal(entry.kind) ? this.#principals : undefined;
      if (names && !names.has(foldCase(entry.name))) names.set(foldCase(entry.name), entry);
    }
  }

  /** The table, view, materialized or live view of that name in any case. */
  object(name: string): Entry | undefined {
    return this.#objects.get(foldCase(name));
  }

  /** The user, group or service account of that name in any case. */
  principal(name: string): Entry | undefined {
    return this.#principals.get(foldCase(name));
  }

  /**
   * For each object, by its name as stored, the names of those in the catalog that its text refers to.
   * What else those need is not among them.
   */
  needs(): ReadonlyMap<string, string[]> {
    this.#needs ??= new Map(
      Array.from(this.#objects.values(), entry => [entry.name, this.#reads(entry).map(({ name }) => name)]),
    );
    return this.#needs;
  }

  /**
   * What has to be there before an entry is made, of what is in the catalog: the objects that it reads from and its owner, or
   * what a membership, an assumption or a grant is on and whom it is given to. What else those need is not among them.
   */
  requirements(entry: Entry): Entry[] {
    const { objects, principals } = access(entry.statement, entry.kind);
    const named = [
      ...objects.map(name => this.object(name)),
      ...[...principals, owner(entry.statement) ?? ''].map(name => this.principal(name)),
    ];
    return [...this.#reads(entry), ...named.filter(found => found !== undefined)];
  }

  /** The objects that an object's text refers to. What the object is called was no view yet when it was made. */
  #reads(entry: Entry): Entry[] {
    const isView = (name: string) => this.object(name)?.kind === 'view' && this.object(name) !== entry;
    return references(entry.statement, isView).flatMap(name => this.object(name) ?? []);
  }
}

/**
 * The entries in the order of `SHOW CREATE DATABASE`: users, groups and service accounts, then the objects as dependencies
 * and names have it, then memberships, assumptions and grants, each kind by itself; and at the end, as they came, those
 * that make nothing. None is lost. The order within the kinds of access control is ours, as the server's is not public.
 */
export function dumpOrder(catalog: Catalog): Entry[] {
  const of = (...kinds: Kind[]) => catalog.entries.filter(({ kind }) => kinds.includes(kind));
  return [
    ...of('user').sort(byName),
    ...of('group').sort(byName),
    ...of('service-account').sort(byName),
    ...objectsInOrder(catalog),
    ...of('membership').sort(byName),
    ...of('assumption').sort(byStatement),
    ...of('grant').sort(byStatement),
    ...of('other'),
  ];
}

function objectsInOrder(catalog: Catalog): Entry[] {
  const order = topologicalOrder(catalog.needs(), name => catalog.object(name)?.kind === 'view');
  const places = new Map(order.map((name): [string, Entry[]] => [foldCase(name), []]));
  for (const entry of catalog.entries) if (isObject(entry.kind)) places.get(foldCase(entry.name))?.push(entry);
  return [...places.values()].flat();
}

const byStatement = (a: Entry, b: Entry): number => compare(a.statement, b.statement);
const byName = (a: Entry, b: Entry): number => compare(a.name, b.name) || byStatement(a, b);

/** As JavaScript's own order of strings, which is the service's. */
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
