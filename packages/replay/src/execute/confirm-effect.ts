/*!
 * A server may reply before a statement has had its effect. These functions wait until the object has changed, then check the object.
 * A view that became invalid meanwhile is refreshed again.
 */
import {
  applyAlteration,
  type Command,
  EXPLICIT,
  findWalObjects,
  parseCommand,
  printDefinition,
  printResumeWal,
  SERVER_DEFAULTS,
  tryParseDefinition,
} from '@sqlpipe/ddl';
import {
  type Client,
  fetchAllObjects,
  fetchHasStoredBase,
  fetchRefreshState,
  fetchRunningRefreshes,
  fetchWalState,
  InstanceError,
  type PollLimits,
  poll,
  type RefreshState,
  tryQuery,
} from '@sqlpipe/instance';
import { printFullRefresh } from '@sqlpipe/plan/text';
import { type Entry, isChangeOfBase } from '@sqlpipe/schema';
import { isObjectKind, isSameName, type KindAndName } from '@sqlpipe/sql';
import type { StatementResult } from '../outcome.js';
import type { ExistingObjects } from '../target/fetched-objects.js';
import { verifyObject } from './verify.js';

interface PendingEffect {
  readonly command: Command;
  readonly before?: string | undefined;
  /** The CREATE statement that the object should have after an ALTER, if the object exists. */
  readonly expected?: string | undefined;
  /** The state of the view before a full refresh. */
  readonly refreshBefore?: RefreshState | undefined;
}

interface ConfirmationContext {
  readonly client: Client;
  readonly existing: ExistingObjects;
  readonly pollLimits: PollLimits;
  readonly noVerify: boolean;
}

/** Before a statement is sent, reads the state that it will change. Undefined for CREATE, GRANT and REVOKE. */
export async function prepareConfirmation(
  statement: string,
  context: ConfirmationContext,
): Promise<PendingEffect | undefined> {
  const { client, existing, noVerify } = context;
  const command = parseCommand(statement, noVerify ? SERVER_DEFAULTS : await existing.fetchDefaults());
  if (!command) return undefined;
  // An incremental refresh is not awaited: if it has nothing to do, the server does not show that it has ended (observed on 9.3.4).
  if (command.action === 'refresh' && command.isFull)
    return { command, refreshBefore: await fetchRefreshState(client, command.name) };
  if (command.action !== 'alter' || noVerify) return { command };
  const [first] = command.alters;
  // An account may have the right to alter an object, but not to see it.
  const isDenied = ({ code }: InstanceError) => code === 'DENIED';
  const before = first && (await tryQuery(existing.fetchStatement(first), isDenied));
  let definition = tryParseDefinition(before ?? '');
  for (const { alteration } of command.alters) definition &&= applyAlteration(definition, alteration);
  return { command, before, expected: definition && printDefinition(definition, EXPLICIT) };
}

/** After a lost reply, finds out whether the ALTER was executed: the object is as expected, and it was different before the ALTER. */
export async function pollWasAltered(pending: PendingEffect, context: ConfirmationContext): Promise<boolean> {
  const { before, expected } = pending;
  if (before === undefined || expected === undefined) return false;
  const { isTokenComparison, differences } = await context.existing.compareStatements(expected, before);
  if (isTokenComparison || differences.length === 0) return false;
  const { result, comparison } = await confirmEffect(pending, { ...context, noVerify: false });
  return result === 'applied' && comparison?.isTokenComparison === false;
}

/** Waits for the effect of an accepted statement. If a view becomes invalid during its refresh, sends REFRESH again. */
export const confirmEffect = (pending: PendingEffect, context: ConfirmationContext): Promise<StatementResult> =>
  waitForEffect(pending, context).catch(toUnknown);

/** Waits for the rows of a materialized view that a plan has created. If the view becomes invalid, refreshes it. */
export const confirmFirstFillOrRefresh = (name: string, context: ConfirmationContext): Promise<StatementResult> =>
  waitForFirstFillOrRefresh(name, context).catch(toUnknown);

/** If the target cannot be asked about an accepted statement, the outcome is unknown, not failed. */
function toUnknown(error: unknown): StatementResult {
  if (!(error instanceof InstanceError)) throw error;
  return { result: 'unknown', error: error.message, failure: error };
}

async function waitForEffect(pending: PendingEffect, context: ConfirmationContext): Promise<StatementResult> {
  const { command, expected } = pending;
  const { client, existing, noVerify, pollLimits } = context;
  if (command.action === 'refresh') return waitForRefreshOrRepeat(command.name, pending.refreshBefore, context);
  for (const object of findWalObjects(command)) {
    const state = await poll(pollLimits, async () => {
      const state = await fetchWalState(client, object.name);
      return state === 'pending' ? undefined : state;
    });
    if (state === 'suspended') return suspension(object, client);
    if (state === undefined)
      return targetFailure('unknown', 'accepted, but not applied yet; a larger --timeout waits longer', client);
  }
  if (noVerify) return APPLIED;
  if (command.action === 'rename' || (command.action === 'drop' && isObjectKind(command.kind)))
    return verifyDone(command, existing);
  const [altered] = command.action === 'alter' ? command.alters : [];
  if (!altered || expected === undefined) return APPLIED;
  const found = await existing.fetchStatement(altered);
  return verifyObject(expected, found, existing, 'the server altered it, but to a different definition');
}

const APPLIED: StatementResult = { result: 'applied' };

async function verifyDone(
  command: Extract<Command, { action: 'drop' | 'rename' }>,
  existing: ExistingObjects,
): Promise<StatementResult> {
  const kind = command.action === 'drop' ? command.kind : 'table';
  const fetchExists = async (name: string) => (await existing.fetchStatement({ kind, name })) !== undefined;
  const isNamed = command.action === 'drop' || (await fetchExists(command.to));
  const isKept = command.action === 'rename' && isSameName(command.name, command.to);
  const isDone = isNamed && (isKept || !(await fetchExists(command.name)));
  if (isDone) return { result: 'applied', isFullyVerified: true };
  return { result: 'differs', error: 'the server reported success, but the object did not change' };
}

const suspension = (object: KindAndName, client: Client): StatementResult =>
  targetFailure('unknown', `accepted, but not applied: it is suspended; use ${printResumeWal(object)}`, client);

const targetFailure = (result: 'failed' | 'unknown', error: string, { label }: Client): StatementResult => ({
  result,
  error,
  failure: new InstanceError('UNREACHABLE', `${label}: ${error}`),
});

/** Milliseconds without activity after which a refresh counts as ended: after a REFRESH of a range, 9.3.4 shows `refreshing` for ever. */
const IDLE_PERIOD = 1000;

/**
 * Waits until the sources of a materialized view are filled. CREATE and REFRESH … FULL read only the rows that are already there.
 * @returns undefined if the statement can be sent
 */
export async function waitForSources(
  { statement, kind, name }: Entry,
  client: Client,
  pollLimits: PollLimits,
): Promise<StatementResult | undefined> {
  const command = kind === 'other' ? parseCommand(statement, SERVER_DEFAULTS) : undefined;
  const isRefresh = command?.action === 'refresh' && command.isFull;
  if (!isRefresh && kind !== 'materialized view') return undefined;
  const ownName = isRefresh ? command.name : name;
  let activeAt = performance.now();
  let runningView = '';
  const hasEnded = await poll(pollLimits, async () => {
    const running = (await fetchRunningRefreshes(client, statement)).filter(({ view }) => !isSameName(view, ownName));
    if (running.some(({ isActive }) => isActive)) activeAt = performance.now();
    runningView = running[0]?.view ?? '';
    return running.length === 0 || performance.now() - activeAt > IDLE_PERIOD || undefined;
  });
  if (hasEnded) return undefined;
  const problem = `not sent, because materialized view '${runningView}', which it reads, is being refreshed; a larger --timeout waits longer`;
  return targetFailure('failed', problem, client);
}

async function waitForRefreshOrRepeat(
  name: string,
  before: RefreshState | undefined,
  { client, pollLimits }: ConfirmationContext,
): Promise<StatementResult> {
  if (!before) return APPLIED;
  const view = { kind: 'materialized view', name } as const;
  let invalidatedAt = 0;
  const result = await poll(pollLimits, async (): Promise<StatementResult | undefined> => {
    const state = await fetchRefreshState(client, name);
    // A missing state does not prove that the view is gone: the server may have rejected the query.
    if (!state && !(await fetchAllObjects(client)).some(object => isSameName(object.name, name)))
      return failedRefresh('the view no longer exists');
    const hasRun = state && state.finished !== before.finished && state.finished >= state.started;
    if (!hasRun || !isInvalidation(state)) {
      invalidatedAt = 0;
      if (!hasRun) return (await fetchWalState(client, name)) === 'suspended' ? suspension(view, client) : undefined;
      if (state.status === 'valid') return APPLIED;
      // A server gives no reason if the query returns other types than the view has (observed on 9.3.4).
      const noReason = 'the columns of the view may have other types than its query gives; drop and recreate it';
      return failedRefresh(state.reason ?? noReason);
    }
    invalidatedAt ||= performance.now();
    if (performance.now() - invalidatedAt < REFRESH_AGAIN_AFTER) return undefined;
    invalidatedAt = 0;
    const reply = await client.execute(printFullRefresh(name));
    return reply.ok ? undefined : failedRefresh(reply.message, reply.isDenied);
  });
  return result ?? targetFailure('unknown', 'accepted, but not finished yet; a larger --timeout waits longer', client);
}

/**
 * After a plan has created a view over a materialized view, waits until the server has filled the new view, or until the server has been
 * idle for a while. An earlier REFRESH of the lower view may still invalidate the new view. Then the new view is refreshed.
 */
async function waitForFirstFillOrRefresh(name: string, context: ConfirmationContext): Promise<StatementResult> {
  const { client, pollLimits } = context;
  let activeAt = performance.now();
  const watch = async () => {
    const state = await fetchRefreshState(client, name);
    if (state?.status === 'refreshing') activeAt = performance.now();
    const isOver = state?.finished !== '' || isInvalidation(state); // it is over too if there is no such view
    return isOver || performance.now() - activeAt > IDLE_PERIOD ? { state } : undefined;
  };
  const hasStoredBase = await fetchHasStoredBase(client, name);
  const { state } = (hasStoredBase ? await poll(pollLimits, watch) : undefined) ?? {};
  if (!state || !isInvalidation(state)) return APPLIED;
  const reply = await client.execute(printFullRefresh(name));
  return reply.ok ? waitForRefreshOrRepeat(name, state, context) : failedRefresh(reply.message, reply.isDenied);
}

const failedRefresh = (reason: string, isDenied = false) =>
  ({ result: 'rejected', error: `accepted, but the refresh failed: ${reason}`, isDenied }) as const;

/**
 * Milliseconds after which an invalid view is refreshed again. A server reports an ALTER of `t` as applied, but invalidates the views over
 * `t` a moment later. If a refresh of such a view has begun by then, the view stays invalid afterwards (MatViewRefreshJob of 9.3.4).
 */
const REFRESH_AGAIN_AFTER = 1000;

/** Whether a view is invalid because its base has changed. Without a given reason, `started` equals `finished` shows that (on 9.3.4). */
const isInvalidation = ({ status, reason, started, finished }: RefreshState): boolean =>
  status !== 'valid' && (reason === undefined ? started === finished : isChangeOfBase(reason));
