import { formatSafeJson } from '@sqlpipe/sql';
import type { Outcome } from './outcome.js';

/**
 * One line of a report: a JSON object with `n`, `kind`, `name`, `result`, `ms`, and where there is one `error`,
 * `position` (UTF-16 code units into the statement) and `proven`. Never the statement's text. Safe to show.
 */
export function reportLine({ n, identity: { kind, name }, result, error, position, proven, ms }: Outcome): string {
  return `${formatSafeJson({ n, kind, name, result, error, position, proven, ms })}\n`;
}
