import { DEFAULT_REQUEST_BUFFER } from '@sqlpipe/sql';
import { type ErrorCode, formatExcerpt } from '@sqlpipe/text';
import type { ConnectionConfig } from '../configuration/connection-config.js';
import type { TransportError } from './connection.js';

type TransportFailure = Readonly<{ code: ErrorCode; message: string }>;
type RequestContext = ConnectionConfig & { readonly requiredBuffer: number };

const HOST_HELP = 'is the address right?';
const CERTIFICATE_HELP = 'give its certificate authority with --cacert, or accept any certificate with --insecure';

export const PROXY_CREDENTIALS_MESSAGE =
  'the proxy requires credentials (407); write them into the variable, as in https_proxy=http://user:password@host:port';

const NETWORK_MESSAGES: Record<string, [what: string, help: string]> = {
  ECONNREFUSED: ['connection refused', 'is the server running, and is the port right?'],
  ENOTFOUND: ['no such host', HOST_HELP],
  EAI_AGAIN: ['the host name cannot be resolved now', 'is the network up?'],
  EHOSTUNREACH: ['no route to the host', HOST_HELP],
  ENETUNREACH: ['the network is unreachable', 'is the network up?'],
};

const TLS_MESSAGES: Record<string, string> = {
  CERT_HAS_EXPIRED:
    'its TLS certificate has expired; renew it on the server, or use --insecure to accept any certificate',
  CERT_NOT_YET_VALID: 'its TLS certificate is not valid yet; is the clock right?',
  DEPTH_ZERO_SELF_SIGNED_CERT: `its TLS certificate is self-signed; ${CERTIFICATE_HELP}`,
  SELF_SIGNED_CERT_IN_CHAIN: `its TLS certificate comes from an unknown authority; ${CERTIFICATE_HELP}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `its TLS certificate comes from an unknown authority; ${CERTIFICATE_HELP}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `its TLS certificate comes from an unknown authority; ${CERTIFICATE_HELP}`,
};

/** The message follows the instance's name and a colon. */
export function toTransportFailure(error: TransportError, context: RequestContext): TransportFailure {
  const { code = '', name, message } = error.cause;
  if (code === 'UND_ERR_DESTROYED') return unreachableFailure('the request was canceled');
  // This version of undici does not set the codes that it documents for these errors.
  const isMalformed = name === 'HTTPParserError' || name === 'AssertionError';
  if (isMalformed && error.phase !== 'reading')
    return protocolFailure(
      `the server does not speak HTTP (${formatCause(error.cause)}); is the port right, or does it use https://?`,
    );
  // If a proxy rejects a tunnel, undici reports the status only in the text of its error.
  const [, proxyStatus] = /^Proxy response \((\d+)\)/.exec(message) ?? [];
  if (proxyStatus === '407') return { code: 'DENIED', message: PROXY_CREDENTIALS_MESSAGE };
  if (proxyStatus !== undefined)
    return unreachableFailure(
      `the proxy answered ${proxyStatus} to the request for a tunnel; does it permit that port, and does it know the host? no_proxy bypasses it`,
    );
  if (name === 'HeadersOverflowError')
    return protocolFailure('the header of the reply is too large; is this the address of a QuestDB server?');
  if (isMalformed || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')
    return protocolFailure(
      `the reply is malformed (${formatCause(error.cause)}); did the server fail while it was sending?`,
    );
  if (code === 'UND_ERR_SOCKET' && (message === 'bad response' || message === 'bad upgrade'))
    return protocolFailure('answered 100 or 101, which was not requested; is this the address of a QuestDB server?');
  if (error.phase === 'connecting') return unreachableFailure(connectMessage(error.cause, context));
  if (code === 'TIMEOUT') {
    const what = error.phase === 'waiting' ? 'no answer' : 'no further row and no end of the reply';
    return unreachableFailure(
      `${what} within ${formatSeconds(context.timeout)}; is the server busy? --timeout waits longer`,
    );
  }
  if (error.phase === 'reading')
    return protocolFailure('the reply is truncated: the connection was closed before its end; did the server stop?');
  if (error.wasClosed) return unreachableFailure(closedMessage(context));
  return unreachableFailure(`the request failed (${formatCause(error.cause)}); is the network up?`);
}

const unreachableFailure = (message: string): TransportFailure => ({ code: 'UNREACHABLE', message });
const protocolFailure = (message: string): TransportFailure => ({ code: 'PROTOCOL', message });

function connectMessage(cause: NodeJS.ErrnoException, { connectTimeout, url, proxy }: RequestContext): string {
  const first = firstCause(cause);
  const code = first.code ?? '';
  if (code === 'TIMEOUT' || code === 'ETIMEDOUT') {
    const what = url.protocol === 'https:' ? 'no connection with TLS' : 'no connection';
    return `${what} within ${formatSeconds(connectTimeout)}; ${HOST_HELP} --connect-timeout waits longer`;
  }
  const [what, help] = NETWORK_MESSAGES[code] ?? [];
  if (what && proxy)
    return `the proxy cannot be reached (${what}); is ${url.protocol.slice(0, -1)}_proxy right? no_proxy bypasses it`;
  if (what) return `${what}; ${help}`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const { cert } = cause as { cert?: { subjectaltname?: string } };
    return `its TLS certificate is for other names (${formatExcerpt(cert?.subjectaltname ?? 'none', 200)}); use one of them, or accept any certificate with --insecure`;
  }
  if (TLS_MESSAGES[code]) return TLS_MESSAGES[code];
  // OpenSSL reports a rejection as an alert. Its other protocol errors count as a server without TLS.
  const [, refusal] = /^ERR_SSL_[\w/]+?_ALERT_(\w+)$/.exec(code) ?? [];
  if (refusal)
    return `the server rejected the TLS connection (${refusal.toLowerCase().replaceAll('_', ' ')}); does it require a client certificate or an old TLS version?`;
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return 'the server does not use TLS; try http://';
  if (code === 'ECONNRESET' && url.protocol === 'https:')
    return 'the connection was closed before TLS started; is the port right? If the server does not use TLS, try http://';
  return `no connection (${formatCause(first)}); ${HOST_HELP}`;
}

/** A server closes the connection without a reply if a request exceeds its buffer (observed on 9.3.4), or if it stops. */
function closedMessage({ requiredBuffer, url }: RequestContext): string {
  if (requiredBuffer <= DEFAULT_REQUEST_BUFFER) {
    const orTls = url.protocol === 'http:' ? ', or does it use https://?' : '?';
    return `the connection was closed before a reply arrived; did the server stop${orTls}`;
  }
  return (
    `the connection was closed: the request may be too large, it needs a buffer of ${requiredBuffer} bytes ` +
    `(default: ${DEFAULT_REQUEST_BUFFER}); raise http.request.header.buffer.size on the server`
  );
}

/** A connection to a host with several addresses fails with an error for each. The first of them counts. */
export const firstCause = (cause: NodeJS.ErrnoException): NodeJS.ErrnoException =>
  (cause instanceof AggregateError && cause.errors[0]) || cause;

const formatCause = (cause: Error): string => formatExcerpt(cause.message || cause.name, 200);

const formatSeconds = (milliseconds: number): string => `${milliseconds / 1000} s`;
