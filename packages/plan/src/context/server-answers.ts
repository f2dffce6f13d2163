import type { UnendedRows } from '@sqlpipe/engine';
import { foldCase, NameMap } from '@sqlpipe/sql';
import { type ObjectPath, pathKey } from '../losses/object-path.js';
import { type AskHistory, type HistoryAnswer, printHistoryQuestion } from '../queries/history.js';

/** The first row that a query returns; undefined if the server rejects the query. */
export type AnswerRow = readonly unknown[] | undefined;

/** The size of a table or a materialized view on a server. */
export interface StoredSize {
  readonly rows: number;
  readonly bytes: number;
}

/** Asks a server about rows. If a function is absent, only the assertions of a plan check these rows. */
export interface RowQueries {
  readonly askHistory?: AskHistory | undefined;
  /** Runs a query that returns one row, about the rows of a table. */
  readonly askRow?: ((query: string) => Promise<AnswerRow>) | undefined;
  /** Asks for the sizes of tables and materialized views; undefined if the server does not show them. */
  readonly askSizes?: (() => Promise<NameMap<StoredSize> | undefined>) | undefined;
}

/** What a server has said of rows and queries. The planner adds a question where it lacks an answer, and runs again with the answer. */
export class ServerAnswers {
  /** By the query, or by the name of the view in lower case. */
  readonly #questions = new Map<string, () => Promise<unknown>>();
  readonly #rows = new Map<string, AnswerRow>();
  readonly #histories = new NameMap<HistoryAnswer>();
  /** How many values of a column a conversion changes, by `pathKey`; `text` says it as the end of a sentence. */
  readonly #changedValues = new Map<string, { count: number; text: string }>();

  constructor(readonly server: RowQueries) {}

  /** Undefined if the server rejects the query, or was not asked yet: such a query becomes a question. */
  ask(query: string): AnswerRow {
    const { askRow } = this.server;
    if (askRow && !this.#rows.has(query))
      this.#questions.set(query, async () => this.#rows.set(query, await askRow(query)));
    return this.#rows.get(query);
  }

  /** As `ask`, for a query that counts rows. 0 before the answer; undefined if the server rejects the query. */
  askCount(query: string): number | undefined {
    const [count = 0] = this.ask(query) ?? [];
    return this.rejects(query) ? undefined : Number(count);
  }

  /** As `askCount`, for a query that also returns the times of the first and the last row. */
  askRows(query: string): UnendedRows {
    if (this.rejects(query)) return 'unknown';
    const [count = 0, first, last] = this.ask(query) ?? [];
    return Number(count) === 0 ? 'none' : { count: Number(count), first: String(first), last: String(last) };
  }

  /** @returns whether there was a question */
  async askQuestions(): Promise<boolean> {
    const questions = [...this.#questions.values()];
    this.#questions.clear();
    for (const askServer of questions) await askServer();
    return questions.length > 0;
  }

  /** As `ask`. @returns whether the server rejects the query; false if it was not asked yet */
  rejects(query: string): boolean {
    return this.ask(query) === undefined && this.#rows.has(query);
  }

  /** As `ask`, about the rows of a materialized view. @param define finds its definition; undefined if no server can be asked */
  askHistory(view: string, define: () => Parameters<AskHistory>[0] | undefined): void {
    const ask = this.server.askHistory;
    if (!ask || this.findHistory(view)) return;
    this.#questions.set(foldCase(view), async () => {
      const definition = define();
      const history = definition
        ? // biome-ignore lint/nursery/useAwaitThenable: the function of an option returns a promise
          await ask(definition, (timestamp, columns) => printHistoryQuestion(definition, timestamp, columns))
        : { answer: 'unknown' as const, columns: undefined };
      this.#histories.set(view, history);
    });
  }

  findHistory(view: string): HistoryAnswer | undefined {
    return this.#histories.get(view);
  }

  recordChangedValues(column: ObjectPath, count: number, text: string): void {
    this.#changedValues.set(pathKey(column), { count, text });
  }

  keepsValues(column: ObjectPath): boolean {
    return this.#changedValues.get(pathKey(column))?.count === 0;
  }

  describeChangedValues(column: ObjectPath): string {
    return this.#changedValues.get(pathKey(column))?.text ?? '; how many values change is unknown';
  }
}
