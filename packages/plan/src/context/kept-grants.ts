/*! Grants that only B has, or that an option ignores. A plan keeps them, but a server removes them with the object that a plan replaces. */
import { findColumn, type Grant, printRight, type Right } from '@sqlpipe/ddl';
import type { Engine } from '@sqlpipe/engine';
import { type IgnoreRules, toEntry } from '@sqlpipe/schema';
import { NameMap } from '@sqlpipe/sql';
import type { Renames } from '../renames/renames.js';

interface KeptExtras {
  readonly ignoreExtra?: boolean | undefined;
  readonly ignore: IgnoreRules;
}

/** Whether the plan keeps a right that only B has. */
export const keepsRight = (right: Right, { ignoreExtra = false, ignore }: KeptExtras): boolean =>
  ignoreExtra || (ignore.hasObjectRules && ignore.ignoresObject(toEntry(printRight(right))));

/** Finds the grants of B that the plan keeps, with the names after the plan, by the object that they are on. */
export function findKeptGrants(engineOfB: Engine, renames: Renames, options: KeptExtras): NameMap<Grant[]> {
  const kept = new NameMap<Grant[]>();
  for (const right of engineOfB.acl.rights) {
    if (right.kind !== 'grant' || right.table === undefined || !keepsRight(right, options)) continue;
    const table = renames.nameAfterPlan(right.table);
    const column = right.column && renames.columnAfterPlan(table, right.column);
    const grants = kept.get(table) ?? [];
    grants.push({ ...right, table, column });
    kept.set(table, grants);
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
  const object = grants.length > 0 ? engine.catalogue.findCompiled(table) : undefined;
  if (!object) return [];
  // B may be known without its principals. Then nothing in the plan drops one.
  const isDropped = ({ entity }: Grant) => engineOfB.acl.find(entity) !== undefined && !engine.acl.find(entity);
  return grants.filter(
    grant =>
      !engine.acl.rights.has(grant) &&
      !isDropped(grant) &&
      (grant.column === undefined || findColumn(object, grant.column) !== undefined),
  );
}
