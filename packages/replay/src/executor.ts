/*!
 * Executes one statement on the target. The statement is compared with the existing object before it is sent, or after it was rejected.
 * If the reply is lost, the target is queried to find out whether the statement was executed.
 */
import { type Client, InstanceError, type Patience, type Reply } from '@sqlpipe/instance';
import type { Entry } from '@sqlpipe/schema';
import { givesRight, isAcl, readStatementHead } from '@sqlpipe/sql';
import { type Compared, compare, resolveExisting, resolveRejection } from './compare-existing.js';
import {
  confirmEffect,
  type PendingEffect,
  prepareConfirmation,
  waitForSources,
  wasAltered,
} from './confirm-effect.js';
import { evaluateAssertion } from './evaluate-assertion.js';
import { type ExistingObjects, isShowable } from './existing-objects.js';
import type { IgnoredStatements } from './ignored.js';
import type { ReplayOptions } from './options.js';
import { isAssertion, type StatementResult } from './outcome.js';
import type { PlanGuard } from './plan-guard.js';
import { formatPreflightRejection, type PreflightCheck } from './preflight.js';

export interface ExecutionContext extends Pick<ReplayOptions, 'ifExists' | 'noVerify' | 'onRows'> {
  client: Client;
  check: PreflightCheck;
  ignored: IgnoredStatements;
  existing: ExistingObjects;
  /** Whether the target is an engine, which has no background work. */
  isSimulated?: boolean;
  /** If a reply was lost and the object is missing, the statement is sent again, up to this many times. 0 and undefined count as 1. */
  retries: number | undefined;
  patience: Patience;
  guard?: PlanGuard | undefined;
}

export type Executor = (entry: Entry) => Promise<StatementResult>;

/** The executor returns a failure of the instance as a result, and throws any other error. */
export function createExecutor(context: ExecutionContext): Executor {
  return async entry => {
    try {
      return await executeIfAllowed(entry, context);
    } catch (error) {
      if (!(error instanceof InstanceError)) throw error;
      return { result: error.outcomeUnknown ? 'unknown' : 'failed', error: error.message, failure: error };
    }
  };
}

async function executeIfAllowed(entry: Entry, context: ExecutionContext): Promise<StatementResult> {
  const { check, existing, guard, ignored, retries } = context;
  const { statement } = entry;
  if (await ignored.skips(entry, existing)) return { result: 'skipped' };
  const rejection = await check(statement);
  if (rejection) return { result: 'rejected', error: formatPreflightRejection(rejection) };
  const conflicts = (await guard?.findConflicts(statement)) ?? [];
  if (conflicts.length > 0) return { result: 'rejected', error: conflicts.join('; ') };
  const result = await executeWithRetries(entry, 1 + Math.max(retries ?? 0, 1), context);
  // Later statements are compared with what this statement left. A server may have executed a statement even if the reply was an error.
  await guard?.record(statement);
  return result;
}

/**
 * If the reply is lost, finds out whether the statement was executed. If its object is missing, sends it again, `tries` times in all.
 * @throws the error of the lost reply if the outcome stays unknown
 */
async function executeWithRetries(entry: Entry, tries: number, context: ExecutionContext): Promise<StatementResult> {
  try {
    return await execute(entry, context);
  } catch (lost) {
    const canLook = isShowable(entry) || isAcl(entry.kind);
    if (!(lost instanceof InstanceError) || !lost.outcomeUnknown || !canLook) throw lost;
    context.existing.acl.invalidate();
    const compared = await compare(entry, context).catch(() => {
      throw lost;
    });
    // The object is as the statement defines it, so the statement was executed.
    if (compared?.result === 'skipped') return { result: 'applied' };
    // An object that differs may be older than the statement, and not every server shows its access control. So neither proves anything.
    if (compared || isAcl(entry.kind)) throw lost;
    if (tries > 1) return executeWithRetries(entry, tries - 1, context);
    return { result: 'failed', error: lost.message, failure: lost };
  }
}

async function execute(entry: Entry, context: ExecutionContext): Promise<StatementResult> {
  const { client, existing, ifExists, patience } = context;
  const { replaces, keepsExisting } = readStatementHead(entry.statement);
  const isRight = givesRight(entry.kind);
  const isPrefetched = ifExists === 'compare' && (await existing.isPrefetched(entry));
  // The reply to a statement that gives a right, or has OR REPLACE or IF NOT EXISTS, does not show what existed. So such a statement is
  // compared before it is sent. If the object is prefetched, every statement is, because that takes no further request.
  const before = isRight || replaces || keepsExisting || isPrefetched ? await compare(entry, context) : undefined;
  // A plain CREATE is sent even if the object differs, so that another reason for its rejection is reported too.
  const isDecided = isRight || before?.result === 'skipped' || (replaces ? ifExists !== 'compare' : keepsExisting);
  if (before && isDecided) return resolveExisting(before, ifExists);
  return isAssertion(entry) ? evaluateAssertion(entry.statement, client, patience) : send(entry, before, context);
}

/** @param before the comparison with an existing object; undefined if there was none */
async function send(entry: Entry, before: Compared | undefined, context: ExecutionContext): Promise<StatementResult> {
  const { client, existing, guard, isSimulated, onRows, patience } = context;
  const { kind, statement } = entry;
  // Kind `other` may be a REFRESH, which may read a view that the server is still filling. So may CREATE in a plan (only it has a guard).
  const mayReadUnfilled = !isSimulated && (guard !== undefined || kind === 'other');
  const notSent = mayReadUnfilled ? await waitForSources(entry, client, patience) : undefined;
  if (notSent) return notSent;
  const pending = kind === 'other' && !isSimulated ? await prepareConfirmation(statement, context) : undefined;
  existing.invalidate(entry);
  const reply = await client.execute(statement).catch(error => resolveUnknownAlter(error, pending, context));
  existing.invalidate(entry);
  if (!reply.ok) return resolveRejection(entry, reply, before, context);
  if (reply.rows) await onRows(reply.rows);
  await existing.acl.recordSent(entry);
  if (pending) return confirmEffect(pending, context);
  return before?.result === 'differs' ? { result: 'applied', replaced: before } : { result: 'applied' };
}

/** Replaces a lost reply to an ALTER if the object shows that it was executed. @throws the error of the lost reply otherwise */
async function resolveUnknownAlter(
  lost: unknown,
  pending: PendingEffect | undefined,
  context: ExecutionContext,
): Promise<Reply> {
  if (!pending || !(lost instanceof InstanceError) || !lost.outcomeUnknown) throw lost;
  if (await wasAltered(pending, context).catch(() => false)) return { ok: true };
  throw lost;
}
