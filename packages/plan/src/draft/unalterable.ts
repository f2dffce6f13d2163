/*! Lists differences that no ALTER removes, with the reasons, which are in `ddl`. */
import { COLUMN_ORDER, compareDefinitions, findUnalterableReason, type PropertyDifference } from '@sqlpipe/ddl';
import type { Entry } from '@sqlpipe/schema';
import { displayName, isObject } from '@sqlpipe/sql';
import { formatPath, formatPathForShell } from '../losses/object-path.js';
import { COLUMN_ORDER_REASON, columnOrderHints } from '../losses/omission.js';
import { changeOf, type Draft, type Refusal } from './draft.js';

export function omitUnalterable(draft: Draft): void {
  const { context } = draft;
  for (const entry of context.a.entries) {
    if (entry.kind === 'other') draft.omit(changeOf(entry), 'it creates no object that can be compared');
    const [wanted, current] = [context.a.definitionOf(entry), draft.engine.definitionOf(entry.name)];
    if (!isObject(entry.kind) || draft.isBlocked(entry.name) || !wanted || !current || wanted.kind !== current.kind)
      continue;
    for (const difference of compareDefinitions(wanted, current).differences) {
      const { property } = difference;
      if (!draft.hasOmission(entry, property) && !draft.isIgnored(entry, property))
        omitProperty(entry, difference, draft);
    }
  }
}

/** Lists a difference that no statement removes. @throws Error if `ddl` gives no reason: then an ALTER exists that the draft lacks */
export function omitProperty(entry: Entry, { property, a, b }: PropertyDifference, draft: Draft): void {
  const change = { identity: entry, properties: [property] };
  if (property === COLUMN_ORDER)
    return draft.omit(
      { ...change, what: `${property}: (${b}) to (${a})` },
      COLUMN_ORDER_REASON,
      ...columnOrderHints(entry.name),
    );
  const reason = findUnalterableReason(property, entry.kind);
  if (!reason) throw new Error(`${displayName(entry)}: no statement was found for ${property}: ${b} to ${a}`);
  draft.omit({ ...change, what: `${property}: ${b} to ${a}` }, ...formatUnalterable(entry.name, reason));
}

export const formatUnalterable = (table: string, reason: string): Refusal => [
  `cannot be altered: ${reason}`,
  ...(reason.endsWith('needs a new table')
    ? [`--rebuild ${formatPathForShell(formatPath({ object: table }))} makes one`]
    : []),
];
