import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { configError } from '../instance-error.js';
import type { Credentials } from './connection-config.js';
import type { CredentialSource } from './credentials.js';
import { decodeSecret, isNotFound, readError, requirePrivate } from './secret-file.js';

interface NetrcEntry {
  host?: string;
  login?: string;
  password?: string;
}

const TOKEN = /"((?:[^"\\]|\\.)*)"|#[^\n]*|([^\s"]\S*)/gs;

/** A macro ends at an empty line. */
const MACRO = /^[ \t]*macdef(?:.|\n(?![ \t]*\n))*/gm;

/** The entry `default` has no host. Messages quote nothing, because any word may be a secret. */
export function parseNetrc(text: string, path: string): NetrcEntry[] {
  const entries: NetrcEntry[] = [];
  const tokens = Array.from(text.replace(MACRO, '').matchAll(TOKEN), ([, quoted, word]) =>
    quoted === undefined ? word : quoted.replace(/\\(.)/gs, '$1'),
  );
  const words = tokens.filter(each => each !== undefined).values();
  for (const keyword of words) {
    if (keyword === 'default') {
      entries.push({});
      continue;
    }
    const { value } = words.next();
    if (value === undefined)
      throw configError(
        `the netrc file ${path} ends with a keyword without a value; put values with blanks in double quotes`,
      );
    const entry = entries.at(-1);
    if (keyword === 'machine') entries.push({ host: value.toLowerCase() });
    else if (entry && (keyword === 'login' || keyword === 'password')) entry[keyword] = value;
  }
  return entries;
}

/**
 * The first entry for a host, but not the entry `default`. A password without a login is a token.
 * @param file a file, which must exist; by default `~/.netrc`, if it exists
 */
export function fromNetrc({ hostname }: URL, file: string | undefined, home: string | undefined): CredentialSource {
  const path = file ?? (home && join(home, '.netrc'));
  const place = `netrc ${path}`;
  return {
    name: 'netrc',
    places: { user: place, password: place, token: place },
    async read(user): Promise<Credentials> {
      if (!path) return {};
      const read = readFile(path).then(decodeSecret);
      const text = await read.catch(error => {
        if (file === undefined && isNotFound(error)) return undefined;
        throw readError('the netrc file', path, error);
      });
      if (!text) return {};
      const entry = parseNetrc(text, path).find(
        ({ host, login }) => host === hostname && (user === undefined || login === undefined || login === user),
      );
      if (!entry) return {};
      requirePrivate(await stat(path), path, 'the netrc file');
      const { login, password } = entry;
      return login === undefined && user === undefined ? { token: password } : { user: login, password };
    },
  };
}
