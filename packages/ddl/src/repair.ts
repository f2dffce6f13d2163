/*!
 * Repairs what the service prints wrongly, so that the statement recreates the object it was printed from.
 *
 * Rows are read as the text they are and not through the lexer: a column called ` opens a quote where it stands bare.
 * That is exact, as no name may hold a line break, a comma, a parenthesis or a quote (observed on 9.3.4).
 */
import { isCleanTable, repairTable } from './repair-table.js';
import { repairView } from './repair-view.js';

/** A statement that replays, and what was repaired. */
export interface RepairResult {
  statement: string;
  /** The repairs in plain words; the layout of a view's body is not mentioned. */
  notes: string[];
}

/**
 * The statement that replays, from one that the service printed (SHOW CREATE … or a row of SHOW CREATE DATABASE). A
 * statement that replays as it is, was written by hand, is unknown or was repaired before is returned unchanged.
 */
export function repair(row: string): RepairResult {
  if (isCleanTable(row)) return { statement: row, notes: [] };
  const notes: string[] = [];
  return { statement: repairView(repairTable(row, notes), notes), notes };
}
