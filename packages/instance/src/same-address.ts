/*! Whether two addresses are those of one server, and which of them stay on this machine. */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/** The IP addresses of a host name. */
type LookUp = (name: string) => Promise<readonly string[]>;

const lookUpAll: LookUp = async name => (await lookup(name, { all: true })).map(({ address }) => address);

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');
// A connection to the unspecified address goes to this machine.
LOOPBACK.addAddress('0.0.0.0');
LOOPBACK.addAddress('::', 'ipv6');

const LOCALHOST = 'localhost';

/**
 * Whether two addresses are those of one server: host, port and path are the same. The scheme does not matter, because a
 * port has one. A name is the same as an IP address that it has; two names are not compared by their addresses, because
 * one address can serve several names. A name that cannot be looked up has no address.
 */
export async function isSameAddress(one: URL, other: URL, lookUp = lookUpAll): Promise<boolean> {
  if (effectivePort(one) !== effectivePort(other) || one.pathname !== other.pathname) return false;
  const hosts = [one, other].map(({ hostname }) => formatHost(hostname));
  if (hosts[0] === hosts[1]) return true;
  const [[name, second], [ip]] = [hosts.filter(host => !isAddress(host)), hosts.filter(isAddress)];
  if (name === undefined || second !== undefined) return false;
  const addresses = await lookUp(name).catch(() => []);
  return addresses.some(address => formatHost(address) === ip);
}

/** A host in one form: all addresses of the loopback are `localhost`. @param hostname as in a URL, or an IP address */
function formatHost(hostname: string): string {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const family = isIP(host);
  if (family && LOOPBACK.check(host, family === 6 ? 'ipv6' : 'ipv4')) return LOCALHOST;
  // An IPv4 address in the form of IPv6, as URL writes it
  const [, high, low] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(host) ?? [];
  return high && low ? new URL(`http://0x${high}${low.padStart(4, '0')}`).hostname : host;
}

const isAddress = (host: string): boolean => host === LOCALHOST || isIP(host) > 0;

/** The port that an address says or that its scheme has. */
export const effectivePort = ({ port, protocol }: URL): string => port || (protocol === 'https:' ? '443' : '80');

/** Whether requests to a host stay on this machine. */
export const isLoopbackHost = (hostname: string): boolean => {
  const host = formatHost(hostname);
  return host === LOCALHOST || host.endsWith(`.${LOCALHOST}`);
};
