/*! What went wrong between us and a server, in plain words and with what to try. Nothing here does anything. */

import { excerpt } from '@sqlpipe/sql';
import type { InstanceErrorCode } from './error.js';
import type { Phase, TransportError } from './http.js';
import { DEFAULT_REQUEST_BUFFER } from './request.js';

export interface Failure {
  code: InstanceErrorCode;
  /** Follows the instance's name and a colon. */
  message: string;
}

export interface Circumstances {
  /** In milliseconds, as they were set. */
  timeout: number;
  connectTimeout: number;
  /** The buffer that the request needs at the server. */
  bufferNeeded: number;
  /** Where the request went. */
  url: URL;
  /** By way of whom. */
  proxy?: URL | undefined;
}

const HOST = 'is the address right?';
const CERTIFICATE = 'give its certificate authority with --cacert, or --insecure to take any certificate';

/** What a proxy's 407 means. */
export const PROXY_CREDENTIALS =
  'the proxy asks for credentials (407): write them into the variable, as in https_proxy=http://user:password@host:port';

/** What a host can be found by, and what to do where it can't. */
const NETWORK: Record<string, [what: string, help: string]> = {
  ECONNREFUSED: ['connection refused', 'is the server running, and is the port right?'],
  ENOTFOUND: ['no such host', HOST],
  EAI_AGAIN: ["the name of the host can't be looked up now", 'is the network up?'],
  EHOSTUNREACH: ['no route to the host', HOST],
  ENETUNREACH: ['the network is unreachable', 'is it up?'],
};

const TLS: Record<string, string> = {
  CERT_HAS_EXPIRED: 'its TLS certificate has expired: renew it on the server, or --insecure to take any certificate',
  CERT_NOT_YET_VALID: 'its TLS certificate is not valid yet: is the clock right?',
  DEPTH_ZERO_SELF_SIGNED_CERT: `its TLS certificate is self-signed: ${CERTIFICATE}`,
  SELF_SIGNED_CERT_IN_CHAIN: `its TLS certificate comes from an unknown authority: ${CERTIFICATE}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `its TLS certificate comes from an unknown authority: ${CERTIFICATE}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `its TLS certificate comes from an unknown authority: ${CERTIFICATE}`,
};

/** By name: the codes that undici promises for these are not set in the version used. */
const NOT_HTTP = new Set(['HTTPParserError', 'AssertionError']);
/** What undici says of an interim answer that nobody asked for: 100 and 101. */
const INTERIM = new Set(['bad response', 'bad upgrade']);

/** The words for a request that got no answer, or not a whole one. */
export function transportFailure(error: TransportError, at: Circumstances): Failure {
  const code = error.cause.code ?? '';
  if (code === 'UND_ERR_DESTROYED') return unreachable('the request was abandoned');
  if (NOT_HTTP.has(error.cause.name)) return notHttp(error.phase, error.cause);
  const refused = refusedByProxy(error.cause);
  if (refused !== undefined) return refused;
  if (error.cause.name === 'HeadersOverflowError')
    return protocol('the header of the answer is too large: is this the address of a QuestDB server?');
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return protocol(broken(error.cause));
  if (code === 'UND_ERR_SOCKET' && INTERIM.has(error.cause.message))
    return protocol('answered 100 or 101, which nobody asked for: is this the address of a QuestDB server?');
  if (error.phase === 'connecting') return unreachable(connecting(error.cause, at));
  if (code === 'TIMEOUT') {
    const what = error.phase === 'waiting' ? 'no answer' : 'the reply neither ended nor brought another row';
    return unreachable(`${what} within ${seconds(at.timeout)}: is the server busy? --timeout waits longer`);
  }
  if (error.phase === 'reading')
    return protocol('the reply is cut: the connection closed before its end; did the server stop?');
  if (error.isClose) return unreachable(closedUnanswered(at));
  return unreachable(`the request failed (${describe(error.cause)}): is the network up?`);
}

function unreachable(message: string): Failure {
  return { code: 'UNREACHABLE', message };
}

function protocol(message: string): Failure {
  return { code: 'PROTOCOL', message };
}

function connecting(cause: NodeJS.ErrnoException, { connectTimeout, url, proxy }: Circumstances): string {
  const [first] = cause instanceof AggregateError ? cause.errors : [];
  const code = cause.code ?? first?.code ?? '';
  if (code === 'TIMEOUT' || code === 'ETIMEDOUT') {
    const what = url.protocol === 'https:' ? 'no connection with TLS' : 'no connection';
    return `${what} within ${seconds(connectTimeout)}: ${HOST} --connect-timeout waits longer`;
  }
  const [what, help] = NETWORK[code] ?? [];
  if (what && proxy)
    return `the proxy can't be reached (${what}): is ${url.protocol.slice(0, -1)}_proxy right? no_proxy goes around it`;
  if (what) return `${what}: ${help}`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return otherName(cause);
  return TLS[code] ?? noTls(code, url) ?? `no connection (${describe(first ?? cause)}): ${HOST}`;
}

/** OpenSSL's words for what it meets in place of TLS tell nobody that; those for a refusal do (an alert of SSL, TLSV1, SSL/TLS). */
function noTls(code: string, { protocol }: URL): string | undefined {
  const [, refusal] = /^ERR_SSL_[\w/]+?_ALERT_(\w+)$/.exec(code) ?? [];
  if (refusal)
    return `the server refuses TLS as it is offered (${refusal.toLowerCase().replaceAll('_', ' ')}): does it ask for a certificate, or for a version that is out of use?`;
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return 'what answers there does not speak TLS: try http://';
  if (code === 'ECONNRESET' && protocol === 'https:')
    return 'the connection closed where TLS was to begin: is the port right? If there is no TLS, try http://';
  return undefined;
}

function otherName(cause: NodeJS.ErrnoException & { cert?: { subjectaltname?: string } }): string {
  const names = excerpt(cause.cert?.subjectaltname ?? 'none', 200);
  return `its TLS certificate is for other names (${names}): use one of them, or --insecure to take any certificate`;
}

/** undici tells a proxy's no to a tunnel in a message only. */
function refusedByProxy({ message }: Error): Failure | undefined {
  const [, status] = /^Proxy response \((\d+)\)/.exec(message) ?? [];
  if (status === '407') return { code: 'DENIED', message: PROXY_CREDENTIALS };
  return status === undefined
    ? undefined
    : unreachable(
        `the proxy answered ${status} where a tunnel was asked for: may it go there, and does it know the host? no_proxy goes around it`,
      );
}

/** A server that can't hold a request closes the connection without a word (observed on 9.3.4), as a dying one does. */
function closedUnanswered({ bufferNeeded: needed, url }: Circumstances): string {
  if (needed <= DEFAULT_REQUEST_BUFFER) {
    const orTls = url.protocol === 'http:' ? ', or is it https://?' : '?';
    return `the connection closed without an answer: the reply is lost; did the server stop${orTls}`;
  }
  return (
    `the connection closed without an answer: the request is too large for the server. It needs a buffer of ${needed} ` +
    `bytes, the server's default is ${DEFAULT_REQUEST_BUFFER}: raise http.request.header.buffer.size there`
  );
}

function notHttp(phase: Phase, cause: Error): Failure {
  return protocol(
    phase === 'reading'
      ? broken(cause)
      : `what answers there does not speak HTTP (${describe(cause)}): is the port right, or is it https://?`,
  );
}

function broken(cause: Error): string {
  return `the reply is broken (${describe(cause)}): did the server fail while it was sending?`;
}

function describe(cause: Error): string {
  return excerpt(cause.message || cause.name, 200);
}

function seconds(milliseconds: number): string {
  return `${milliseconds / 1000} s`;
}
