import type { PropertyDifference } from '@sqlpipe/ddl';
import { type Outcome as InternalOutcome, openTarget, type Result, replay as replayStatements } from '@sqlpipe/replay';
import { IgnoreRules } from '@sqlpipe/schema';
import type { Kind } from '@sqlpipe/sql';
import { OptionsError } from './errors.js';
import { type Instance, type OnWarning, resolve } from './instance.js';
import { openSchema, type Schema } from './schema.js';

/** How to apply a schema. */
export interface ReplayOptions {
  /** What to do about an object that exists: compare it, and skip it if it is the same (default); reject it; skip it. */
  readonly ifExists?: 'compare' | 'fail' | 'skip';
  /** Go on after a rejected statement, but not after an assertion and not in a plan. */
  readonly keepGoing?: boolean;
  /** Change nothing; the results say what would happen. */
  readonly dryRun?: boolean;
  /** Send more than a schema contains: `ALTER`, `DROP`, `CTAS`, `REPLACE`, `all`; for a plan, its `permissions`. */
  readonly allow?: readonly string[];
  /** Send what a plan needs besides, as its first statement says; not with `staleOk`. */
  readonly allowPlan?: boolean;
  /** The number of statements that may be in flight at once, if they do not depend on each other. 1 by default. */
  readonly jobs?: number;
  /** The name of the instance, if it is `protected` in instances.toml. */
  readonly yesTo?: string;
  /** Skip these, and objects that differ in nothing else: names (`tmp_*`), kinds (`grant`), properties (`column order`). */
  readonly ignore?: readonly string[];
  /** Apply a plan even if the instance has changed since. */
  readonly staleOk?: boolean;
  /** Ends the run: what is in flight is finished, the rest is `not reached`. */
  readonly signal?: AbortSignal;
  /** Receives the rows that a statement returns: the token of CREATE TOKEN, a secret that no query shows again. */
  readonly onRows?: (rows: unknown[][]) => void;
  readonly onWarning?: OnWarning;
}

/** A statement and its result. */
export interface Outcome {
  /** Its number, from 1. */
  readonly n: number;
  readonly statement: string;
  readonly kind: Kind;
  readonly name: string;
  /** The file and the line that it is from, if it is from one. */
  readonly location?: { readonly path: string; readonly line?: number };
  /**
   * `applied`; `skipped`, as the object is there already; `differs`, as another one is there; `rejected`; `failed` or
   * `unknown`, if the instance did not reply; `not reached`. In a dry run `would create`, `would replace` and `would send`.
   */
  readonly result: Result;
  /** Why it is not in force. */
  readonly error?: string;
  /** Where, as an index into the statement. */
  readonly position?: number;
  /** How an existing object differs: `a` in the statement, `b` in the instance. */
  readonly properties: readonly PropertyDifference[];
  /** If it was applied: whether the object, read back, is what the statement says. */
  readonly proven?: boolean;
  /** Milliseconds. */
  readonly ms: number;
}

/**
 * Applies a schema, or a plan, to an instance: one statement after the other, each compared with an existing object before and
 * read back after. All statements are read before the first one is sent. Yields an outcome for each, up to a hundred at a time; a
 * rejected statement is an outcome, not an exception, and ends the run unless `keepGoing` is set. It always ends a plan, of
 * which one statement is sent at a time. A table that differs only in the order of its columns ends neither.
 *
 * ```ts
 * import { replay, serve } from 'sqlpipe';
 *
 * const server = await serve({ schema: ['CREATE TABLE quotes (ask DOUBLE)'] });
 * for await (const { name, result, error } of replay('schema.sql', server.url)) console.log(name, result, error);
 * await server.close();
 * // trades applied undefined
 * // quotes differs already exists with a different definition
 * // spreads not reached undefined
 * ```
 *
 * Throws, before anything is sent, what reading the schema throws, as `dump` and `split` do; `REJECTED` for statements that
 * `allow` does not allow, and for a plan that was made for another state of the instance; `USAGE`. Throws `UNREACHABLE`,
 * `DENIED` or `PROTOCOL` if the instance fails, after the outcomes of all statements. Messages name options as the programs do:
 * `--if-exists` is `ifExists`.
 */
export async function* replay(
  schema: Schema,
  instance: Instance,
  options: ReplayOptions = {},
): AsyncGenerator<Outcome, void, undefined> {
  const { dryRun = false, jobs = 1, yesTo, onWarning = () => {}, onRows = () => {} } = options;
  const ignore = new IgnoreRules(options.ignore);
  const { statements, locations } = await openSchema(schema, onWarning);
  const config = await resolve(instance, onWarning);
  if (!(Number.isInteger(jobs) && jobs >= 1))
    throw new OptionsError('replay: jobs must be a whole number of at least 1');
  const createProtectedError = (name: string) =>
    new OptionsError(`${name} is protected; to change it, set yesTo to its name`);
  if (options.allowPlan && options.staleOk) throw new OptionsError('replay: allowPlan and staleOk cannot be combined');
  const target = await openTarget(config, { jobs, dryRun, yesTo, createProtectedError });
  let failure: Error | undefined;
  try {
    const { outcomes } = await replayStatements({ statements: flatten(statements), locations }, target, {
      ...NOT_OFFERED,
      ifExists: options.ifExists ?? 'compare',
      keepGoing: options.keepGoing ?? false,
      dryRun,
      allow: options.allow ?? [],
      allowPlan: options.allowPlan ?? false,
      staleOk: options.staleOk ?? false,
      ignore,
      signal: options.signal ?? new AbortController().signal,
      onWarning,
      onRows,
    });
    for await (const outcome of outcomes) {
      failure ??= outcome.failure;
      yield toPublic(outcome);
    }
  } finally {
    await target.close();
  }
  if (failure) throw failure;
}

/** What only the programs offer: `plan` takes the place of --alter, and a schema is read before anything is sent. */
const NOT_OFFERED = { stream: false, noVerify: false, alter: false, allowLoss: [], renamed: [] };

async function* flatten(batches: AsyncIterable<string | string[]>): AsyncGenerator<string> {
  for await (const batch of batches) yield* [batch].flat();
}

function toPublic({ identity: { kind, name }, comparison, ...outcome }: InternalOutcome): Outcome {
  const { n, statement, location, result, error, position, proven, ms } = outcome;
  return {
    n,
    statement,
    kind,
    name,
    ...(location && { location }),
    result,
    ...(error !== undefined && { error }),
    ...(position !== undefined && { position }),
    properties: comparison?.differences ?? [],
    ...(proven !== undefined && { proven }),
    ms,
  };
}
