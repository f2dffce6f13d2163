/*! The instances of instances.toml: their addresses, and which of them are protected. */
import { escapeControls, suggestWord } from '@sqlpipe/text';
import { type Address, formatAddress, parseAddress } from './address.js';
import { InstanceError } from './instance-error.js';
import { type InstanceEntry, instancesPath, readInstances } from './instances-file.js';
import type { ResolveContext } from './resolve-context.js';
import { isSameAddress } from './same-address.js';

/** Whether an operand can be a name in instances.toml: it has no scheme, port or path. */
export function canBeName(operand: string): boolean {
  return !/[:/@]/.test(operand);
}

/** Why an operand is used as a host name, and which names are similar to it; undefined if it is certainly a host. */
export async function explainUnknownName(operand: string, env: ResolveContext['env']): Promise<string | undefined> {
  if (!canBeName(operand) || operand === 'localhost' || /^[\d.]+$/.test(operand)) return undefined;
  const names = [...(await readInstances(env)).keys()];
  const file = instancesPath(env) ?? 'instances.toml';
  return `"${escapeControls(operand)}" is not in ${file}, so it was treated as a host name${escapeControls(suggestWord(operand, names))}`;
}

/** The instances that have a name, in the order of the file, with their addresses as messages show them. */
export async function listInstances(env: ResolveContext['env']): Promise<{ name: string; address: string }[]> {
  return [...(await readInstances(env))].map(([name, { url }]) => ({ name, address: labelOfUrl(url) }));
}

function labelOfUrl(url: string): string {
  try {
    return formatAddress(parseAddress(url).url);
  } catch (error) {
    if (error instanceof InstanceError) return NO_ADDRESS; // the reason is reported when the entry is used
    throw error;
  }
}

const NO_ADDRESS = '(its url is not an address)';

/** Where the entry of an instance stands. */
export const placeOfEntry = (name: string, env: ResolveContext['env']): string => `${instancesPath(env)}: [${name}]`;

/** The names of the protected instances that have an address, however it is written. */
export async function findProtected(url: URL, env: ResolveContext['env']): Promise<string[]> {
  const entries = [...(await readInstances(env))].filter(([, entry]) => entry.protected);
  const names = entries.map(async ([name, entry]) => {
    const address = urlIfValid(entry.url);
    return address && (await isSameAddress(url, address)) ? [name] : [];
  });
  return (await Promise.all(names)).flat();
}

/** An invalid url of one entry does not matter to the others. */
function urlIfValid(text: string): URL | undefined {
  try {
    return parseAddress(text).url;
  } catch {
    return undefined;
  }
}

/** The address of an entry. @throws InstanceError that names the entry and the file */
export function addressOfEntry({ url }: InstanceEntry, name: string, env: ResolveContext['env']): Address {
  const place = placeOfEntry(name, env);
  if (url === '')
    throw new InstanceError('CONFIG', `${place}: the url is empty; give an address such as http://host:9000`);
  try {
    return parseAddress(url);
  } catch (error) {
    if (!(error instanceof InstanceError)) throw error;
    throw new InstanceError(error.code, `${place}: ${error.message}`, { cause: error });
  }
}
