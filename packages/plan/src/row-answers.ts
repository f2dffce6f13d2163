/*!
 * What a server has said of the rows of tables and of new queries, and what it has yet to be asked. A plan that needs an answer adds the
 * question here. The planner then asks the server, and makes the plan again.
 */
import { type ObjectPath, pathKey } from './object-path.js';

/** The first row that a query returns; undefined if the server rejects the query. */
export type Row = readonly unknown[] | undefined;

/** The answers to queries about rows, and the queries without an answer. */
export class RowAnswers {
  /** The queries that the server has yet to be asked. */
  readonly questions = new Set<string>();
  /** By column: how many of its values a conversion changes, as a number and as the end of a sentence. */
  readonly #lost = new Map<string, { count: number; text: string }>();

  /**
   * @param answers the answers by query
   * @param hasServer whether there is a server to ask
   */
  constructor(
    readonly answers: ReadonlyMap<string, Row>,
    readonly hasServer: boolean,
  ) {}

  /** The answer to a query. A query that was not asked yet is added to the questions, and its answer is undefined. */
  ask(query: string): Row {
    if (this.hasServer && !this.answers.has(query)) this.questions.add(query);
    return this.answers.get(query);
  }

  /** Whether the server has rejected a query. */
  isRejected(query: string): boolean {
    return this.answers.has(query) && this.answers.get(query) === undefined;
  }

  /** Records how many values of a column a conversion changes. @param text the same as the end of a sentence */
  recordLost(column: ObjectPath, count: number, text: string): void {
    this.#lost.set(pathKey(column), { count, text });
  }

  /** Whether a conversion changes values of a column, or the server could not say. False without a server. */
  changesValues(column: ObjectPath): boolean {
    return this.hasServer && this.#lost.get(pathKey(column))?.count !== 0;
  }

  /** How many values of a column change, as the end of a sentence. */
  describeLost(column: ObjectPath): string {
    return this.#lost.get(pathKey(column))?.text ?? '; how many values change is unknown';
  }
}
