import type { PropertyDifference } from '@sqlpipe/ddl';
import {
  type Outcome as InternalOutcome,
  openTarget,
  prepareReplay,
  type Result,
  rejectBadOptions,
} from '@sqlpipe/replay';
import { IgnoreRules } from '@sqlpipe/schema';
import type { Kind } from '@sqlpipe/sql';
import { type Instance, type OnWarning, resolve } from './instance.js';
import { openSchema, type SchemaSource } from './schema.js';

/** How to apply a schema. */
export interface ReplayOptions {
  /** What to do if an object exists. `compare`, the default, skips it if it is the same. */
  readonly ifExists?: 'compare' | 'fail' | 'skip';
  /** Continue after a rejected statement, but not after an assertion and not in a plan. */
  readonly keepGoing?: boolean;
  /** Change nothing; the results say what would happen. */
  readonly dryRun?: boolean;
  /** Send more than a schema contains: `ALTER`, `DROP`, `CTAS`, `REPLACE`, `all`; for a plan, its `verbs`. */
  readonly allow?: readonly string[];
  /** Send also the statements of a plan that no schema contains. Not together with `staleOk`. */
  readonly allowPlan?: boolean;
  /** The maximum number of independent statements in flight, up to 64. 1 by default. */
  readonly jobs?: number;
  /** The name of the instance, if it is `protected` in instances.toml. */
  readonly yesTo?: string;
  /** As in `diff`: an object that differs in nothing else is skipped. Not for a plan, which is made with `ignore`. */
  readonly ignore?: readonly string[];
  /** Apply a plan even if the instance has changed since. */
  readonly staleOk?: boolean;
  /** Ends the run. Statements in flight are finished; the rest is `not reached`. */
  readonly signal?: AbortSignal;
  /** Receives the rows that a statement returns, such as the token of CREATE TOKEN. No query shows that token again. */
  readonly onRows?: (rows: unknown[][]) => void;
  readonly onWarning?: OnWarning;
}

/** A statement and its result. */
export interface Outcome {
  /** From 1. */
  readonly n: number;
  readonly statement: string;
  readonly kind: Kind;
  readonly name: string;
  /** Where it is in a file. */
  readonly location?: { readonly path: string; readonly line?: number };
  /**
   * - `applied`, `rejected`, `not reached`;
   * - `skipped`: the object exists already;
   * - `differs`: the object exists, or was created, with a different definition;
   * - `failed`, `unknown`: the instance did not reply;
   * - in a dry run also `would create`, `would replace`, `would send`.
   */
  readonly result: Result;
  /** Why it was not applied. */
  readonly error?: string;
  /** Where the error is, as an index into the statement. */
  readonly position?: number;
  /** How an existing object differs: `a` in the statement, `b` in the instance. */
  readonly properties: readonly PropertyDifference[];
  /** Whether every property of the applied object was read back and is as the statement says. */
  readonly proven?: boolean;
  /** Milliseconds. */
  readonly ms: number;
}

/**
 * Applies a schema or a plan to an instance. All statements are read before the first one is sent. A statement is compared
 * with the existing object first, and the created object is read back. The loop gets one outcome per statement. A rejected
 * statement is an outcome, not an exception, and ends the run unless `keepGoing` is set. If a table differs only in the order
 * of its columns, the run continues.
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
 * Before anything is sent, it throws what reading the schema throws, and:
 *
 * - `REJECTED` for what `allow` does not allow, and for a plan for another state of the instance;
 * - `DAMAGED` for a plan that lacks statements;
 * - `USAGE` for wrong options, and for a protected instance without `yesTo`.
 *
 * If the instance fails, it throws `UNREACHABLE`, `DENIED` or `PROTOCOL` after all outcomes.
 */
export async function* replay(
  schema: SchemaSource,
  instance: Instance,
  options: ReplayOptions = {},
): AsyncGenerator<Outcome, void, undefined> {
  const { dryRun = false, jobs = 1, yesTo, onWarning = () => {}, onRows = () => {} } = options;
  const settings = {
    // What only the programs offer: `plan` takes the place of --alter, and a schema is read before anything is sent.
    ...{ stream: false, noVerify: false, alter: false, allowLoss: [], renamed: [] },
    ifExists: options.ifExists ?? 'compare',
    keepGoing: options.keepGoing ?? false,
    dryRun,
    allow: options.allow ?? [],
    allowPlan: options.allowPlan ?? false,
    staleOk: options.staleOk ?? false,
    ignore: new IgnoreRules(options.ignore),
    signal: options.signal ?? new AbortController().signal,
    warn: onWarning,
    onRows,
  };
  rejectBadOptions({ ...settings, jobs });
  const { statements, locations } = await openSchema(schema, onWarning);
  const config = await resolve(instance, onWarning);
  const target = await openTarget(config, { jobs, dryRun, yesTo });
  let failure: Error | undefined;
  try {
    const { outcomes } = await prepareReplay({ statements: flatten(statements), locations }, target, settings);
    for await (const outcome of outcomes) {
      failure ??= outcome.failure;
      yield toPublic(outcome);
    }
  } finally {
    await target.close();
  }
  if (failure) throw failure;
}

async function* flatten(batches: AsyncIterable<string | string[]>): AsyncGenerator<string> {
  for await (const batch of batches) yield* [batch].flat();
}

function toPublic({ identity: { kind, name }, comparison, ...outcome }: InternalOutcome): Outcome {
  const { n, statement, location, result, error, position, isFullyVerified, ms } = outcome;
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
    ...(isFullyVerified !== undefined && { proven: isFullyVerified }),
    ms,
  };
}
