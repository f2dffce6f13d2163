/*!
 * What a plan keeps of B: grants that only B has, properties that A leaves open, and what an option ignores. A server removes grants with
 * the object that a plan replaces, so the plan gives them again.
 */
import {
  type Definition,
  findColumn,
  findProperty,
  type Grant,
  type PropertyName,
  printRight,
  type Right,
} from '@sqlpipe/ddl';
import type { Engine } from '@sqlpipe/engine';
import { type IgnoreRules, toUnambiguousEntry } from '@sqlpipe/schema';
import { addToList, type KindAndName, NameMap } from '@sqlpipe/sql';
import type { Renames } from '../renames/renames.js';

/** The options that say what a plan keeps. */
export interface KeepOptions {
  /** Whether the plan keeps objects, principals and rights that only B has. Then they do not count as differences. */
  readonly ignoreExtra?: boolean | undefined;
  readonly ignoreOwner?: boolean | undefined;
  /** The differences that the plan neither changes nor lists. */
  readonly ignore: IgnoreRules;
}

/** Whether an option ignores a property of an object. */
export const ignoresProperty = (
  { ignore, ignoreOwner }: KeepOptions,
  identity: KindAndName,
  property: PropertyName,
): boolean => (ignoreOwner && property === 'owner') || ignore.ignoresProperty(identity, property);

/** Whether an object that takes the place of a former one keeps a property of it: A leaves it open, or an option ignores it. */
export function keepsProperty(options: KeepOptions, wanted: Definition, property: PropertyName): boolean {
  const entry = findProperty(property, wanted.kind);
  return (entry?.isOptional && entry.value(wanted) === undefined) || ignoresProperty(options, wanted, property);
}

/** Whether the plan keeps a right that only B has. */
export const keepsRight = (right: Right, { ignoreExtra = false, ignore }: KeepOptions): boolean =>
  ignoreExtra || (ignore.hasObjectRules && ignore.ignoresObject(toUnambiguousEntry(printRight(right))));

/** Finds the grants of B that the plan keeps, with the names after the plan, by the object that they are on. */
export function findKeptGrants(engineOfB: Engine, renames: Renames, options: KeepOptions): NameMap<Grant[]> {
  const kept = new NameMap<Grant[]>();
  for (const right of engineOfB.acl.rights) {
    if (right.kind !== 'grant' || right.table === undefined || !keepsRight(right, options)) continue;
    const table = renames.nameAfterPlan(right.table);
    const column = right.column && renames.columnAfterPlan(table, right.column);
    addToList(kept, table, { ...right, table, column });
  }
  return kept;
}

/** Finds the kept grants on an object that an engine lacks, although it has the object, the column and the principal. */
export function findRemovedGrants(
  table: string,
  engine: Engine,
  { engineOfB, keptGrants }: { readonly engineOfB: Engine; readonly keptGrants: NameMap<readonly Grant[]> },
): Grant[] {
  const grants = keptGrants.get(table) ?? [];
  const object = grants.length > 0 ? engine.catalogue.compileAndFind(table) : undefined;
  if (!object) return [];
  // B may be known without its principals. Then nothing in the plan drops one.
  const isDropped = ({ entity }: Grant) => engineOfB.acl.find(entity) !== undefined && !engine.acl.find(entity);
  return grants.filter(
    grant =>
      !engine.acl.rights.includes(grant) &&
      !isDropped(grant) &&
      (grant.column === undefined || findColumn(object, grant.column) !== undefined),
  );
}
