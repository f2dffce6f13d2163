/*!
 * Executes one statement on a target. It is compared with an existing object before it is sent, or after the server has rejected it. If
 * the reply is lost, queries of the target show whether the statement was executed.
 */
import { askUntilSettled, type Instance, InstanceError, type Rejection, type Reply } from '@sqlpipe/instance';
import { COLUMN_ORDER_REASON, parseAssertion } from '@sqlpipe/plan/text';
import type { Entry } from '@sqlpipe/schema';
import { givesRight, isAcl, isPrincipal, readStatementHead } from '@sqlpipe/sql';
import { explainFailedAssertion } from './assertions.js';
import {
  confirmEffect,
  type Patience,
  type PendingEffect,
  prepareConfirmation,
  waitForSources,
  wasAltered,
} from './confirm-effect.js';
import { isShowable, type KnownObjects } from './existing.js';
import type { IgnoredStatements } from './ignored.js';
import type { ReplayOptions } from './options.js';
import { isAssertion, isReordered, type Outcome } from './outcome.js';
import type { PlanGuard } from './plan-guard.js';
import { formatPreflightRejection, type PreflightCheck } from './preflight.js';

export interface ExecutorOptions extends Pick<ReplayOptions, 'ifExists' | 'noVerify' | 'onRows'> {
  check: PreflightCheck;
  ignored: IgnoredStatements;
  existing: KnownObjects;
  /** Whether the target is an engine, which has no background work to wait for. */
  isSimulated?: boolean;
  /** Maximum number of times that a statement is sent again if its reply was lost and its object is missing; 0 and undefined count as 1. */
  retries: number | undefined;
  patience: Patience;
  /** For a plan: detects what others change while the plan is applied. */
  guard?: PlanGuard | undefined;
}

export type StatementResult = Omit<Outcome, 'n' | 'statement' | 'identity' | 'ms'>;

/** Matches the server's message for a taken name, also if the definition is the same (observed on 9.3.4); not known for principals. */
const ALREADY_EXISTS = /already exists/;

const SKIP_HELP = 'use --if-exists skip';
const EXISTS_MESSAGE = 'already exists';
const DIFFERENT_MESSAGE = 'already exists with a different definition';
const GRANT_OPTION_MESSAGE =
  'already granted WITH GRANT OPTION, which this statement would remove; it was not sent; add the option, or revoke it first';
/** A newer version may print the same definition in different words. */
const TEXT_DIFFERS_MESSAGE = `already exists with a different text, and the definitions cannot be compared; if they mean the same, ${SKIP_HELP}`;

export type Executor = (entry: Entry) => Promise<StatementResult>;

/** The executor returns a failure of the instance as a result, and throws any other error. */
export function createExecutor(target: Instance, options: ExecutorOptions): Executor {
  const { check, ignored, existing, ifExists, patience, guard } = options;
  const context = { ...options, target };
  return async entry => {
    const { statement } = entry;
    try {
      if (await ignored.skips(entry, existing)) return { result: 'skipped' };
      const rejection = await check(statement);
      if (rejection) return { result: 'rejected', error: formatPreflightRejection(rejection) };
      const existingRights = await compareRights(entry);
      if (existingRights) return resolveExisting(existingRights);
      const conflicts = await guard?.describeConflicts(statement);
      if (conflicts) return { result: 'rejected', error: conflicts };
      const result = await send(entry);
      await guard?.record(statement);
      return result;
    } catch (error) {
      if (!(error instanceof InstanceError)) throw error;
      return { result: error.outcomeUnknown ? 'unknown' : 'failed', error: error.message, failure: error };
    }
  };

  async function send(entry: Entry, tries = 1 + Math.max(options.retries ?? 0, 1)): Promise<StatementResult> {
    try {
      return await execute(entry);
    } catch (error) {
      const canLook = isShowable(entry) || isAcl(entry.kind);
      if (!(error instanceof InstanceError) || !error.outcomeUnknown || !canLook) throw error;
      return resolveUnknown(entry, error, tries - 1);
    }
  }

  async function execute(entry: Entry): Promise<StatementResult> {
    const { statement } = entry;
    const { replaces, keepsExisting } = readStatementHead(statement);
    const isKnown = ifExists === 'compare' && (await existing.isKnown(entry));
    // If the server accepts OR REPLACE or IF NOT EXISTS, its reply does not show whether the object existed, and with which definition.
    const before = replaces || keepsExisting || isKnown ? await compare(entry) : undefined;
    // If the object differs, a plain CREATE is sent anyway, because the server may report another error first.
    const isDecided = before?.result === 'skipped' || (replaces ? ifExists !== 'compare' : keepsExisting);
    if (before && isDecided) return resolveExisting(before);
    if (isAssertion(entry)) return evaluateAssertion(statement);
    const fillsFromOthers = !options.isSimulated && (guard !== undefined || entry.kind === 'other');
    const unfilled = fillsFromOthers ? await waitForSources(entry, target, patience) : undefined;
    if (unfilled) return unfilled;
    const pending =
      entry.kind === 'other' && !options.isSimulated ? await prepareConfirmation(statement, context) : undefined;
    existing.invalidate(entry);
    const reply = await target.execute(statement).catch(error => resolveUnknownAlter(error, pending));
    existing.invalidate(entry);
    if (reply.ok) {
      if (reply.rows) await options.onRows(reply.rows);
      await existing.access.recordSent(entry);
      const confirmed = pending && (await confirmEffect(pending, context));
      return { result: 'applied', ...(before && { replaced: before }), ...confirmed };
    }
    return resolveRejection(entry, reply, before);
  }

  /** @param before the comparison before the statement was sent; undefined if there was none */
  async function resolveRejection(
    entry: Entry,
    rejection: Rejection,
    before: StatementResult | undefined,
  ): Promise<StatementResult> {
    const { message: error, position, denied } = rejection;
    const rejected: StatementResult = { result: 'rejected', error, denied, position };
    const exists = rejection.matches(ALREADY_EXISTS);
    const concernsPrincipal = isPrincipal(entry.kind);
    if (ifExists === 'fail') return { ...rejected, exists };
    if (!exists && denied) return rejected;
    if (exists && ifExists === 'skip') return { result: 'skipped' };
    const why = `${error}, and it cannot be compared`;
    const incomparable: StatementResult = { ...rejected, error: `${why}; ${SKIP_HELP}`, exists };
    try {
      const compared = before ?? (await compare(entry));
      if (compared && (exists || compared.result === 'skipped')) return resolveExisting(compared);
      return exists && concernsPrincipal ? incomparable : rejected;
    } catch (failure) {
      if (!(failure instanceof InstanceError)) throw failure;
      if (!exists && !concernsPrincipal) return rejected;
      if (failure.serverMessage === undefined) return { ...rejected, error: `${why}: ${failure.message}`, failure };
      return { ...incomparable, error: `${why}: ${failure.serverMessage}; ${SKIP_HELP}` };
    }
  }

  /** Background work of the server may make a false answer true. So the SELECT is repeated until the answer is final, or the time is up. */
  async function evaluateAssertion(statement: string): Promise<StatementResult> {
    const assertion = parseAssertion(statement);
    const ask = async () => {
      const rows = await target.queryRows(statement);
      return rows.length > 0 && rows.flat().every(cell => cell === true);
    };
    const isFinal = (isTrue: boolean) => isTrue || assertion?.isFinal === true;
    try {
      const isTrue = await askUntilSettled(target, assertion?.laggingView, ask, isFinal, patience);
      if (isTrue) return { result: 'applied' };
      return { result: 'rejected', error: await explainFailedAssertion(target, statement) };
    } catch (error) {
      if (!(error instanceof InstanceError)) throw error;
      if (error.serverMessage === undefined) {
        const failure = assertion?.help ? error.withMessage(`${error.message}: ${assertion.help}`) : error;
        return { result: 'failed', error: failure.message, failure }; // never `unknown`: a SELECT changes nothing
      }
      return { result: 'rejected', error: error.serverMessage, denied: error.code === 'DENIED' };
    }
  }

  function resolveExisting(compared: StatementResult): StatementResult {
    if (ifExists === 'compare') return compared;
    return ifExists === 'skip' ? { result: 'skipped' } : { result: 'rejected', error: EXISTS_MESSAGE };
  }

  /** Compares a statement with the object or rights of the target; undefined if the target has none, or does not show them. */
  async function compare(entry: Entry): Promise<StatementResult | undefined> {
    if (givesRight(entry.kind)) return compareRights(entry);
    const found = await existing.fetch(entry);
    if (found === undefined) return undefined;
    const comparison = ignored.rules.withoutIgnored(entry, await existing.compare(entry.statement, found));
    if (comparison.differences.length === 0) return { result: 'skipped', comparison };
    const differs: StatementResult = { result: 'differs', error: DIFFERENT_MESSAGE, comparison };
    if (isReordered(differs)) return { ...differs, error: COLUMN_ORDER_REASON };
    return comparison.asText ? { ...differs, error: TEXT_DIFFERS_MESSAGE } : differs;
  }

  /** A grant option that the statement would remove is a difference. @returns undefined if rights are missing, or not shown */
  async function compareRights({ kind, statement }: Entry): Promise<StatementResult | undefined> {
    if (!givesRight(kind)) return undefined;
    const comparison = await existing.access.compare(statement);
    if (!comparison) return undefined;
    if (comparison.differences.length > 0) return { result: 'differs', error: GRANT_OPTION_MESSAGE, comparison };
    return comparison.exists ? { result: 'skipped', comparison } : undefined;
  }

  /**
   * Finds out whether a statement was executed although its reply was lost. If its object is missing, the statement is sent again.
   * @throws the error of the lost reply if the outcome stays unknown
   */
  async function resolveUnknown(entry: Entry, lost: InstanceError, tries: number): Promise<StatementResult> {
    existing.access.invalidate();
    const compared = await compare(entry).catch(() => {
      throw lost;
    });
    if (compared?.result === 'skipped') return { result: 'applied' };
    // Not every server shows its access control, so a missing right proves nothing.
    if (compared || isAcl(entry.kind)) throw lost;
    if (tries > 0) return send(entry, tries);
    return { result: 'failed', error: lost.message, failure: lost };
  }

  /** Whether an ALTER was executed although its reply was lost. @throws the error of the lost reply unless the object is as expected */
  async function resolveUnknownAlter(lost: unknown, pending: PendingEffect | undefined): Promise<Reply> {
    if (!pending || !(lost instanceof InstanceError) || !lost.outcomeUnknown) throw lost;
    if (await wasAltered(pending, context).catch(() => false)) return { ok: true };
    throw lost;
  }
}
