/*!
 * Executes one statement on the target. The statement is compared with the existing object before it is sent, or after it was rejected.
 * If the reply is lost, the target is queried to find out whether the statement was executed.
 */
import { tryParseDefinition } from '@sqlpipe/ddl';
import { type Client, InstanceError, type PollLimits, type Reply } from '@sqlpipe/instance';
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
import { type ExistingObjects, isShowable } from './fetched-objects.js';
import type { IgnoredStatements } from './ignored.js';
import type { ReplayOptions } from './options.js';
import { isAssertion, type StatementResult } from './outcome.js';
import type { PlanGuard } from './plan-guard.js';
import { formatPreflightRejection, type PreflightCheck } from './preflight.js';

export interface ExecutionContext extends Pick<ReplayOptions, 'ifExists' | 'noVerify' | 'onRows'> {
  client: Client;
  preflightCheck: PreflightCheck;
  ignored: IgnoredStatements;
  existing: ExistingObjects;
  /** Whether the target is an engine, which has no background work. */
  isSimulated?: boolean;
  /** If a reply was lost and the object is missing, the statement is sent again, up to this many times. 0 and undefined count as 1. */
  retries: number | undefined;
  pollLimits: PollLimits;
  guard?: PlanGuard | undefined;
}

/** @param isPlanned whether the statement belongs to a plan, which skips nothing, because its statements rely on each other */
export type Executor = (entry: Entry, isPlanned: boolean) => Promise<StatementResult>;

interface StatementContext extends ExecutionContext {
  isPlanned: boolean;
}

/** A plan was made for a target without the object. Who has created it may be filling it, or apply the same plan. */
const CREATED_SINCE: StatementResult = {
  result: 'rejected',
  error: 'already exists, and the plan was made for a target without it',
  exists: true,
};

/** The executor returns a failure of the instance as a result, and throws any other error. */
export function createExecutor(context: ExecutionContext): Executor {
  return async (entry, isPlanned) => {
    try {
      return await executeIfAllowed(entry, { ...context, isPlanned });
    } catch (error) {
      if (!(error instanceof InstanceError)) throw error;
      return { result: error.outcomeUnknown ? 'unknown' : 'failed', error: error.message, failure: error };
    }
  };
}

async function executeIfAllowed(entry: Entry, context: StatementContext): Promise<StatementResult> {
  const { preflightCheck, existing, guard, ignored, isPlanned, retries } = context;
  const { statement } = entry;
  if (!isPlanned && (await ignored.skips(entry, existing))) return { result: 'skipped' };
  const rejection = await preflightCheck(statement);
  if (rejection) return { result: 'rejected', error: formatPreflightRejection(rejection) };
  const conflicts = (await guard?.findConflicts(statement)) ?? [];
  if (conflicts.length > 0) return { result: 'rejected', error: conflicts.join('; ') };
  const result = await executeWithRetries(entry, 1 + Math.max(retries ?? 0, 1), context);
  // The guard has to know the objects as this statement left them. The server may have executed it even if the reply was an error.
  await guard?.record(statement);
  return result;
}

/**
 * Executes a statement. If the reply is lost and the target lacks the object, executes the statement again, `tries` times in all.
 * @throws the error of the lost reply if the target does not show whether the statement was executed
 */
async function executeWithRetries(entry: Entry, tries: number, context: StatementContext): Promise<StatementResult> {
  for (let attempt = 1; ; attempt++)
    try {
      const result = await execute(entry, context);
      if (result.result !== 'skipped') return result;
      // The server may have executed an earlier attempt after the target was queried.
      if (attempt > 1 && result.comparison) return { result: 'applied' };
      return context.isPlanned ? CREATED_SINCE : result;
    } catch (error) {
      const canLook = isShowable(entry) || isAcl(entry.kind);
      if (!(error instanceof InstanceError) || !error.outcomeUnknown || !canLook) throw error;
      context.existing.acl.invalidate();
      const compared = await compare(entry, context).catch(() => {
        throw error;
      });
      // The object is as the statement defines it, so the statement was executed.
      if (compared?.result === 'skipped') return { result: 'applied' };
      // An object that differs may be older than the statement. A missing right may be hidden: not every server shows its access control.
      if (compared || isAcl(entry.kind)) throw error;
      if (attempt >= tries) return { result: 'failed', error: error.message, failure: error };
    }
}

async function execute(entry: Entry, context: StatementContext): Promise<StatementResult> {
  const { client, existing, ifExists, isPlanned, pollLimits } = context;
  const { replaces, keepsExisting } = readStatementHead(entry.statement);
  const isRight = givesRight(entry.kind);
  const isPrefetched = ifExists === 'compare' && (await existing.isPrefetched(entry));
  // A statement with OR REPLACE or IF NOT EXISTS, or one that gives a right, succeeds whatever existed before. So it is compared with the
  // target before it is sent. If the object is prefetched, any statement is compared first, because this needs no further request.
  const before = isRight || replaces || keepsExisting || isPrefetched ? await compare(entry, context) : undefined;
  // To give an existing right again changes nothing.
  if (isPlanned && isRight && before?.result === 'skipped') return send(entry, undefined, context);
  // A plain CREATE is sent even if the object differs, because the server may have another reason to reject it, which is reported too.
  const mayReplace = replaces && ifExists === 'compare' && !isPlanned;
  const isDecided = isRight || before?.result === 'skipped' || (replaces ? !mayReplace : keepsExisting);
  if (before && isDecided) return resolveExisting(before, ifExists);
  return isAssertion(entry) ? evaluateAssertion(entry.statement, client, pollLimits) : send(entry, before, context);
}

/** @param before the comparison with an existing object; undefined if there was none */
async function send(entry: Entry, before: Compared | undefined, context: StatementContext): Promise<StatementResult> {
  const { client, existing, guard, isPlanned, isSimulated, onRows, pollLimits } = context;
  const { kind, statement } = entry;
  // A REFRESH (its kind is `other`) may read a view that the server is still filling. So may a CREATE.
  const waitsForRows = isPlanned || guard !== undefined || kind === 'other' || isFilledOnce(entry);
  const mayReadUnfilled = !isSimulated && waitsForRows;
  const notSent = mayReadUnfilled ? await waitForSources(entry, client, pollLimits) : undefined;
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

/** Whether only its CREATE fills a view: it never gets rows that its sources get later, unless somebody refreshes it. */
function isFilledOnce({ kind, statement }: Entry): boolean {
  const view = kind === 'materialized view' ? tryParseDefinition(statement) : undefined;
  return view?.kind === 'materialized view' && view.refresh.type === 'MANUAL' && !view.refresh.deferred;
}

/** After a lost reply to an ALTER, returns success if the object shows that the ALTER was executed. @throws `error` otherwise */
async function resolveUnknownAlter(
  error: unknown,
  pending: PendingEffect | undefined,
  context: ExecutionContext,
): Promise<Reply> {
  if (!pending || !(error instanceof InstanceError) || !error.outcomeUnknown) throw error;
  if (await wasAltered(pending, context).catch(() => false)) return { ok: true };
  throw error;
}
