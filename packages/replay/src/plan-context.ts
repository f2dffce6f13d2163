/*! What a planner has to know of an instance beside its statements. */
import { setTimeout as pause } from 'node:timers/promises';
import {
  fetchHealth,
  fetchSettledState,
  fetchVersion,
  fetchViewColumns,
  type Instance,
  InstanceError,
  isEnterprise,
} from '@sqlpipe/instance';
import { type AskHistory, type PlanOptions, printHistoryQuestion } from '@sqlpipe/plan';
import { quoteLiteral } from '@sqlpipe/sql';

/** What an instance says of its objects, and how to ask it about the rows of materialized views. */
export async function fetchPlanContext(
  instance: Instance,
): Promise<Pick<PlanOptions, 'health' | 'version' | 'enterprise' | 'askHistory'>> {
  return {
    health: await fetchHealth(instance),
    version: await fetchVersion(instance),
    enterprise: await isEnterprise(instance),
    askHistory: view => askHistory(instance, view),
  };
}

/** Milliseconds within which a view that is being refreshed must have taken in the latest rows at least once. */
const CATCH_UP_MS = 5000;

/** Milliseconds between two questions, so that the server can do something else. */
const PAUSE_MS = 10;

/**
 * Asks until nothing is lost, the answer can no longer change, or the time is up: while rows are written, a view is behind its base
 * for moments, and rows of its last intervals count as lost.
 */
async function askHistory(instance: Instance, view: Parameters<AskHistory>[0]): ReturnType<AskHistory> {
  const columns = await fetchViewColumns(instance, view.name);
  if (!columns) return { answer: 'unknown', columns };
  const timestamp = view.timestamp ?? columns.find(({ designated }) => designated)?.name ?? '';
  const end = performance.now() + CATCH_UP_MS;
  try {
    for (;;) {
      const before = await fetchSettledState(instance, view.name);
      const [[lost, first, last] = []] = await instance.table(printHistoryQuestion(view, timestamp, columns));
      if (Number(lost) === 0) return { answer: 'kept', columns };
      const isFinal = before !== undefined && before === (await fetchSettledState(instance, view.name));
      if (!isFinal && performance.now() < end) {
        await pause(PAUSE_MS);
        continue;
      }
      const [[total] = []] = await instance.table(`SELECT count() FROM ${quoteLiteral(view.name)}`);
      return {
        answer: { lost: Number(lost), total: Number(total), first: String(first), last: String(last) },
        columns,
      };
    }
  } catch (error) {
    if (!(error instanceof InstanceError)) throw error;
    return { answer: 'unknown', columns };
  }
}
