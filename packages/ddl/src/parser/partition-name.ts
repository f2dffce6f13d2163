import type { PartitionUnit } from '../definition.js';
import { parseTimestamp } from './numbers.js';

/** The number of characters at the beginning of a name that are read, by the unit. A server ignores the rest of a name. */
const PATTERN_LENGTHS = { HOUR: 13, DAY: 10, WEEK: 10, MONTH: 7, YEAR: 4 };

/**
 * Parses the name of a partition. Returns the part of it that is read, and when the partition begins. For weeks, that is not computed, and
 * the part may have more than the 8 characters of `2025-W01` that count.
 */
export function parsePartitionName(text: string, unit: PartitionUnit | undefined) {
  if (!unit || unit === 'NONE') return { name: text };
  const pattern = 'yyyy-MM-ddTHH'.slice(0, PATTERN_LENGTHS[unit]);
  const name = text.slice(0, pattern.length);
  const begin = name.length === pattern.length ? parseTimestamp(name) : undefined;
  const isWeek = unit === 'WEEK' && /^\d{4}-W(?:0[1-9]|[1-4]\d|5[0-3])/.test(name);
  if (isWeek || begin !== undefined) return { name, begin: unit === 'WEEK' ? undefined : begin };
  return { name, problem: `${unit === 'WEEK' ? "'YYYY-Www' or " : ''}'${pattern}' expected, found [ts=${name}]` };
}
