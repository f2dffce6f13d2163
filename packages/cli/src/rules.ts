/*! Rules that are given as options, one each, and in files, one per line. */
import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { systemErrorReason } from '@sqlpipe/text';

/** The patterns of `--ignore`, then those of `--ignore-file`. @throws RuleFileError if the file cannot be read */
export const readIgnorePatterns = async ({
  ignore,
  ignoreFile,
}: {
  readonly ignore: readonly string[];
  readonly ignoreFile?: string | undefined;
}): Promise<string[]> => [
  ...ignore,
  ...(ignoreFile === undefined ? [] : await readRuleFile('--ignore-file', ignoreFile)),
];

/** A file of rules cannot be read. */
class RuleFileError extends Error {
  override readonly name = 'RuleFileError';
  readonly code = 'NOINPUT';
}

/**
 * The rules in a UTF-8 file, one per line. Empty lines and lines that begin with `#` are ignored.
 * @param option the option that names the file
 * @throws RuleFileError if the file cannot be read
 */
export async function readRuleFile(option: string, path: string): Promise<string[]> {
  const bytes = await readFile(path).catch(error => {
    throw new RuleFileError(`${option} ${path}: cannot be read: ${systemErrorReason(error)}`);
  });
  if (!isUtf8(bytes)) throw new RuleFileError(`${option} ${path}: not UTF-8; iconv converts other encodings`);
  return bytes
    .toString()
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .filter(line => line.trim() !== '' && !line.trimStart().startsWith('#'));
}
