/*! Address, credentials and options of a connection, resolved and checked. */
import type { RetryOptions } from './retry.js';
import type { Setting } from './settings.js';

/** One instance, ready to be connected to. `authorization` and `proxy` may hold secrets: show `label`. */
export interface ConnectionConfig extends RetryOptions {
  /** The address without secrets, for messages. */
  label: string;
  /** Scheme, host, port and path prefix, nothing else. */
  url: URL;
  /** The name in `instances.toml`, where the instance was given by one. */
  name?: string;
  /** Whether changing it has to be confirmed by name. */
  protected?: boolean;
  /** Value of the Authorization header. */
  authorization?: string;
  /** Whose credentials these are and where they come from, without a secret: `user 'ann' (SQLDUMP_USER)`. */
  account?: string | undefined;
  /** Of an operand that could have been a name in `instances.toml`: why it was tried as a host. */
  unknownName?: string | undefined;
  /** Called for each request that has ended, without its query and secrets: `GET http://host:9000/exec 200 12.3 ms`. */
  logRequest?: ((message: string) => void) | undefined;
  /** What to do about a 401: a sentence that follows one. */
  credentialsHelp: string;
  /** Certificates (PEM) to trust instead of the system's. */
  ca?: string;
  /** Whether any TLS certificate will do. */
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
  /** What it is connected to with, as people see it, and where each value comes from. */
  settings: readonly Setting[];
}
