/*!
 * Compares a statement with an existing object before it is sent, or after the server has rejected it. If the reply is lost, queries of the
 * target show whether the statement was executed.
 */
import { type Instance, InstanceError, type Reply } from '@sqlpipe/instance';
import type { Entry } from '@sqlpipe/schema';
import { isAcl, readStatementHead } from '@sqlpipe/sql';
import { compare, compareRights, resolveExisting, resolveRejection } from './compare-existing.js';
import {
  confirmEffect,
  type Patience,
  type PendingEffect,
  prepareConfirmation,
  waitForSources,
  wasAltered,
} from './confirm-effect.js';
import { evaluateAssertion } from './evaluate-assertion.js';
import { isShowable, type KnownObjects } from './existing.js';
import type { IgnoredStatements } from './ignored.js';
import type { ReplayOptions } from './options.js';
import { isAssertion, type StatementResult } from './outcome.js';
import type { PlanGuard } from './plan-guard.js';
import { formatPreflightRejection, type PreflightCheck } from './preflight.js';

export interface ExecutorOptions extends Pick<ReplayOptions, 'ifExists' | 'noVerify' | 'onRows'> {
  check: PreflightCheck;
  ignored: IgnoredStatements;
  existing: KnownObjects;
  /** Whether the target is an engine, which has no background work. */
  isSimulated?: boolean;
  /** Maximum number of times that a statement is sent again if its reply was lost and its object is missing; 0 and undefined count as 1. */
  retries: number | undefined;
  patience: Patience;
  guard?: PlanGuard | undefined;
}

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
      const existingRights = await compareRights(entry, existing);
      if (existingRights) return resolveExisting(existingRights, ifExists);
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
    const before = replaces || keepsExisting || isKnown ? await compare(entry, options) : undefined;
    // If the object differs, a plain CREATE is sent anyway, because the server may report another error first.
    const isDecided = before?.result === 'skipped' || (replaces ? ifExists !== 'compare' : keepsExisting);
    if (before && isDecided) return resolveExisting(before, ifExists);
    if (isAssertion(entry)) return evaluateAssertion(statement, target, patience);
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
      await existing.acl.recordSent(entry);
      const confirmed = pending && (await confirmEffect(pending, context));
      return { result: 'applied', ...(before && { replaced: before }), ...confirmed };
    }
    return resolveRejection(entry, reply, before, options);
  }

  /** If the object is missing, the statement is sent again. @throws the error of the lost reply if the outcome stays unknown */
  async function resolveUnknown(entry: Entry, lost: InstanceError, tries: number): Promise<StatementResult> {
    existing.acl.invalidate();
    const compared = await compare(entry, options).catch(() => {
      throw lost;
    });
    if (compared?.result === 'skipped') return { result: 'applied' };
    // Not every server shows its access control, so a missing right proves nothing.
    if (compared || isAcl(entry.kind)) throw lost;
    if (tries > 0) return send(entry, tries);
    return { result: 'failed', error: lost.message, failure: lost };
  }

  /** @throws the error of the lost reply, unless the object is as the ALTER makes it */
  async function resolveUnknownAlter(lost: unknown, pending: PendingEffect | undefined): Promise<Reply> {
    if (!pending || !(lost instanceof InstanceError) || !lost.outcomeUnknown) throw lost;
    if (await wasAltered(pending, context).catch(() => false)) return { ok: true };
    throw lost;
  }
}
