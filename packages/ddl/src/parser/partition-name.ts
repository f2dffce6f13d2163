import type { PartitionUnit } from '../definition.js';
import { parseTimestamp } from './numbers.js';

/** How a name begins, by the unit. A server ignores the rest of a name. The two forms of a week are not parsed. */
const PATTERNS: { readonly [unit in PartitionUnit]?: string } = {
  HOUR: 'yyyy-MM-ddTHH',
  DAY: 'yyyy-MM-dd',
  MONTH: 'yyyy-MM',
  YEAR: 'yyyy',
};

/** Parses the name of a partition. @returns the part of it that counts, and when the partition begins, if the name fits the pattern */
export function parsePartitionName(text: string, unit: PartitionUnit | undefined) {
  const pattern = unit && PATTERNS[unit];
  const name = text.slice(0, pattern?.length);
  return { pattern, name, begin: name.length === pattern?.length ? parseTimestamp(name) : undefined };
}
