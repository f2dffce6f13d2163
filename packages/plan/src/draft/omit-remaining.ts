/*! Lists the differences from A that remain after the steps, with the reasons, which are in `ddl`. */
import { COLUMN_ORDER, findUnalterable, type PropertyDifference, type Unalterable } from '@sqlpipe/ddl';
import { compareSchemas } from '@sqlpipe/schema';
import { displayName, type KindAndName } from '@sqlpipe/sql';
import { isAuxiliaryTable } from '../auxiliary/auxiliary-tables.js';
import { formatPath, formatPathForShell } from '../losses/losses.js';
import { COLUMN_ORDER_REASON, columnOrderHints, describeChange, type Obstacle } from '../losses/omission.js';
import type { Draft } from './draft.js';

/**
 * Lists each difference from A that no omission of the same object explains. A right has no name: any omission of its kind explains it.
 * @throws Error for a difference that a statement removes: then the plan does not lead to A
 */
export function omitRemaining(draft: Draft): void {
  const { engine, context } = draft;
  const { a, ignoreExtra, defaults, ignoreOwner = false, ignore } = context;
  for (const entry of a.entries)
    if (entry.kind === 'other') draft.omit(describeChange(entry), 'it creates no object that can be compared');
  const { differences } = compareSchemas(a.statements, engine.statements(), { defaults, ignoreOwner, ignore });
  for (const { identity, a: wanted, comparison } of differences) {
    if (wanted === undefined && (ignoreExtra || isAuxiliaryTable(identity.name, context))) continue;
    // If an object is blocked, later changes of it were not tried. So one omission explains all of its differences.
    if (draft.omissions.has(identity) && (!comparison || draft.isBlocked(identity.name))) continue;
    if (!comparison) throw new Error(`the plan does not lead to A: ${displayName(identity)}`);
    for (const difference of comparison.differences)
      if (!draft.omissions.has(identity, difference.property)) omitProperty(identity, difference, draft);
  }
}

/** @throws Error if `ddl` gives no reason why no statement removes the difference: then an ALTER exists that the draft lacks */
export function omitProperty(identity: KindAndName, { property, a, b }: PropertyDifference, draft: Draft): void {
  const change = { identity, properties: [property] };
  if (property === COLUMN_ORDER)
    return draft.omit(
      { ...change, what: `${property}: (${b}) to (${a})` },
      COLUMN_ORDER_REASON,
      ...columnOrderHints(identity.name),
    );
  const unalterable = findUnalterable(property, identity.kind);
  if (!unalterable) throw new Error(`${displayName(identity)}: no statement was found for ${property}: ${b} to ${a}`);
  draft.omit({ ...change, what: `${property}: ${b} to ${a}` }, ...formatUnalterable(identity.name, unalterable));
}

export const formatUnalterable = (table: string, { reason, needsNewTable }: Unalterable): Obstacle => [
  ['cannot be altered', reason, needsNewTable && 'needs a new table'].filter(Boolean).join(': '),
  ...(needsNewTable ? [`--rebuild ${formatPathForShell(formatPath({ object: table }))} makes one`] : []),
];
