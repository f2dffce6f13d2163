/*! Recorded replies of real servers to thousands of statements: a folder beside the project, or the folder in CORPUS. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJsonLines } from './json-lines.js';

export const CORPUS: string | undefined = [process.env.CORPUS ?? '../shared/corpus'].find(existsSync);

/** The reply of a server to a statement, and what it printed afterwards. */
interface Result {
  readonly status?: number | null;
  readonly body?: { readonly error?: string; readonly position?: number; readonly rows?: number } | string | null;
  readonly show_create?: string;
}

/** A statement that a server was sent, with the properties that tests use; `later` is the reply of a later version. */
export interface Recorded extends Result {
  readonly id: string;
  readonly sql: string;
  readonly label?: string;
  readonly request?: string;
  readonly later?: Result;
  readonly kind?: string;
  readonly what?: string;
  readonly setup: readonly string[];
  readonly base_ddl?: readonly string[];
  readonly server_config?: string;
  /** What the server replied to what it had printed, and whether it then printed the same. */
  readonly replay_status?: number;
  readonly roundtrip?: boolean;
  readonly roundtrip_trimmed?: boolean;
}

export const readCorpus = (name: string): Recorded[] =>
  CORPUS === undefined
    ? []
    : parseJsonLines<Recorded>(readFileSync(join(CORPUS, `${name}.jsonl`), 'utf8')).map(each => ({
        ...each,
        setup: [each.setup ?? []].flat(),
      }));
