import { changedObjects } from '@sqlpipe/plan/text';
import type { Outcome } from '@sqlpipe/replay';
import { redact } from '@sqlpipe/sql';
import { formatSafeJson } from '@sqlpipe/text';

/**
 * One line of a report: a JSON object with `n`, `verb`, `kind` and `name` (of what the statement creates or changes),
 * `statement` (without its secrets), `result`, `ms` and, if they exist, `time` (not in a dry run), `error`, `position` (UTF-16
 * code units into the statement), `proven`, `replaced` and, in a dry run, `effects`. It is safe to show.
 */
export function formatReportLine(
  { n, identity, statement, result, time, error, position, proven, replaced, effects, ms }: Outcome,
  { dryRun }: { readonly dryRun: boolean },
): string {
  const { kind, name } = changedObjects(statement)[0] ?? identity;
  return `${formatSafeJson({
    n,
    verb: identity.verb,
    kind,
    name,
    statement: redactStatement(statement),
    result,
    time: dryRun ? undefined : time?.toISOString(),
    error,
    position,
    proven,
    replaced: replaced && true,
    effects,
    ms,
  })}\n`;
}

/** A statement as it is sent, without its secrets and their lengths. */
export const redactStatement = (statement: string): string => redact(statement, () => '***');
