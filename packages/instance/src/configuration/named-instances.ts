/*! Reads the user's file of named instances. The file contains no secrets. */
import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { escapeControls, formatSuggestion } from '@sqlpipe/text';
import { configError, InstanceError } from '../instance-error.js';
import { type Address, detectSameAddress, formatAddress, hasPathSyntax, parseAddress } from './address.js';
import type { ResolveContext } from './connection-config.js';
import { isNotFound, readError } from './secret-file.js';

/** What INSTANCE stands for: an entry of the file, or else an address; and why it is used as a host name, if it could have been a name. */
export async function resolveOperand(
  operand: string,
  env: ResolveContext['env'],
): Promise<{ address: Address; entry?: InstanceEntry; unknownName?: string }> {
  const names = /[:/@]/.test(operand) ? undefined : await readInstances(env);
  const entry = names?.get(operand);
  if (entry?.url === '')
    throw configError(`${entry.place}: the url is empty; give an address such as http://host:9000`);
  if (entry)
    try {
      return { entry, address: parseAddress(entry.url) };
    } catch (error) {
      throw error instanceof InstanceError ? error.withMessage(`${entry.place}: ${error.message}`) : error;
    }
  const file = instancesPath(env) ?? 'instances.toml';
  if (hasPathSyntax(operand))
    throw configError(
      `${/[@?#;=:]/.test(operand) ? 'the operand' : `"${escapeControls(operand)}"`} is a path, not an instance; give an address such as http://host:9000, or a name in ${file}`,
    );
  const address = parseAddress(operand);
  if (!names || operand === 'localhost' || /^[\d.]+$/.test(operand)) return { address }; // certainly a host
  const suggestion = escapeControls(formatSuggestion(operand, [...names.keys()]));
  const unknownName = `"${escapeControls(operand)}" is not in ${file}, so it was treated as a host name${suggestion}`;
  return { address, unknownName };
}

/** The instances that have a name, in the order of the file, with their addresses as messages show them. */
export async function listInstances(env: ResolveContext['env']): Promise<{ name: string; address: string }[]> {
  return [...(await readInstances(env))].map(([name, entry]) => {
    const url = tryParseUrl(entry.url);
    return { name, address: url ? formatAddress(url) : '(its url is not an address)' };
  });
}

export async function readProtectedNames(url: URL, env: ResolveContext['env']): Promise<string[]> {
  const entries = [...(await readInstances(env))].filter(([, entry]) => entry.protected);
  const names = entries.map(async ([name, entry]) => {
    const address = tryParseUrl(entry.url);
    return address && (await detectSameAddress(url, address)) ? [name] : [];
  });
  return (await Promise.all(names)).flat();
}

/** An invalid url of one entry does not matter to the others. The reason is reported when the entry is used. */
function tryParseUrl(text: string): URL | undefined {
  try {
    return parseAddress(text).url;
  } catch {
    return undefined;
  }
}

const KEYS = {
  url: '',
  user: '',
  password_file: '',
  token_file: '',
  token_command: '',
  cacert: '',
  tls_verify: true,
  timeout: 0,
  connect_timeout: 0,
  retries: 0,
  protected: false,
};

/** `place` is the file and the name, for messages. */
export type InstanceEntry = Partial<typeof KEYS> & { url: string; name: string; place: string };

/** The path of the file: `${XDG_CONFIG_HOME:-$HOME/.config}/sqlpipe/instances.toml`; undefined without a home. */
function instancesPath({ XDG_CONFIG_HOME, HOME }: ResolveContext['env']): string | undefined {
  const config = XDG_CONFIG_HOME || (HOME && join(HOME, '.config'));
  return config ? join(config, 'sqlpipe', 'instances.toml') : undefined;
}

/**
 * The entries by name; none without a file.
 * @throws InstanceError for an invalid file, or one that every user can change: it decides where credentials are sent and what is executed
 */
async function readInstances(env: ResolveContext['env']): Promise<Map<string, InstanceEntry>> {
  const path = instancesPath(env);
  const text = path && (await readIfExists(path));
  if (!path || text === undefined) return new Map();
  const { parse, TomlError } = await import('smol-toml'); // loaded here, because most runs have no such file
  try {
    const tables = Object.entries(parse(text));
    return new Map(tables.map(([name, table]) => [name, toInstanceEntry(table, name, path, env.HOME)]));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason] = error.message.split('\n');
    throw configError(`${path}, line ${error.line}: ${reason}`);
  }
}

async function readIfExists(path: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(path);
    if ((mode & 0o002) === 0) return await readFile(path, 'utf8');
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw readError('the instances file', path, error);
  }
  throw configError(`${path} can be changed by everybody; run chmod o-w on it`);
}

function toInstanceEntry(table: unknown, name: string, file: string, home = '~'): InstanceEntry {
  const place = `${file}: [${name}]`;
  if (typeof table !== 'object' || table === null)
    throw configError(`${place} is not a table; write [NAME] and url = "…" below it`);
  for (const [key, value] of Object.entries(table)) {
    if (!Object.hasOwn(KEYS, key))
      throw configError(`${place} has an unknown key "${key}"; the known keys are ${Object.keys(KEYS).join(', ')}`);
    const type = typeof KEYS[key as keyof typeof KEYS];
    if (typeof value !== type) throw configError(`${place}: ${key} must be a ${type}`);
  }
  const entry = { ...table, name, place } as InstanceEntry;
  if (entry.url === undefined) throw configError(`${place} has no url; add url = "http://host:9000"`);
  for (const key of ['password_file', 'token_file', 'cacert'] as const) {
    const path = entry[key];
    // A path with `~/` is in the home folder; another relative path starts at the folder of the file.
    if (path !== undefined)
      entry[key] = path.startsWith('~/') ? join(home, path.slice(2)) : resolve(dirname(file), path);
  }
  return entry;
}
