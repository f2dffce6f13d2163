import type { Conversion, UnendedRows } from '@sqlpipe/engine';
import { foldCase, type NameMap } from '@sqlpipe/sql';
import { type ObjectPath, pathKey } from '../losses/object-path.js';
import { printConversionQuestion } from '../queries/conversions.js';
import { type AskHistory, type HistoryAnswer, printHistoryQuestion } from '../queries/history.js';

/** The first row that a query returns; undefined if the server rejects the query. */
export type AnswerRow = readonly unknown[] | undefined;

/** The size of a table or a materialized view on a server. */
export interface StoredSize {
  readonly rows: number;
  readonly bytes: number;
}

/** Functions that ask a server about rows. If one is absent, only assertions check the rows, when the plan is applied. */
export interface RowQueries {
  readonly askHistory?: AskHistory | undefined;
  /** Runs a query that returns one row. */
  readonly askRow?: ((query: string) => Promise<AnswerRow>) | undefined;
  /** Asks for the sizes of tables and materialized views; undefined if the server does not show them. */
  readonly askSizes?: (() => Promise<NameMap<StoredSize> | undefined>) | undefined;
}

/** The server's answers about rows and queries. If an answer is missing, the planner queues the question and later plans again. */
export class ServerAnswers {
  /** The queued questions, by the query or by `historyKey`. */
  readonly #questions = new Map<string, () => Promise<unknown>>();
  readonly #rows = new Map<string, AnswerRow>();
  /** By `historyKey`. */
  readonly #histories = new Map<string, HistoryAnswer>();
  /** By `pathKey` of a column: the answer to `printConversionQuestion`. */
  readonly #changedValues = new Map<string, AnswerRow>();

  constructor(readonly server: RowQueries) {}

  /** The answer to a query. Undefined if the server rejects the query, or was not asked yet. Then the query is queued. */
  findOrQueue(query: string): AnswerRow {
    const { askRow } = this.server;
    if (askRow && !this.#rows.has(query))
      this.#questions.set(query, async () => this.#rows.set(query, await askRow(query)));
    return this.#rows.get(query);
  }

  /** As `findOrQueue`, for a query that counts rows. 0 until the server has answered; undefined if the server rejects the query. */
  countOrQueue(query: string): number | undefined {
    const [count = 0] = this.findOrQueue(query) ?? [];
    return this.rejects(query) ? undefined : Number(count);
  }

  /** As `countOrQueue`, for a query that also returns the times of the first and the last row. */
  findRowsOrQueue(query: string): UnendedRows {
    if (this.rejects(query)) return 'unknown';
    const [count = 0, first, last] = this.findOrQueue(query) ?? [];
    return Number(count) === 0 ? 'none' : { count: Number(count), first: String(first), last: String(last) };
  }

  /** @returns whether there was a question */
  async askQueued(): Promise<boolean> {
    const questions = [...this.#questions.values()];
    this.#questions.clear();
    for (const askServer of questions) await askServer();
    return questions.length > 0;
  }

  /** As `findOrQueue`, but only whether the server rejects the query. False until the server has answered. */
  rejects(query: string): boolean {
    return this.findOrQueue(query) === undefined && this.#rows.has(query);
  }

  /**
   * Queues the question that `findHistory` answers.
   * @param define finds the definition of the view, with the query that counts; undefined if no server can be asked
   * @param query the query that the view will have; by default, the query that it has
   */
  queueHistory(view: string, define: () => Parameters<AskHistory>[0] | undefined, query?: string): void {
    const ask = this.server.askHistory;
    if (!ask || this.findHistory(view, query)) return;
    const key = historyKey(view, query);
    this.#questions.set(key, async () => {
      const definition = define();
      const history = definition
        ? // biome-ignore lint/nursery/useAwaitThenable: the function of an option returns a promise
          await ask(definition, (timestamp, columns) => printHistoryQuestion(definition, timestamp, columns))
        : { answer: 'unknown' as const, columns: undefined };
      this.#histories.set(key, history);
    });
  }

  findHistory(view: string, query?: string): HistoryAnswer | undefined {
    return this.#histories.get(historyKey(view, query));
  }

  /** As `findOrQueue`, for the values that a conversion changes. `formatChangedValues` needs the answer. */
  countChangedValues(conversion: Conversion): number | undefined {
    const { table: object, column } = conversion;
    const answer = this.findOrQueue(printConversionQuestion(conversion));
    this.#changedValues.set(pathKey({ object, column }), answer);
    return answer && Number(answer[0]);
  }

  /** Formats how many values of a column a conversion changes, as the end of a sentence. */
  formatChangedValues(column: ObjectPath): string {
    const [changed, nulls, total] = this.#changedValues.get(pathKey(column)) ?? [];
    if (total === undefined) return '; how many values change is unknown';
    return `; ${changed} of ${total} values change${Number(nulls) > 0 ? `, ${nulls} of them to NULL` : ''}`;
  }
}

const historyKey = (view: string, query = ''): string => `${foldCase(view)}\0${query}`;
