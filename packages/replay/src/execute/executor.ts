/*!
 * Executes one statement on the target. The statement is compared with the existing object before it is sent, or after it was rejected.
 * If the reply is lost, the target is queried to find out whether the statement was executed.
 */
import { isRepairForm, tryParseDefinition } from '@sqlpipe/ddl';
import {
  type Client,
  InstanceError,
  type PollLimits,
  pollUntilSettled,
  type Rejection,
  type Reply,
  tryQuery,
} from '@sqlpipe/instance';
import { COLUMN_ORDER_REASON, parseAssertion } from '@sqlpipe/plan/text';
import type { Entry } from '@sqlpipe/schema';
import { isAclKind, isObjectKind, isPrincipalKind, isRightKind, readStatementHead } from '@sqlpipe/sql';
import type { PlanGuard } from '../checks/plan-guard.js';
import { formatPreflightRejection, type PreflightCheck } from '../checks/preflight.js';
import type { ReplayOptions } from '../options.js';
import { isAssertion, isReordered, type StatementResult } from '../outcome.js';
import { type ExistingObjects, isShowable } from '../target/fetched-objects.js';
import type { IgnoredStatements } from '../target/ignored-statements.js';
import {
  confirmEffect,
  confirmFirstFillOrRefresh,
  pollWasAltered,
  prepareConfirmation,
  waitForSources,
} from './confirm-effect.js';

export interface ExecutionContext extends Pick<ReplayOptions, 'ifExists' | 'noVerify' | 'onRows'> {
  client: Client;
  preflightCheck: PreflightCheck;
  ignored: IgnoredStatements;
  existing: ExistingObjects;
  /** Whether this is a dry run: its target is an engine, which has no background work. */
  isSimulated?: boolean;
  /** The maximum number of times that a statement is sent again because its reply was lost and the object is missing. */
  maxResends: number;
  pollLimits: PollLimits;
  guard?: PlanGuard | undefined;
}

/**
 * @param isPlanned whether the statement belongs to a plan, which skips nothing, because its statements rely on each other
 * @param index of the statement in the input
 */
export type Executor = (entry: Entry, isPlanned: boolean, index: number) => Promise<StatementResult>;

interface StatementContext extends ExecutionContext {
  isPlanned: boolean;
  index: number;
}

/** The executor returns a failure of the instance as a result, and throws any other error. */
export function createExecutor(context: ExecutionContext): Executor {
  return (entry, isPlanned, index) =>
    executeIfAllowed(entry, { ...context, isPlanned, index }).catch(error => {
      if (!(error instanceof InstanceError)) throw error;
      return { result: error.mayHaveRun ? 'unknown' : 'failed', error: error.message, failure: error };
    });
}

async function executeIfAllowed(entry: Entry, context: StatementContext): Promise<StatementResult> {
  const { preflightCheck, existing, guard, ignored, index, isPlanned } = context;
  const { statement } = entry;
  if (!isPlanned && (await ignored.fetchWhetherSkipped(entry, existing))) return { result: 'skipped' };
  const rejection = await preflightCheck(statement);
  if (rejection) return { result: 'rejected', error: formatPreflightRejection(rejection) };
  if (!guard) return executeAndResend(entry, context);
  const conflicts = await guard.fetchConflicts(statement, index);
  if (conflicts.length > 0) return { result: 'rejected', error: conflicts.join('; ') };
  for (const assertion of guard.findAssertions(statement)) {
    const repeated = await evaluateAssertion(assertion, context.client, context.pollLimits);
    if (repeated.result !== 'applied') return repeated;
  }
  const result = await executeAndResend(entry, context);
  // The guard has to know the objects as this statement left them. The server may have executed it even if the reply was an error.
  const replaced = await guard.recordExecuted(statement);
  if (replaced.length === 0 || result.result !== 'applied') return result;
  return { result: 'rejected', error: `accepted, but ${replaced.join('; ')}` };
}

/**
 * Executes a statement. If the reply is lost and the target lacks the object, executes the statement again.
 * @throws the error of the lost reply if the target does not show whether the statement was executed
 */
async function executeAndResend(entry: Entry, context: StatementContext): Promise<StatementResult> {
  for (let resent = 0; ; resent++)
    try {
      const result = await execute(entry, context);
      if (result.result !== 'skipped') return result;
      // The object exists now, as stated: the server has executed the statement after all.
      if (resent > 0 && result.comparison) return { result: 'applied' };
      if (!context.isPlanned) return result;
      // Whoever has created the object since the plan was made may be filling it, or applying the same plan.
      const error = 'already exists, and the plan was made for a target without it';
      return { result: 'rejected', error, exists: true };
    } catch (error) {
      // A server shows a table while a query fills it, and removes the table if the query fails (observed on 9.3.4).
      const runsQuery = readStatementHead(entry.statement).runsQuery && !isRepairForm(entry.statement);
      const mayBeShown = (isShowable(entry) && !runsQuery) || isAclKind(entry.kind);
      if (!isLostReply(error) || !mayBeShown) throw error;
      context.existing.acl.invalidate();
      const found = await compareExisting(entry, context).catch(failure => {
        throw failure instanceof InstanceError ? error : failure;
      });
      if (found?.result === 'skipped' && context.ifExists !== 'fail') return { result: 'applied' };
      // The object may be older than the statement. A missing right may be hidden: not every server shows its access control.
      if (found || isAclKind(entry.kind)) throw error;
      if (resent === context.maxResends) return { result: 'failed', error: error.message, failure: error };
    }
}

const isLostReply = (error: unknown): error is InstanceError => error instanceof InstanceError && error.mayHaveRun;

async function execute(entry: Entry, context: StatementContext): Promise<StatementResult> {
  const { client, existing, ifExists, isPlanned, pollLimits } = context;
  const { kind, statement } = entry;
  if (isAssertion(entry)) return evaluateAssertion(statement, client, pollLimits);
  const { replaces, keepsExisting } = readStatementHead(statement);
  const isRight = isRightKind(kind);
  // Compares first if the server would accept the statement although the object exists, or if the object is known already.
  const allowsExisting = isRight || replaces || keepsExisting;
  const isKnown = !allowsExisting && ifExists === 'compare' && (await existing.findPrefetched(entry)) !== undefined;
  const found = allowsExisting || isKnown ? await compareExisting(entry, context) : undefined;
  if (!found) return send(entry, context);
  // A plan sends an equal GRANT again, which changes nothing. A GRANT that differs is never sent: without WITH GRANT OPTION, it
  // would remove that option. A plain CREATE is sent although the server will reject it, because it may give a further reason.
  const sendsDifferent = replaces ? ifExists === 'compare' && !isPlanned : !keepsExisting;
  const isSame = found.result === 'skipped';
  const isSent = isRight ? isSame && isPlanned : !isSame && sendsDifferent;
  return isSent ? send(entry, context, found) : resolveExisting(found, ifExists);
}

async function send(entry: Entry, context: StatementContext, found?: StatementResult): Promise<StatementResult> {
  const { client, existing, guard, isPlanned, isSimulated, onRows, pollLimits } = context;
  const { kind, statement } = entry;
  // A REFRESH (its kind is `other`) may read a view that the server is still filling. So may a CREATE. If a view is filled once, at its
  // CREATE, later rows of its sources reach it only by a REFRESH.
  const waitsForRows = isPlanned || guard !== undefined || kind === 'other' || startsToFill(entry, 'MANUAL');
  const mayReadUnfilled = !isSimulated && waitsForRows;
  const notSent = mayReadUnfilled ? await waitForSources(entry, client, pollLimits) : undefined;
  if (notSent) return notSent;
  const pending = kind === 'other' && !isSimulated ? await prepareConfirmation(statement, context) : undefined;
  existing.invalidate(entry);
  const reply = await client.execute(statement).catch(async (error): Promise<Reply> => {
    // If the reply to an ALTER is lost, the object may show that the ALTER was executed. If it cannot be asked, that is still unknown.
    const fetchEffect = async () => pending && isLostReply(error) && pollWasAltered(pending, context);
    if (await tryQuery(fetchEffect(), () => true)) return { ok: true };
    throw error;
  });
  existing.invalidate(entry);
  if (!reply.ok) return resolveRejection(entry, reply, found, context);
  if (reply.rows) await onRows(reply.rows);
  await existing.acl.recordAccepted(entry);
  if (pending) return confirmEffect(pending, context);
  if (isPlanned && !isSimulated && startsToFill(entry)) return confirmFirstFillOrRefresh(entry.name, context);
  return found?.result === 'differs' ? { result: 'applied', replaced: found } : { result: 'applied' };
}

/** Whether a server begins to fill a view when it has created it. */
function startsToFill({ kind, statement }: Entry, refresh?: 'MANUAL'): boolean {
  const view = kind === 'materialized view' ? tryParseDefinition(statement) : undefined;
  if (view?.kind !== 'materialized view' || view.refresh.deferred) return false;
  return refresh === undefined || view.refresh.type === refresh;
}

/** Background work of the server may make a false answer true. So the SELECT is repeated until the answer is final, or the time is up. */
async function evaluateAssertion(statement: string, client: Client, pollLimits: PollLimits): Promise<StatementResult> {
  const assertion = parseAssertion(statement);
  const fetchWhetherTrue = async () => {
    const rows = await client.queryRows(statement);
    return rows.length > 0 && rows.flat().every(cell => cell === true);
  };
  const isFinal = (isTrue: boolean) => isTrue || assertion?.isFinal === true;
  try {
    const isTrue = await pollUntilSettled(client, assertion?.comparedView, fetchWhetherTrue, isFinal, pollLimits);
    if (isTrue) return { result: 'applied' };
    const answers: unknown[][] = [];
    for (const question of assertion?.questions ?? [])
      answers.push((await client.queryRows(question)).map(([value]) => value));
    const why = assertion ? `: ${assertion.formatReason(answers)}` : '';
    return { result: 'rejected', error: `the assertion is not true${why}` };
  } catch (error) {
    if (!(error instanceof InstanceError)) throw error;
    if (error.serverMessage === undefined) {
      const failure = assertion?.help ? error.withMessage(`${error.message}: ${assertion.help}`) : error;
      return { result: 'failed', error: failure.message, failure }; // never `unknown`: a SELECT changes nothing
    }
    return { result: 'rejected', error: error.serverMessage, isDenied: error.code === 'DENIED' };
  }
}

const SKIP_HELP = 'use --if-exists skip';

/**
 * Compares a statement with the existing object or rights: `skipped` if the target has what the statement says, otherwise `differs`.
 * Undefined if the target has none, or does not show them.
 */
async function compareExisting(entry: Entry, context: StatementContext): Promise<StatementResult | undefined> {
  const { existing, ignored } = context;
  if (isRightKind(entry.kind)) {
    const comparison = await existing.acl.compareRights(entry.statement);
    if (!comparison) return undefined;
    if (comparison.differences.length === 0) return comparison.exists ? { result: 'skipped', comparison } : undefined;
    const error =
      'already granted WITH GRANT OPTION, which this statement would remove; it was not sent; add the option, or revoke it first';
    return { result: 'differs', error, comparison };
  }
  const found = await existing.fetchStatement(entry);
  if (found === undefined) return undefined;
  const comparison = ignored.rules.withoutIgnored(entry, await existing.compareStatements(entry.statement, found));
  if (comparison.differences.length === 0) return { result: 'skipped', comparison };
  const different = { result: 'differs', error: 'already exists with a different definition', comparison } as const;
  if (isReordered(different)) return { ...different, error: COLUMN_ORDER_REASON };
  if (!comparison.isTokenComparison) return different;
  // A newer version may print the same definition in different words.
  const error = `already exists with a different text, and the definitions cannot be compared; if they mean the same, ${SKIP_HELP}`;
  return { ...different, error };
}

function resolveExisting(found: StatementResult, ifExists: ReplayOptions['ifExists']): StatementResult {
  if (ifExists === 'compare') return found;
  return ifExists === 'skip' ? { result: 'skipped' } : { result: 'rejected', error: 'already exists' };
}

async function resolveRejection(
  entry: Entry,
  rejection: Rejection,
  comparedBefore: StatementResult | undefined,
  context: StatementContext,
): Promise<StatementResult> {
  const { ifExists, existing } = context;
  const { message: error, position, isDenied } = rejection;
  const rejected: StatementResult = { result: 'rejected', error, isDenied, position };
  // Of a CREATE, the message is about the object. Of an ALTER, it may be about a column. The server says it of a taken name, and of a name
  // that is too long for a folder (observed on 9.3.4). For principals it is unknown.
  const exists = entry.kind !== 'other' && rejection.matches(/already exists/);
  const concernsPrincipal = isPrincipalKind(entry.kind);
  if (ifExists === 'fail') return { ...rejected, exists };
  if (!exists && isDenied) return rejected;
  const why = `${error}, and it cannot be compared`;
  const incomparable: StatementResult = { ...rejected, error: `${why}; ${SKIP_HELP}`, exists };
  try {
    if (exists && ifExists === 'skip')
      return !isObjectKind(entry.kind) || (await existing.fetchWhetherTaken(entry)) ? { result: 'skipped' } : rejected;
    const found = comparedBefore ?? (await compareExisting(entry, context));
    if (found && (exists || found.result === 'skipped')) return resolveExisting(found, ifExists);
    return exists && concernsPrincipal ? incomparable : rejected;
  } catch (failure) {
    if (!(failure instanceof InstanceError)) throw failure;
    if (!exists && !concernsPrincipal) return rejected;
    if (failure.serverMessage === undefined) return { ...rejected, error: `${why}: ${failure.message}`, failure };
    if (ifExists === 'skip') return { result: 'skipped' };
    return { ...incomparable, error: `${why}: ${failure.serverMessage}; ${SKIP_HELP}` };
  }
}
