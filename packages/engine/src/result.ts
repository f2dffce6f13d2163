/*! What a statement answers, besides what it does. */

/** A column of an answer. */
export interface ColumnHead {
  readonly name: string;
  readonly type: string;
}

/** A value of an answer. */
export type Value = string | number | boolean | null;

/** Rows with their columns. */
export interface Rows {
  readonly columns: readonly ColumnHead[];
  readonly rows: readonly (readonly Value[])[];
  /** The name of the designated timestamp, if the rows have one. */
  readonly timestamp?: string | undefined;
}

/** The answer to a statement: nothing but that it was executed, nothing because it was empty, or rows. */
export type ExecutionResult =
  | { readonly kind: 'ddl' }
  | { readonly kind: 'empty' }
  | ({ readonly kind: 'rows' } & Rows);
