import { readFile } from 'node:fs/promises';
import { IgnoreRules } from '@sqlpipe/schema';

/** The rules of --ignore, and of the lines of --ignore-file that are not empty and do not begin with `#`. */
export async function readIgnoreRules({
  ignore,
  ignoreFile,
}: {
  readonly ignore: readonly string[];
  readonly ignoreFile?: string | undefined;
}): Promise<IgnoreRules> {
  const lines = ignoreFile === undefined ? [] : (await readText(ignoreFile)).split(/\r?\n/);
  return new IgnoreRules([...ignore, ...lines.filter(line => line.trim() !== '' && !line.trimStart().startsWith('#'))]);
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw Object.assign(error as Error, { code: 'NOINPUT' });
  }
}
