/*! Resolves an instance as a calling program names it. */
import { type ConnectionConfig, resolveInstance } from '@sqlpipe/instance';
import { CodedError } from '@sqlpipe/text';

/** An instance, and what is needed to connect to it. */
export interface InstanceOptions {
  /** `http://host:9000`, with any path; `host:9000`; or the configuration string of a QuestDB client. */
  readonly url: string;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** A REST token, instead of `user` and `password`. */
  readonly token?: string | undefined;
  /** A file of certificates (PEM) to trust instead of the system's. */
  readonly cacert?: string | undefined;
  /** Accept any TLS certificate. */
  readonly insecure?: boolean | undefined;
  /** Maximum seconds to wait for a reply, or between two rows of a dump; 0 means no limit. 120 by default. */
  readonly timeout?: number | undefined;
  /** Maximum seconds to wait for a connection; 0 means no limit. 10 by default. */
  readonly connectTimeout?: number | undefined;
  /**
   * How many times a request is sent again if the network or a gateway fails; 0 by default. Each retry causes a warning. If
   * the reply to a statement is lost and its object does not exist, the statement is sent once more even with 0.
   */
  readonly retries?: number | undefined;
  /**
   * The environment variables to use, such as `process.env`: `SQLPIPE_USER`, `SQLPIPE_PASSWORD`, `SQLPIPE_TOKEN`, those of
   * proxies, and `HOME`, without which no instances.toml and netrc are read. `url` can then be a name from instances.toml.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** An instance. A string is its `url`. */
export type Instance = string | InstanceOptions;

/** Receives warnings and notes: one sentence each, without a secret. */
export type OnWarning = (message: string) => void;

/** How to connect. @throws InstanceError with the code CONFIG; CodedError for a value that is no instance */
export async function resolve(instance: Instance, warn: OnWarning = () => {}): Promise<ConnectionConfig> {
  const given: Partial<InstanceOptions> = typeof instance === 'string' ? { url: instance } : (instance ?? {});
  const { url, user, password, token, env = {}, ...options } = given;
  if (typeof url !== 'string')
    throw new CodedError('USAGE', 'an instance is an address, or an object whose url is one');
  return resolveInstance(url, { program: 'sqlpipe', env, warn, options, credentials: { user, password, token } });
}
