/*!
 * Names on a command line: paths of objects and columns such as `trades`, `trades.qty`, `'my.table'.'a column'`, and the names of losses
 * that contain them, such as `drop:trades.qty`, `history:m_1h`. A plan prints them, and --allow-loss accepts them.
 */
import type { LossKind } from '@sqlpipe/engine';
import { InvalidOptionError } from '@sqlpipe/schema';
import { foldCase, type NameSet, unquote } from '@sqlpipe/sql';

export interface NamedLoss extends ObjectPath {
  readonly lossKind: LossKind;
}

/** Whether the name of a loss may contain a column: `drop:trades.qty`. */
const HAS_COLUMN: Readonly<Record<LossKind, boolean>> = {
  drop: true,
  'drop-user': false,
  history: false,
  values: true,
  ttl: false,
  keys: false,
};

const pathOf = ({ lossKind, object, column }: NamedLoss): ObjectPath =>
  HAS_COLUMN[lossKind] ? { object, column } : { object };

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
      if (!Object.hasOwn(HAS_COLUMN, word))
        throw new InvalidOptionError(
          `--allow-loss ${name}: not the name of a loss; sqldiff --alter prints the names, such as drop:trades.qty and history:m_1h`,
        );
      const lossKind = word as LossKind;
      const existing = HAS_COLUMN[lossKind] ? resolvePath(path, findColumns) : undefined;
      // If both schemas lack `a.b`, an earlier plan may have dropped it. Then table `a.b` and column `b` both count.
      const all = HAS_COLUMN[lossKind] ? findPossiblePaths(path) : findPossiblePaths(path).slice(0, 1);
      for (const reading of existing ? [existing] : all) this.#names.set(lossKey({ lossKind, ...reading }), name);
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

/**
 * Finds the object or the column with a path; undefined if nothing has this path. `a.b` may be table `a.b`, or column `b` of table `a`.
 * @throws InvalidOptionError if both exist
 */
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
  let quote = '';
  for (const [i, char] of text.split('').entries()) {
    if (quote) quote = char === quote ? '' : quote;
    else if (char === "'" || char === '"') quote = char;
    else if (char === '=' && i > 0 && i < text.length - 1) return [text.slice(0, i), text.slice(i + 1)];
  }
  throw new InvalidOptionError(`--renamed must be OLD=NEW, not '${text}'`);
}

export const formatRename = (from: ObjectPath, to: string): string =>
  `${formatPath(from)}=${formatPath({ object: to })}`;
