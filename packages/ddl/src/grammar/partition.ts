/*! PARTITION BY. */
import type { PartitionUnit } from '../definition.js';
import type { Cursor } from './cursor.js';
import { isWord } from './cursor.js';
import { parseLiteral } from './names.js';

const units = new Set(['NONE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR']);

/** Parses `PARTITION BY <name>` if it comes next. The name is checked later. */
export function parsePartitionBy(
  cursor: Cursor,
  token: string | undefined,
): { name: string; position: number } | undefined {
  if (!isWord(token, 'partition')) return;
  cursor.expect('by');
  return parseLiteral(cursor);
}

/** The unit of that name, in any case. */
export function parsePartitionUnit(name: string): PartitionUnit | undefined {
  const unit = name.toUpperCase();
  return units.has(unit) ? (unit as PartitionUnit) : undefined;
}
