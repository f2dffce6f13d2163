/*! What a caller gives to resolve an instance: the options of the command line, the environment, and who hears of what. */
import type { Credentials } from './credentials.js';

/** Where an address and credentials may come from besides the INSTANCE operand. */
export interface ResolveContext {
  /** The program's name, which its environment variables start with: `sqldump` reads `SQLDUMP_USER`. */
  program: string;
  env: Readonly<Record<string, string | undefined>>;
  options?: InstanceOptions;
  /** Credentials that a calling program has itself; they come before all others. */
  credentials?: Credentials | undefined;
  /** Called with a warning about an unwise setting: one sentence, without a secret. */
  warn(message: string): void;
  /** Receives what is waited for, one line each. */
  info?: ((message: string) => void) | undefined;
  /** Called for each request that has ended, without secrets: method, address, status and time. */
  logRequest?: ((message: string) => void) | undefined;
  /** Prompts for a secret that no other source has; undefined without a terminal. */
  promptSecret?(question: string): Promise<string | undefined>;
}

/** The options about an instance, each as the command line option of that name. */
export interface InstanceOptions {
  user?: string | undefined;
  passwordFile?: string | undefined;
  tokenFile?: string | undefined;
  netrcFile?: string | undefined;
  cacert?: string | undefined;
  insecure?: boolean | undefined;
  /** The maximum time for a complete reply, or between two rows of it, in seconds; 0 for no limit. */
  timeout?: number | undefined;
  /** The maximum time for connecting, in seconds; 0 for no limit. */
  connectTimeout?: number | undefined;
  /** Maximum number of retries of one request. */
  retries?: number | undefined;
  /** Whether the settings are only shown: then nothing prompts for a password. */
  showConfig?: boolean | undefined;
}
