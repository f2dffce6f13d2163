/** Everything needed to connect to one instance. `authorization` and `proxy` may contain secrets: show `label` instead. */
export interface ConnectionConfig {
  /** The address without secrets, for messages. */
  label: string;
  url: URL;
  name?: string;
  /** The names under which `instances.toml` protects the instance. A change must be confirmed with one of them. */
  protectedNames?(): Promise<readonly string[]>;
  authorization?: string;
  /** Undefined if the credentials are a token. */
  user?: string | undefined;
  /** Whose credentials these are and where they come from, without a secret: `user 'ann' (SQLDUMP_USER)`. */
  account?: string | undefined;
  /** Why the operand is used as a host name, if it could have been a name in `instances.toml`. */
  unknownName?: string | undefined;
  /** Called for each request that has ended, without its query and secrets: `GET http://host:9000/exec 200 12.3 ms`. */
  logRequest?: ((message: string) => void) | undefined;
  info?: ((message: string) => void) | undefined;
  /** What to do about a 401. Ends its message. */
  credentialsHelp: string;
  ca?: string;
  insecure: boolean;
  proxy?: URL;
  /** Maximum time for a complete reply, or between two of its rows, in milliseconds; 0 for no limit. */
  timeout: number;
  connectTimeout: number;
  /** Maximum number of retries of one request; by default none. */
  retries?: number | undefined;
  warn?: ((message: string) => void) | undefined;
  /** Waits, or ends when the signal aborts; by default a timer. */
  pause?: ((milliseconds: number, signal: AbortSignal) => Promise<unknown>) | undefined;
  /** Aborts when the user interrupts the program: then pauses before a retry end, and the next failure is final. */
  signal?: AbortSignal;
  /** Its own settings with their sources, for `--show-config`. */
  settings: readonly Setting[];
}

/** A value that a connection uses. Never a secret. */
export interface Setting {
  readonly name: string;
  readonly value: string;
  /** An option, a variable, a file with its entry, `default`. */
  readonly source: string;
}

/** Where an address and credentials may come from besides the INSTANCE operand. */
export interface ResolveContext extends Pick<ConnectionConfig, 'info' | 'logRequest'> {
  /** The program's name, which its environment variables start with: `sqldump` reads `SQLDUMP_USER`. */
  program: string;
  env: Readonly<Record<string, string | undefined>>;
  options?: ConnectionOptions;
  /** Come before all other credentials. */
  credentials?: Credentials | undefined;
  /** Receives a warning about an unwise setting: one sentence, without a secret. */
  warn(message: string): void;
  /** Prompts for a secret that no other source has; undefined without a terminal. */
  promptSecret?(question: string): Promise<string | undefined>;
}

/** The options about an instance, each as the command line option of that name. */
export interface ConnectionOptions {
  user?: string | undefined;
  passwordFile?: string | undefined;
  tokenFile?: string | undefined;
  netrcFile?: string | undefined;
  cacert?: string | undefined;
  insecure?: boolean | undefined;
  /** The maximum time for a complete reply, or between two rows of it, in seconds; 0 for no limit. */
  timeout?: number | undefined;
  connectTimeout?: number | undefined;
  retries?: number | undefined;
  /** Whether the settings are only shown: then nothing prompts for a password. */
  showConfig?: boolean | undefined;
}

/** The credentials of a source, which may be incomplete. */
export interface Credentials {
  user?: string | undefined;
  password?: string | undefined;
  token?: string | undefined;
}
