import type { Outcome } from '@sqlpipe/replay';
import { formatSafeJson } from '@sqlpipe/sql';

/**
 * One line of a report: a JSON object with `n`, `kind`, `name`, `result`, `ms` and, if they exist, `error`, `position`
 * (UTF-16 code units into the statement), `proven`, `replaced` and, in a dry run, `effects`. It never contains the
 * statement's text, and is safe to show.
 */
export function formatReportLine({
  n,
  identity: { kind, name },
  result,
  error,
  position,
  proven,
  replaced,
  effects,
  ms,
}: Outcome): string {
  const replaces = replaced && true;
  return `${formatSafeJson({ n, kind, name, result, error, position, proven, replaced: replaces, effects, ms })}\n`;
}
