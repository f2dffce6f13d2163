/*! Address, credentials and options of a connection, resolved and checked. */
import type { RetryOptions } from './retry.js';
import type { Setting } from './settings.js';

/**
 * Everything needed to connect to one instance. `authorization` and `proxy` may contain secrets: show `label` instead.
 */
export interface ConnectionConfig extends RetryOptions {
  /** The address without secrets, for messages. */
  label: string;
  /** Scheme, host, port and path prefix, nothing else. */
  url: URL;
  /** The name in `instances.toml`, if the operand was one. */
  name?: string;
  /**
   * The names in `instances.toml` under which the instance is protected, however it is addressed: a change of it must be confirmed
   * by one of them.
   * @throws InstanceError if the file cannot be read
   */
  protectedNames?(): Promise<readonly string[]>;
  /** Value of the Authorization header. */
  authorization?: string;
  /** Whose credentials these are and where they come from, without a secret: `user 'ann' (SQLDUMP_USER)`. */
  account?: string | undefined;
  /** Why the operand is used as a host name, if it could have been a name in `instances.toml`. */
  unknownName?: string | undefined;
  /** Called for each request that has ended, without its query and secrets: `GET http://host:9000/exec 200 12.3 ms`. */
  logRequest?: ((message: string) => void) | undefined;
  /** Receives what is waited for, one line each. */
  info?: ((message: string) => void) | undefined;
  /** What to do about a 401, for the end of its message. */
  credentialsHelp: string;
  /** Certificates (PEM) to trust instead of the system's. */
  ca?: string;
  /** Whether to accept any TLS certificate. */
  insecure: boolean;
  /** The proxy to go through. */
  proxy?: URL;
  /** The longest time for a whole answer, or between two rows of it, in milliseconds; 0 for no limit. */
  timeout: number;
  /** The longest time for connecting, in milliseconds; 0 for no limit. */
  connectTimeout: number;
  /** Aborts when the user interrupts the program: then no request is sent again. */
  interrupted?: AbortSignal;
}

/** An instance as the command line and the environment describe it. */
export interface ResolvedInstance extends ConnectionConfig {
  /** The values that the connection uses, and where each comes from, for people to read. */
  settings: readonly Setting[];
}
