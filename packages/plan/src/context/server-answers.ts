import type { Conversion, UnendedRows } from '@sqlpipe/engine';
import { foldCase, type NameMap } from '@sqlpipe/sql';
import { type ChangedValues, printChangeCountsQuestion } from '../queries/conversions.js';
import { type FetchHistory, type HistoryAnswer, printHistoryQuestion } from '../queries/row-comparisons.js';

/**
 * The first row that a query returns, or why there is none:
 * - `unknown`: the server works, but has not answered within the time limit.
 * - `unasked`: the server was not asked yet, or no server can be asked.
 */
type Answer = readonly unknown[] | 'rejected' | 'unknown' | 'unasked';

/** The size of a table or a materialized view on a server. */
export interface StoredSize {
  readonly rows: number;
  readonly bytes: number;
}

/** Functions that ask a server about rows. If one is absent, only assertions check the rows, when the plan is applied. */
export interface RowQueries {
  readonly fetchHistory?: FetchHistory | undefined;
  /** Runs a query that returns one row; undefined if the server rejects the query, `unknown` if it does not answer in time. */
  readonly fetchRow?: ((query: string) => Promise<readonly unknown[] | 'unknown' | undefined>) | undefined;
  /** Asks for the sizes of tables and materialized views; undefined if the server does not show them. */
  readonly fetchSizes?: (() => Promise<NameMap<StoredSize> | undefined>) | undefined;
}

/** The server's answers about rows and queries. Each `ask…` queues its question if the answer is missing. Then the planner plans again. */
export class ServerAnswers {
  /** The answers, and the queued questions, by the query or by `historyKey`. */
  readonly #answers = new Map<string, unknown>();
  readonly #questions = new Map<string, () => Promise<unknown>>();

  constructor(readonly server: RowQueries) {}

  ask(query: string): Answer {
    const { fetchRow } = this.server;
    if (fetchRow) this.#queue(query, async () => (await fetchRow(query)) ?? 'rejected');
    return (this.#answers.get(query) as Answer | undefined) ?? 'unasked';
  }

  /** The number that a query returns. 0 until the server was asked; undefined if it rejects the query or does not answer. */
  askCount(query: string): number | undefined {
    const answer = this.ask(query);
    if (answer === 'unasked') return 0;
    return typeof answer === 'string' ? undefined : Number(answer[0]);
  }

  /** What a query returns that also asks for the times of the first and the last row; `none` until the server was asked. */
  askUnendedRows(query: string): UnendedRows {
    const answer = this.ask(query);
    if (answer === 'unasked') return 'none';
    if (typeof answer === 'string') return 'unknown';
    const [count, first, last] = answer;
    return Number(count) === 0 ? 'none' : { count: Number(count), first: String(first), last: String(last) };
  }

  /** Undefined unless the server has answered. @param conversion has the names of B */
  askChangedValues(conversion: Conversion): ChangedValues | undefined {
    const answer = this.ask(printChangeCountsQuestion(conversion));
    if (typeof answer === 'string') return undefined;
    const [changed, nulls, total] = answer.map(Number) as [number, number, number];
    return { changed, nulls, total };
  }

  /** False until the server was asked; `unknown` if it does not answer. */
  askIfRejected(query: string): boolean | 'unknown' {
    const answer = this.ask(query);
    return answer === 'unknown' ? answer : answer === 'rejected';
  }

  /**
   * Queues the question that `findHistory` answers.
   * @param define finds the definition of the view, with the query that counts; undefined if no server can be asked
   * @param query the query that the view will have; by default, the query that it has
   */
  queueHistory(view: string, define: () => Parameters<FetchHistory>[0] | undefined, query?: string): void {
    const { fetchHistory } = this.server;
    if (!fetchHistory) return;
    this.#queue(historyKey(view, query), async () => {
      const definition = define();
      if (!definition) return { answer: 'unknown', columns: undefined };
      return fetchHistory(definition, (timestamp, columns) => printHistoryQuestion(definition, timestamp, columns));
    });
  }

  findHistory(view: string, query?: string): HistoryAnswer | undefined {
    return this.#answers.get(historyKey(view, query)) as HistoryAnswer | undefined;
  }

  #queue(key: string, fetchAnswer: () => Promise<unknown>): void {
    if (!this.#answers.has(key)) this.#questions.set(key, async () => this.#answers.set(key, await fetchAnswer()));
  }

  /** @returns whether there was a question */
  async fetchQueuedAnswers(): Promise<boolean> {
    const questions = [...this.#questions.values()];
    this.#questions.clear();
    for (const askServer of questions) await askServer();
    return questions.length > 0;
  }
}

const historyKey = (view: string, query = ''): string => `${foldCase(view)}\0${query}`;
