/*! The one error this package throws; `code` is what an exit status is made of. */

/**
 * - `UNREACHABLE`: not reached, or given up: connection refused, time-out, TLS, 429 after retries, 5xx, a reply that
 * never came.
 * - `PROTOCOL`: the answer is not this protocol's: a login page, cut JSON, a wrong row count, 404, a redirect.
 * - `DENIED`: authentication required (401) or permission denied (403).
 * - `CONFIG`: an address, a credential or a file of them that can't be used.
 * - `REFUSED`: the server rejected the query.
 */
export type InstanceErrorCode = 'UNREACHABLE' | 'PROTOCOL' | 'DENIED' | 'CONFIG' | 'REFUSED';

/** What is known of a failure beside its message. */
export interface InstanceErrorDetails {
  /** The HTTP status, where there was an answer. */
  status?: number | undefined;
  /** Index into the query (UTF-16 code units) that the server's message points at. */
  position?: number | undefined;
  /** The server's message, unescaped, where it sent one. */
  serverMessage?: string | undefined;
  /** Whether the outcome is unknown: the request may have been carried out and its reply did not come, or not whole. */
  outcomeUnknown?: boolean;
  cause?: unknown;
}

/** A failure at one instance. The message names the instance and never a secret; it is fit to be shown as it is. */
export class InstanceError extends Error {
  override name = 'InstanceError';
  readonly code: InstanceErrorCode;
  readonly status: number | undefined;
  readonly position: number | undefined;
  readonly serverMessage: string | undefined;
  readonly outcomeUnknown: boolean;

  constructor(code: InstanceErrorCode, message: string, details: InstanceErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.position = details.position;
    this.serverMessage = details.serverMessage;
    this.outcomeUnknown = details.outcomeUnknown ?? false;
  }
}
