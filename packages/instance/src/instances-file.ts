/*!
 * The user's file of named instances: their addresses, and where their credentials are stored. It contains no secrets.
 */
import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { InstanceError } from './instance-error.js';
import { isNotFound, readError } from './secret-file.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** One table of the file, `[NAME]`, with absolute paths. */
export interface InstanceEntry {
  url: string;
  user?: string;
  password_file?: string;
  token_file?: string;
  /** A shell command that prints the token. */
  token_command?: string;
  cacert?: string;
  /** Whether the instance's TLS certificate is verified. */
  tls_verify?: boolean;
  /** Seconds for a complete reply, or between two rows of it. */
  timeout?: number;
  /** Seconds for connecting. */
  connect_timeout?: number;
  /** Whether a change must be confirmed by the instance's name. */
  protected?: boolean;
}

const KEY_TYPES: Record<keyof InstanceEntry, 'string' | 'number' | 'boolean'> = {
  url: 'string',
  user: 'string',
  password_file: 'string',
  token_file: 'string',
  token_command: 'string',
  cacert: 'string',
  tls_verify: 'boolean',
  timeout: 'number',
  connect_timeout: 'number',
  protected: 'boolean',
};

const WORLD_WRITABLE = 0o002;

const PATH_KEYS = ['password_file', 'token_file', 'cacert'] as const;

/** The path of the file: `${XDG_CONFIG_HOME:-$HOME/.config}/sqlpipe/instances.toml`; undefined without a home. */
export function instancesPath({ XDG_CONFIG_HOME, HOME }: Environment): string | undefined {
  const config = XDG_CONFIG_HOME || (HOME && join(HOME, '.config'));
  return config ? join(config, 'sqlpipe', 'instances.toml') : undefined;
}

/**
 * The entries by name; none if there is no file. Throws `CONFIG` for an invalid file, and for one that every user can
 * change, because the file decides where credentials are sent and which commands are run.
 */
export async function readInstances(env: Environment): Promise<Map<string, InstanceEntry>> {
  const path = instancesPath(env);
  const text = path && (await readIfExists(path));
  if (!path || text === undefined) return new Map();
  const tables = Object.entries(await parseToml(text, path));
  return new Map(tables.map(([name, table]) => [name, toInstanceEntry(table, `${path}: [${name}]`, path, env.HOME)]));
}

async function readIfExists(path: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(path);
    if ((mode & WORLD_WRITABLE) === 0) return await readFile(path, 'utf8');
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw readError('the instances file', path, error);
  }
  throw new InstanceError('CONFIG', `${path} can be changed by everybody; run chmod o-w on it`);
}

async function parseToml(text: string, path: string): Promise<Record<string, unknown>> {
  // Loaded here, because most runs have no such file and need no parser.
  const { parse, TomlError } = await import('smol-toml');
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason] = error.message.split('\n');
    throw new InstanceError('CONFIG', `${path}, line ${error.line}: ${reason}`);
  }
}

function toInstanceEntry(table: unknown, place: string, path: string, home: string | undefined): InstanceEntry {
  if (typeof table !== 'object' || table === null)
    throw new InstanceError('CONFIG', `${place} is not a table; write [NAME] and url = "…" below it`);
  for (const [key, value] of Object.entries(table)) checkKey(key, value, place);
  const entry = { ...table } as InstanceEntry;
  if (entry.url === undefined) throw new InstanceError('CONFIG', `${place} has no url; add url = "http://host:9000"`);
  for (const key of PATH_KEYS) if (entry[key] !== undefined) entry[key] = resolvePath(entry[key], path, home);
  return entry;
}

function checkKey(key: string, value: unknown, place: string): void {
  const type = Object.hasOwn(KEY_TYPES, key) ? KEY_TYPES[key as keyof InstanceEntry] : undefined;
  if (type === undefined) {
    const known = Object.keys(KEY_TYPES).join(', ');
    throw new InstanceError('CONFIG', `${place} has an unknown key "${key}"; the known keys are ${known}`);
  }
  if (typeof value !== type) throw new InstanceError('CONFIG', `${place}: ${key} must be a ${type}`);
}

/** A path with `~/` is in the home folder; another relative path starts at the folder of instances.toml. */
function resolvePath(path: string, file: string, home = '~'): string {
  return path.startsWith('~/') ? join(home, path.slice(2)) : resolve(dirname(file), path);
}
