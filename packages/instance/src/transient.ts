/*! Failures that can pass by themselves. */
import type { InstanceError } from './instance-error.js';

/**
 * Codes of the system and of undici: a server that restarts refuses connections, a load balancer closes them while no
 * server is behind it, the network loses one, a name cannot be resolved. A certificate that is not trusted stays so.
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
