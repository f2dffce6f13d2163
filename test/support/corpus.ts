/*!
 * Recorded replies of real servers to thousands of statements: a folder beside the project, or the folder in CORPUS.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJsonLines } from './json-lines.js';

export const CORPUS: string | undefined = [process.env.CORPUS ?? '../shared/corpus'].find(existsSync);

/** A statement that a server was sent, with the properties that tests use. */
export interface Recorded {
  readonly id: string;
  readonly sql: string;
  readonly status?: number | null;
  readonly kind?: string;
  readonly what?: string;
  readonly setup: readonly string[];
  readonly base_ddl?: readonly string[];
  readonly server_config?: string;
  /** What the server printed, what it replied to that, and whether it then printed the same. */
  readonly show_create?: string;
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
