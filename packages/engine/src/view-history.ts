/*! The history of a materialized view: rows that it stores, and that its query may no longer return. */
import type { MaterializedView } from './catalogue-objects.js';
import type { Effect } from './effects.js';

/** Rows of a materialized view that its query no longer returns. Dates are as the server prints them. */
export interface LostRows {
  readonly lost: number;
  readonly total: number;
  readonly first: string;
  readonly last: string;
  /** Whether they are the newest rows of an invalid view. Its last refresh may have seen only some rows of their interval. */
  readonly areNewest?: boolean;
}

/**
 * What a server says of the rows that a materialized view stores:
 * - `complete`: its query returns all of them;
 * - `empty`: it has none;
 * - `unknown`: the server cannot say;
 * - `LostRows`: its query no longer returns these.
 */
export type HistoryAnswer = 'complete' | 'empty' | 'unknown' | LostRows;

/** The loss of rows of a materialized view. @param text a description that continues a sentence */
export const historyLoss = ({ kind, name }: MaterializedView, text: string): Effect => ({
  effect: 'lost',
  kind,
  object: name,
  loss: 'history',
  text,
});

/** What would be lost if the view was dropped now, as the end of a sentence. */
export function describeAnswer(answer: HistoryAnswer): string {
  if (typeof answer === 'string') return 'may lose rows: the server could not say whether its query still gives them';
  const { lost, total, first, last, areNewest } = answer;
  const doubt = areNewest ? ', perhaps only because the view is invalid and its newest interval was not refreshed' : '';
  return `loses rows that its query no longer gives: ${lost} of ${total}, from ${first} to ${last}${doubt}`;
}
