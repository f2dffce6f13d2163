/*!
 * What a plan leaves out, and the losses that are the reason. Their names, such as `drop:trades.qty`, `history:m_1h`, contain paths of
 * objects and columns: `trades`, `trades.qty`, `'my.table'.'a column'`. A plan prints the names, and --allow-loss accepts them.
 */
import { COLUMN_ORDER, type PropertyName } from '@sqlpipe/ddl';
import type { LossKind } from '@sqlpipe/engine';
import { InvalidOptionError } from '@sqlpipe/schema';
import { displayName, foldCase, type KindAndName, type NameSet, namespaceKey, unquote } from '@sqlpipe/sql';

export interface NamedLoss extends ObjectPath {
  readonly lossKind: LossKind;
}

const LOSS_KINDS: readonly LossKind[] = ['drop', 'drop-user', 'history', 'values', 'ttl', 'keys'];

/** Whether the name of a loss may contain a column: `drop:trades.qty`. */
const mayHaveColumn = (lossKind: LossKind): boolean => lossKind === 'drop' || lossKind === 'values';

const pathOf = ({ lossKind, object, column }: NamedLoss): ObjectPath =>
  mayHaveColumn(lossKind) ? { object, column } : { object };

/** The loss of the rows of an object that expire. */
export const expiredRowsOf = (object: string): NamedLoss => ({ lossKind: 'ttl', object });

export const formatLoss = (loss: NamedLoss): string => `${loss.lossKind}:${formatPath(pathOf(loss))}`;

/** The option that allows a loss, as typed in a shell. */
export const formatAllowance = (loss: NamedLoss): string => `--allow-loss ${formatPathForShell(formatLoss(loss))}`;

const lossKey = (loss: NamedLoss): string => `${loss.lossKind} ${pathKey(pathOf(loss))}`;

export class AllowedLosses {
  readonly #names = new Map<string, string>();

  /**
   * @param findColumns finds the columns of an object in both schemas. They are needed because a dot may be part of a name.
   * @param findPaths finds the paths of an object or a column before and after renames
   * @throws InvalidOptionError for a text that is not the name of a loss, or is ambiguous
   */
  constructor(
    names: readonly string[],
    findColumns: FindColumns,
    private readonly findPaths: (path: ObjectPath) => readonly ObjectPath[] = path => [path],
  ) {
    for (const name of names) {
      const [, word = '', path = ''] = /^([a-z-]+):(.+)$/s.exec(name) ?? [];
      const lossKind = LOSS_KINDS.find(kind => kind === word);
      if (!lossKind)
        throw new InvalidOptionError(
          `--allow-loss ${name}: not the name of a loss; sqldiff --alter prints the names, such as drop:trades.qty and history:m_1h`,
        );
      const existing = mayHaveColumn(lossKind) ? resolvePath(path, findColumns) : undefined;
      // If both schemas lack `a.b`, an earlier plan may have dropped it. Then table `a.b` and column `b` both count.
      const readings = existing
        ? [existing]
        : findPossiblePaths(path).slice(0, mayHaveColumn(lossKind) ? undefined : 1);
      for (const reading of readings) this.#names.set(lossKey({ lossKind, ...reading }), name);
    }
  }

  allows(loss: NamedLoss): boolean {
    return this.namesOf([loss]).length > 0;
  }

  /** Finds the names that allow some losses. A name may contain the old or the new name of an object and of a column. */
  namesOf(losses: readonly NamedLoss[]): string[] {
    return losses.flatMap(loss => {
      const keys = this.findPaths(loss).map(path => lossKey({ ...loss, ...path }));
      return keys.map(key => this.#names.get(key)).find(name => name !== undefined) ?? [];
    });
  }

  get names(): ReadonlySet<string> {
    return new Set(this.#names.values());
  }
}

export interface ObjectPath {
  readonly object: string;
  readonly column?: string | undefined;
}

/** Finds the columns of an object; undefined if there is no object of this name. */
type FindColumns = (object: string) => NameSet | undefined;

/** Undefined if nothing has this path. `a.b` may be a table, or column `b` of table `a`. @throws InvalidOptionError if both exist */
export function resolvePath(text: string, find: FindColumns): ObjectPath | undefined {
  const paths = findPossiblePaths(text).filter(({ object, column }) => {
    const columns = find(object);
    return columns && (column === undefined || columns.has(column));
  });
  const quoted = paths.map(quotePath).join(' or ');
  if (paths.length > 1) throw new InvalidOptionError(`'${text}' can be ${quoted}; write one of them, with its quotes`);
  return paths[0];
}

/** A key that is the same for paths whose names differ only in case. */
export const pathKey = ({ object, column }: ObjectPath): string =>
  column === undefined ? foldCase(object) : `${foldCase(object)}\0${foldCase(column)}`;

const quotePath = ({ object, column }: ObjectPath): string =>
  column === undefined ? `'${object}'` : `'${object}'.'${column}'`;

export function formatPath(path: ObjectPath): string {
  // Without a dot in a name, and without characters that are special in a shell.
  const isPlain = [path.object, path.column ?? ''].every(name => /^[\w-]*$/.test(name));
  if (!isPlain) return quotePath(path);
  return path.column === undefined ? path.object : `${path.object}.${path.column}`;
}

/** In double quotes, because a path has single ones; but there, an interactive bash would expand `!`. */
export const formatPathForShell = (path: string): string =>
  path.includes("'") ? `"${path.replace(/[$`"\\]/g, '\\$&').replaceAll('!', `"'!'"`)}"` : path;

/** Finds all paths that a text may mean, because each dot may separate an object from its column, or be part of a name. */
export function findPossiblePaths(text: string): ObjectPath[] {
  const [, single, double, column] = /^(?:'([^']+)'|"([^"]+)")(?:\.(.+))?$/s.exec(text) ?? [];
  const quoted = single ?? double;
  if (quoted !== undefined) return [{ object: quoted, ...(column !== undefined && { column: unquote(column) }) }];
  const dots = [...text.matchAll(/\./g)].map(({ index }) => index);
  const splits = dots.map(dot => ({ object: text.slice(0, dot), column: unquote(text.slice(dot + 1)) }));
  return [{ object: text }, ...splits.filter(({ object, column }) => object && column)];
}

/** Splits `OLD=NEW` at the first `=` outside quotes. @throws InvalidOptionError if a text is not of this form */
export function splitRename(text: string): [from: string, to: string] {
  const [, from, to] = /^((?:'[^']*'|"[^"]*"|[^'"=]|^=)+)=(.+)$/s.exec(text) ?? [];
  if (from === undefined || to === undefined) throw new InvalidOptionError(`--renamed must be OLD=NEW, not '${text}'`);
  return [from, to];
}

export const formatRename = (from: ObjectPath, to: string): string =>
  `${formatPath(from)}=${formatPath({ object: to })}`;

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
