/*! Finds another program called `sqldiff`, such as SQLite's, that a shell would start in place of ours. */
import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The path of the first `sqldiff` on the PATH, unless it belongs to this installation of sqlpipe. */
export function findOtherSqldiff(PATH = ''): string | undefined {
  const first = PATH.split(delimiter)
    .map(folder => join(folder, 'sqldiff'))
    .find(isExecutable);
  if (!first) return undefined;
  const [, script = ''] = process.argv;
  // In an executable all programs are one file; otherwise each has a folder next to that of sqlpipe.
  const ours = [realpathSync(process.execPath), join(realpathSync(script), '../../../sqldiff/bin/sqldiff.js')];
  return ours.includes(realpathSync(first)) ? undefined : first;
}
