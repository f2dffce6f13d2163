import { COLUMN_ORDER, type PropertyName } from '@sqlpipe/ddl';
import { displayName, type KindAndName, namespaceKey } from '@sqlpipe/sql';
import { formatAllowance, formatPath, formatPathForShell, type NamedLoss } from './losses.js';

/** A change of an object. A plan has all statements of a change, or none of them. */
export interface Change {
  readonly identity: KindAndName;
  /** The same in all drafts, unique for `identity`. The properties are not unique: DROP INDEX and ADD INDEX have the same. */
  readonly id: string;
  /** The properties that the change sets, as a comparison names them. Empty if the change is about the complete object. */
  readonly properties: readonly PropertyName[];
  /** A description on one line, without secrets: `ALTER TABLE 'trades' DROP COLUMN qty`. */
  readonly what: string;
}

/** Why a change is left out, and what can be done instead. */
export type Obstacle = readonly [reason: string, ...hints: string[]];

export const changeKey = ({ identity, id }: Pick<Change, 'identity' | 'id'>) => `${namespaceKey(identity)} ${id}`;

export const describeChange = (
  identity: KindAndName,
  what = displayName(identity),
  properties: readonly PropertyName[] = [],
): Omit<Change, 'id'> => ({ identity, properties, what });

export interface Omission extends Omit<Change, 'id'> {
  readonly reasons: readonly string[];
  readonly losses: readonly NamedLoss[];
  /** What can be done instead: `--rebuild trades makes a new table`. */
  readonly hints: readonly string[];
}

/** Describes an omission in lines: `table 'trades': left out: DROP COLUMN qty`, then why, then what can be done. */
export function formatOmission({ identity, what, reasons, losses, hints }: Omission): [string, ...string[]] {
  const options = [...new Set(losses.map(formatAllowance))];
  return [
    `${displayName(identity)}: left out: ${what}`,
    ...reasons,
    ...hints.map(hint => `hint: ${hint}`),
    ...options.map((option, i) => `${i === 0 ? 'hint:' : '     '} ${option}`),
  ];
}

export const COLUMN_ORDER_REASON = 'no ALTER changes the order of columns';

export const columnOrderHints = (table: string): string[] => [
  `--ignore '${COLUMN_ORDER}' accepts this order`,
  `sqldiff --alter --rebuild ${formatPathForShell(formatPath({ object: table }))} makes a new table`,
];
