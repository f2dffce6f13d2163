/*!
 * Repairs what servers print wrongly, so that the statement creates the same object again.
 *
 * Rows are read as text and not by the lexer, because a column named ` is printed without quotes and would start a quoted
 * name. This is exact: no name contains a line break, a comma, a parenthesis or a quote (observed on 9.3.4).
 */
import { isCleanTable, repairTable } from './repair-table.js';
import { repairView } from './repair-view.js';

/** A statement that can be replayed, and the repairs. */
export interface RepairResult {
  statement: string;
  /** The repairs in words that keep the meaning, except changes of white space around the body of a view. */
  notes: string[];
  /** Those after which the statement says something else, although it creates the same object. */
  warnings: string[];
}

/**
 * Repairs a statement that a server printed (SHOW CREATE … or a row of SHOW CREATE DATABASE), so that it can be replayed.
 * A statement that needs no repair, was written by hand, is unknown or is already repaired is returned unchanged.
 */
export function repair(row: string): RepairResult {
  if (isCleanTable(row)) return { statement: row, notes: [], warnings: [] };
  const notes: string[] = [];
  const warnings: string[] = [];
  return { statement: repairView(repairTable(row, notes, warnings), notes), notes, warnings };
}
