/*! What can be said against a statement before anything is sent. */
import { dependsOnVersion, missingFeatures } from '@sqlpipe/ddl';
import { DEFAULT_REQUEST_BUFFER, fetchVersion, type Instance } from '@sqlpipe/instance';
import { identify, title } from '@sqlpipe/sql';

/** What a schema dump contains; ALTER, DROP, INSERT and the like have to be allowed by name. */
const DUMP_VERBS = ['CREATE', 'ADD', 'GRANT', 'ASSUME'];

/**
 * Statements up to this length need not be measured: the server keeps a request twice, and nine bytes are the most that a
 * UTF-16 code unit is written with. It leaves 16 KiB for the rest of the request.
 */
const SURELY_FITS = (DEFAULT_REQUEST_BUFFER - 16 * 1024) / (2 * 9);

/** Says what speaks against a statement, or undefined. */
export type Objection = (statement: string) => Promise<string | undefined>;

/** A statement that was refused before anything was sent. */
export class NotAdmitted extends Error {
  readonly code = 'REFUSED';
}

/**
 * The objections to statements for this target: a verb that is not allowed, what its version does not have, a request
 * larger than the server takes.
 * @param allow more verbs, in any case; `all` allows every one
 */
export function objections(target: Instance, allow: string[]): Objection {
  const verbs = new Set([...DUMP_VERBS, ...allow.flatMap(list => list.toUpperCase().split(','))]);
  let version: Promise<string | undefined> | undefined;
  let limit: Promise<number> | undefined;
  return async statement => {
    const { verb } = identify(statement);
    if (!verbs.has(verb) && !verbs.has('ALL'))
      return `${verb || 'this'} is no statement of a schema dump; --allow ${verb || 'all'} sends it`;
    if (dependsOnVersion(statement)) {
      version ??= fetchVersion(target);
      const known = await version;
      const missing = known === undefined ? [] : missingFeatures(statement, known);
      if (missing.length > 0) return `the target is QuestDB ${known}, which does not have ${missing.join(', ')}`;
    }
    if (statement.length <= SURELY_FITS) return undefined;
    const needed = target.bufferNeeded(statement);
    if (needed <= DEFAULT_REQUEST_BUFFER) return undefined;
    limit ??= requestBuffer(target);
    if (needed <= (await limit)) return undefined;
    return `too large a request for the server: it takes a request buffer of ${needed} bytes and has ${await limit}; raise http.request.header.buffer.size there`;
  };
}

/** The server's request buffer in bytes, as its parameters tell; no limit that is known where they don't. */
async function requestBuffer(target: Instance): Promise<number> {
  try {
    const [row] = await target.table(`(SHOW PARAMETERS) WHERE property_path = 'http.request.header.buffer.size'`);
    return Number(row?.[2]) || Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Statements that are named with what speaks against them. */
const NAMED = 20;

/**
 * Passes statements on, as long as there is no objection to any; those that there are objections to are listed at the end.
 * @throws NotAdmitted
 */
export async function* admitted(statements: AsyncIterable<string>, objection: Objection): AsyncGenerator<string> {
  const found: string[] = [];
  let [n, more] = [0, 0];
  for await (const statement of statements) {
    n++;
    const reason = await objection(statement);
    if (!reason) {
      if (found.length === 0) yield statement;
    } else if (found.length < NAMED) found.push(`statement ${n} (${title(identify(statement))}): ${reason}`);
    else more++;
  }
  if (more > 0) found.push(`and ${more} more`);
  if (found.length > 0) throw new NotAdmitted(`${found.join('; ')}; nothing was sent`);
}
