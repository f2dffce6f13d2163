/*!
 * Detects requests that a web page sent. A browser sends a GET to any address, this machine's too, for any page; so a
 * request is rejected if its headers name a page of another origin. A page can also point its own host name to this
 * machine's address (DNS rebinding); so a server that listens only on this machine accepts no other name.
 */
import { BlockList } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

export const isLoopback = (address: string): boolean =>
  loopback.check(address, address.includes(':') ? 'ipv6' : 'ipv4');

/** @param hosts lower-case host names that are allowed besides this machine's own; undefined allows any */
export function foreignRequestReason(
  headers: ReadonlyMap<string, string>,
  hosts: ReadonlySet<string> | undefined,
): string | undefined {
  const host = headers.get('host');
  if (hosts && host !== undefined && !isAllowed(host, hosts))
    return 'Host not allowed: start sqlserve with --allow-host NAME to allow it';
  const site = headers.get('sec-fetch-site') ?? 'none';
  const pages = [headers.get('origin'), headers.get('referer')].filter(page => page !== undefined);
  if ((site === 'none' || site === 'same-origin') && pages.every(page => isSameOrigin(page, host))) return;
  return 'Requests from pages of other origins are not allowed';
}

function isAllowed(host: string, hosts: ReadonlySet<string>): boolean {
  const name = parseUrl(`http://${host}`)
    ?.hostname.replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  if (name === undefined) return false;
  return name === 'localhost' || hosts.has(name) || isLoopback(name);
}

function isSameOrigin(page: string, host: string | undefined): boolean {
  const url = parseUrl(page);
  return url !== undefined && host !== undefined && url.host === parseUrl(`${url.protocol}//${host}`)?.host;
}

const parseUrl = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);
