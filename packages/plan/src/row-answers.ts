/*! What a server has said of the rows of tables, and what it has to be asked yet. */
import { type ObjectPath, pathKey } from './object-path.js';

/** The first row of a query; undefined if the server cannot answer it. */
export type Row = readonly unknown[] | undefined;

/** What a server has said of the rows of tables. */
export class RowAnswers {
  /** The queries that were not asked yet. */
  readonly questions = new Set<string>();
  /** How many values of a column a conversion changes, and the same as the end of a sentence. */
  readonly #lost = new Map<string, { count: number; text: string }>();

  /**
   * @param answers the answers by query
   * @param isAsked whether there is a server
   */
  constructor(
    readonly answers: ReadonlyMap<string, Row>,
    readonly isAsked: boolean,
  ) {}

  /** The answer to a query. If it was not asked, it is undefined, and the query is one of the questions. */
  ask(query: string): Row {
    if (this.isAsked && !this.answers.has(query)) this.questions.add(query);
    return this.answers.get(query);
  }

  /** Whether the server was asked a query and could not answer it. */
  isRejected(query: string): boolean {
    return this.answers.has(query) && this.answers.get(query) === undefined;
  }

  noteLost(column: ObjectPath, count: number, text: string): void {
    this.#lost.set(pathKey(column), { count, text });
  }

  /** Whether a conversion changes values of a column, or may do so although there is a server. */
  changesValues(column: ObjectPath): boolean {
    return this.isAsked && this.#lost.get(pathKey(column))?.count !== 0;
  }

  /** How many values of a column change, as the end of a sentence. */
  describeLost(column: ObjectPath): string {
    return this.#lost.get(pathKey(column))?.text ?? '; how many values change is unknown';
  }
}
