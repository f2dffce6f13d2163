/*! Names of objects and columns as people write them on a command line: `trades`, `trades.qty`, `'my.table'.'a column'`. */
import { foldCase, unquote } from '@sqlpipe/sql';
import { InvalidSelectionError } from '../selection.js';

/** An object, or one of its columns. */
export interface ObjectPath {
  readonly object: string;
  readonly column?: string | undefined;
}

/** The columns of what has a name, in lower case; undefined where there is nothing of the name. */
export type FindColumns = (object: string) => ReadonlySet<string> | undefined;

/**
 * What a name stands for. Names may hold dots: the reading that names something that is there wins.
 * Undefined where there is nothing of the name.
 * @throws InvalidSelectionError where two readings name something
 */
export function resolvePath(text: string, find: FindColumns): ObjectPath | undefined {
  const paths = readings(text).filter(({ object, column }) => {
    const columns = find(object);
    return columns && (column === undefined || columns.has(foldCase(column)));
  });
  if (paths.length > 1)
    throw new InvalidSelectionError(
      `'${text}' can be ${paths.map(quotePath).join(' or ')}; write one of them, with its quotes`,
    );
  return paths[0];
}

/** What is the same for two spellings of a path. */
export const pathKey = ({ object, column }: ObjectPath): string =>
  column === undefined ? foldCase(object) : `${foldCase(object)}\0${foldCase(column)}`;

/** A path in quotes, such that nobody can read it in another way. */
const quotePath = ({ object, column }: ObjectPath): string =>
  column === undefined ? `'${object}'` : `'${object}'.'${column}'`;

/** A path as short as it can be. */
export function formatPath(path: ObjectPath): string {
  const isPlain = [path.object, path.column ?? ''].every(name => PLAIN.test(name));
  if (!isPlain) return quotePath(path);
  return path.column === undefined ? path.object : `${path.object}.${path.column}`;
}

/** A path as a word of a shell's command line. */
export const formatPathForShell = (path: string): string => (path.includes("'") ? `"${path}"` : path);

/** Names that no shell and no dot divides. */
const PLAIN = /^[\w$-]*$/;

const QUOTED = /^(?:'([^']+)'|"([^"]+)")(?:\.(.+))?$/s;

/** All ways to read a name: its dots may be part of it. */
export function readings(text: string): ObjectPath[] {
  const [, single, double, column] = QUOTED.exec(text) ?? [];
  const quoted = single ?? double;
  if (quoted !== undefined) return [{ object: quoted, ...(column !== undefined && { column: unquote(column) }) }];
  const dots = [...text.matchAll(/\./g)].map(({ index }) => index);
  const splits = dots.map(at => ({ object: text.slice(0, at), column: unquote(text.slice(at + 1)) }));
  return [{ object: text }, ...splits.filter(({ object, column }) => object && column)];
}

/** The two sides of `OLD=NEW`. @throws InvalidSelectionError where it is none */
export function splitRename(text: string): [from: string, to: string] {
  let quote = '';
  for (const [at, char] of [...text].entries()) {
    if (quote) quote = char === quote ? '' : quote;
    else if (char === "'" || char === '"') quote = char;
    else if (char === '=' && at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)];
  }
  throw new InvalidSelectionError(`--renamed must be OLD=NEW, not '${text}'`);
}
