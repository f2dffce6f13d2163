/*! The statements of a schema as a set of objects: which needs which, and the order the service would dump them in. */
import { identify, type Kind } from '@sqlpipe/sql';
import { fold } from './fold.js';
import { dependencyOrder } from './order.js';
import { references } from './references.js';

/** A statement with what it makes. */
export interface Entry {
  kind: Kind;
  name: string;
  statement: string;
}

/** What the schema part of a dump is made of; these share one space of names. */
const OBJECTS: ReadonlySet<Kind> = new Set(['table', 'view', 'matview', 'liveview']);
/** What grants and owners refer to. */
const PRINCIPALS: ReadonlySet<Kind> = new Set(['user', 'group', 'service-account']);

/** Statements by the object that each makes, names compared as the service does: without regard to case. */
export class Catalog {
  readonly entries: readonly Entry[];
  /** The objects by folded name. Of two statements for one name the first counts. */
  readonly #objects = new Map<string, Entry>();

  /** @param statements in any order, of any kind */
  constructor(statements: Iterable<string>) {
    this.entries = Array.from(statements, statement => ({ ...identify(statement), statement }));
    for (const entry of this.entries) {
      if (OBJECTS.has(entry.kind) && !this.object(entry.name)) this.#objects.set(fold(entry.name), entry);
    }
  }

  /** The table, view, materialized or live view of that name in any case. */
  object(name: string): Entry | undefined {
    return this.#objects.get(fold(name));
  }

  /**
   * For each object, by its name as stored, the names of those in the catalog that its text refers to.
   * What else those need is not among them.
   */
  needs(): Map<string, string[]> {
    const isView = (name: string) => this.object(name)?.kind === 'view';
    return new Map(
      Array.from(this.#objects.values(), ({ name, statement }) => [
        name,
        references(statement, isView).flatMap(other => this.object(other)?.name ?? []),
      ]),
    );
  }
}

/**
 * Statements in the order of `SHOW CREATE DATABASE`: users, groups and service accounts first, then the objects as
 * dependencies and names have it, then grants, memberships and whatever else. Of what has no order of its own each keeps
 * its place; no statement is lost.
 */
export function inServiceOrder(statements: Iterable<string>): string[] {
  const catalog = new Catalog(statements);
  const order = dependencyOrder(catalog.needs(), name => catalog.object(name)?.kind === 'view');
  const places = new Map(order.map((name, place) => [fold(name), place]));
  const place = ({ kind, name }: Entry): number => {
    if (OBJECTS.has(kind)) return places.get(fold(name)) as number;
    return PRINCIPALS.has(kind) ? -1 : order.length;
  };
  return catalog.entries
    .map(entry => ({ place: place(entry), statement: entry.statement }))
    .sort((a, b) => a.place - b.place)
    .map(({ statement }) => statement);
}
