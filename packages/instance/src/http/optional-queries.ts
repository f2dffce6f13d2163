import type { ConnectionConfig } from '../configuration/connection-config.js';
import { InstanceError } from '../instance-error.js';
import { type Client, connect } from './client.js';

/** Milliseconds for an attempt. A server that does not answer within this time gets no more queries. */
const MAX_TIMEOUT = 5000;

/** Queries on a connection of their own, because that of a dump is busy with rows. The result is undefined if the instance fails. */
export class BestEffortClient {
  readonly #timeout: number;
  readonly #client: Client;
  #hasGivenUp = false;

  constructor(config: ConnectionConfig) {
    const timeout = Math.min(config.timeout || MAX_TIMEOUT, MAX_TIMEOUT);
    this.#timeout = timeout;
    this.#client = connect({ ...config, timeout, connectTimeout: timeout, retries: 0 });
  }

  queryRows(query: string): Promise<unknown[][] | undefined> {
    return this.attempt(client => client.queryRows(query));
  }

  /** The result of queries; undefined if one fails. One attempt at a time: the time limit is that of the attempt. */
  async attempt<T>(use: (client: Client) => Promise<T>): Promise<T | undefined> {
    if (this.#hasGivenUp) return undefined;
    const timer = setTimeout(() => void this.close(), this.#timeout);
    try {
      return await use(this.#client);
    } catch (error) {
      if (!(error instanceof InstanceError)) throw error;
      this.#hasGivenUp = error.code === 'UNREACHABLE';
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

/** How servers reject an unknown SHOW, and an unknown SHOW CREATE: they list what may follow (observed on 8.1.4 to 9.3.4). */
export const UNKNOWN_SHOW = /^expected 'TABLES'/;
export const UNKNOWN_SHOW_CREATE = /^expected 'TABLE'/;

/** The messages for an unknown function, column and statement (observed on 8.1.4 to 9.3.4). */
const UNSUPPORTED = [/^unknown function name: /, /^Invalid column: /, UNKNOWN_SHOW];

/** The result of queries; undefined if this version does not support one. */
export const tryIfSupported = <T>(query: Promise<T>): Promise<T | undefined> => tryQuery(query, isUnsupported);

export const isUnsupported = (error: InstanceError): boolean =>
  error.code === 'REJECTED' && UNSUPPORTED.some(pattern => error.matches(pattern));

/** The result of queries; undefined if the instance rejects one, because not every version and account may ask it. */
export const tryIfAccepted = <T>(query: Promise<T>): Promise<T | undefined> =>
  tryQuery(query, ({ serverMessage }) => serverMessage !== undefined);

/** The rows of a query; undefined if the instance rejects it. */
export const queryIfAccepted = (client: Client, query: string): Promise<unknown[][] | undefined> =>
  tryIfAccepted(client.queryRows(query));

/** The result of queries; undefined if one fails with an expected error. Any other error is thrown. */
export async function tryQuery<T>(query: Promise<T>, isExpected: (error: InstanceError) => boolean) {
  try {
    return await query;
  } catch (error) {
    if (error instanceof InstanceError && isExpected(error)) return undefined;
    throw error;
  }
}
