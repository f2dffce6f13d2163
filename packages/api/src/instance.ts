/*! An instance as a program names it. */
import { type ResolvedInstance, resolveInstance } from '@sqlpipe/instance';
import { OptionsError } from './errors.js';

/** An instance, and what is needed to connect to it. Nothing else is looked at, unless `env` is given. */
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
  /** Seconds for a complete reply, or between two rows of it; 0 for no limit. 120 by default. */
  readonly timeout?: number | undefined;
  /** Seconds for connecting; 0 for no limit. 10 by default. */
  readonly connectTimeout?: number | undefined;
  /**
   * How many times a request is sent again if the network or a gateway fails, each with a warning; 0 by default. A statement whose
   * reply is lost is sent again only if its object does not exist then, and at least once.
   */
  readonly retries?: number | undefined;
  /**
   * Variables to look in, as the programs look in theirs: `SQLPIPE_USER`, `SQLPIPE_PASSWORD`, `SQLPIPE_TOKEN`, proxies, and
   * `HOME` for instances.toml (then `url` may be a name in it) and netrc. `env: process.env` looks in all of them.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** An instance: its address, or its address with more. */
export type Instance = string | InstanceOptions;

/** Receives what is allowed and unwise, or good to know: one sentence, without a secret. */
export type OnWarning = (message: string) => void;

/** How to connect. @throws InstanceError with the code CONFIG; OptionsError for a value that is no instance */
export async function resolve(instance: Instance, warn: OnWarning = () => {}): Promise<ResolvedInstance> {
  const {
    url,
    user,
    password,
    token,
    env = {},
    ...options
  } = typeof instance === 'string' ? { url: instance } : (instance ?? {});
  if (typeof url !== 'string') throw new OptionsError('an instance is an address, or an object whose url is one');
  return resolveInstance(url, { program: 'sqlpipe', env, warn, options, credentials: { user, password, token } });
}
