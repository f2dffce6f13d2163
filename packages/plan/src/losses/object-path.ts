/*! Paths of objects and columns on a command line: `trades`, `trades.qty`, `'my.table'.'a column'`. */
import { InvalidOptionError } from '@sqlpipe/schema';
import { foldCase, type NameSet, unquote } from '@sqlpipe/sql';

export interface ObjectPath {
  readonly object: string;
  readonly column?: string | undefined;
}

/** Finds the columns of an object; undefined if there is no object of this name. */
export type FindColumns = (object: string) => NameSet | undefined;

/**
 * Finds the object or the column with a path; undefined if nothing has this path. `a.b` may be table `a.b`, or column `b` of table `a`.
 * @throws InvalidOptionError if both exist
 */
export function resolvePath(text: string, findColumns: FindColumns): ObjectPath | undefined {
  const paths = findPossiblePaths(text).filter(({ object, column }) => {
    const columns = findColumns(object);
    return columns && (column === undefined || columns.has(column));
  });
  if (paths.length > 1)
    throw new InvalidOptionError(
      `'${text}' can be ${paths.map(quotePath).join(' or ')}; write one of them, with its quotes`,
    );
  return paths[0];
}

/** A key that is the same for paths whose names differ only in case. */
export const pathKey = ({ object, column }: ObjectPath): string =>
  column === undefined ? foldCase(object) : `${foldCase(object)}\0${foldCase(column)}`;

const quotePath = ({ object, column }: ObjectPath): string =>
  column === undefined ? `'${object}'` : `'${object}'.'${column}'`;

export function formatPath(path: ObjectPath): string {
  const isPlain = [path.object, path.column ?? ''].every(name => PLAIN_NAME.test(name));
  if (!isPlain) return quotePath(path);
  return path.column === undefined ? path.object : `${path.object}.${path.column}`;
}

/** In double quotes, because a path has single ones; but there, an interactive bash would expand `!`. */
export const formatPathForShell = (path: string): string =>
  path.includes("'") ? `"${path.replace(/[$`"\\]/g, '\\$&').replaceAll('!', `"'!'"`)}"` : path;

/** A name without a dot, and without characters that are special in a shell. */
const PLAIN_NAME = /^[\w-]*$/;

const QUOTED_PATH = /^(?:'([^']+)'|"([^"]+)")(?:\.(.+))?$/s;

/** Finds all paths that a text may mean, because each dot may separate an object from its column, or be part of a name. */
export function findPossiblePaths(text: string): ObjectPath[] {
  const [, single, double, column] = QUOTED_PATH.exec(text) ?? [];
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
