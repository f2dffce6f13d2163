/*! Failures that can pass by themselves. */
import type { InstanceError } from './instance-error.js';

/**
 * Codes of the system and of undici: nobody listens now, a load balancer has nobody to pass connections on to, the
 * network loses a connection, a name cannot be resolved now. A certificate that is not trusted is none of them.
 */
const TRANSIENT_CODES = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ETIMEDOUT', 'TIMEOUT'],
  ...['EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
]);

/** Whether no reply came, or not all of it, for a reason that can pass by itself. */
export function isTransientFailure({ cause }: InstanceError): boolean {
  const { code, errors: [first] = [] } = (cause ?? {}) as AggregateError & NodeJS.ErrnoException;
  return TRANSIENT_CODES.has(code ?? first?.code);
}
