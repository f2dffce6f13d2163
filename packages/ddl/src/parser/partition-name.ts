import type { PartitionUnit } from '../definition.js';
import { parseTimestamp } from './numbers.js';

/** How a name begins, by the unit. A server ignores the rest of a name. */
const NAME_PATTERNS: { readonly [unit in PartitionUnit]?: string } = {
  HOUR: 'yyyy-MM-ddTHH',
  DAY: 'yyyy-MM-dd',
  WEEK: 'yyyy-MM-dd',
  MONTH: 'yyyy-MM',
  YEAR: 'yyyy',
};

/**
 * Parses the name of a partition. Returns the part of it that counts, and when the partition begins, if that is known. It is not known for
 * weeks, whose names have two forms.
 */
export function parsePartitionName(text: string, unit: PartitionUnit | undefined) {
  const pattern = unit && NAME_PATTERNS[unit];
  if (!pattern) return { name: text };
  const name = text.slice(0, pattern.length);
  const begin = name.length === pattern.length ? parseTimestamp(name) : undefined;
  const isWeek = unit === 'WEEK' && /^\d{4}-W(?:0[1-9]|[1-4]\d|5[0-3])/.test(name);
  if (isWeek || begin !== undefined) return { name, begin: unit === 'WEEK' ? undefined : begin };
  return { name, problem: `${unit === 'WEEK' ? "'YYYY-Www' or " : ''}'${pattern}' expected, found [ts=${name}]` };
}
