/*! Compares a statement with the object or the rights that the target has, and decides the result of the statement. */
import { InstanceError, type Rejection } from '@sqlpipe/instance';
import { COLUMN_ORDER_REASON } from '@sqlpipe/plan/text';
import type { Entry } from '@sqlpipe/schema';
import { isObjectKind, isPrincipalKind, isRightKind } from '@sqlpipe/sql';
import type { ReplayOptions } from '../options.js';
import { isReordered, type ResultOf, type StatementResult } from '../outcome.js';
import type { ExistingObjects } from '../target/fetched-objects.js';
import type { IgnoredStatements } from '../target/ignored-statements.js';

const SKIP_HELP = 'use --if-exists skip';

interface ComparisonOptions extends Pick<ReplayOptions, 'ifExists'> {
  ignored: IgnoredStatements;
  existing: ExistingObjects;
}

/** `skipped` if the target has what the statement says. */
export type MatchResult = ResultOf<'skipped' | 'differs'>;

/** Compares a statement with the existing object or rights. Undefined if the target has none, or does not show them. */
export async function compareExisting(
  entry: Entry,
  { existing, ignored }: Omit<ComparisonOptions, 'ifExists'>,
): Promise<MatchResult | undefined> {
  if (isRightKind(entry.kind)) return compareRights(entry.statement, existing);
  const found = await existing.fetchStatement(entry);
  if (found === undefined) return undefined;
  const comparison = ignored.rules.withoutIgnored(entry, await existing.compareStatements(entry.statement, found));
  if (comparison.differences.length === 0) return { result: 'skipped', comparison };
  const differs = { result: 'differs', error: 'already exists with a different definition', comparison } as const;
  if (isReordered(differs)) return { ...differs, error: COLUMN_ORDER_REASON };
  if (!comparison.isTokenComparison) return differs;
  // A newer version may print the same definition in different words.
  const error = `already exists with a different text, and the definitions cannot be compared; if they mean the same, ${SKIP_HELP}`;
  return { ...differs, error };
}

/** A GRANT without the grant option removes an existing one, which is a difference. @returns undefined if rights are missing or hidden */
async function compareRights(statement: string, { acl }: ExistingObjects): Promise<MatchResult | undefined> {
  const comparison = await acl.compareRights(statement);
  if (!comparison) return undefined;
  if (comparison.differences.length === 0) return comparison.exists ? { result: 'skipped', comparison } : undefined;
  const error =
    'already granted WITH GRANT OPTION, which this statement would remove; it was not sent; add the option, or revoke it first';
  return { result: 'differs', error, comparison };
}

export function resolveExisting(match: MatchResult, ifExists: ReplayOptions['ifExists']): StatementResult {
  if (ifExists === 'compare') return match;
  return ifExists === 'skip' ? { result: 'skipped' } : { result: 'rejected', error: 'already exists' };
}

/** @param match the comparison before the statement was sent; undefined if there was none */
export async function resolveRejection(
  entry: Entry,
  rejection: Rejection,
  match: MatchResult | undefined,
  options: ComparisonOptions,
): Promise<StatementResult> {
  const { ifExists, existing } = options;
  const { message: error, position, isDenied } = rejection;
  const rejected: ResultOf<'rejected'> = { result: 'rejected', error, isDenied, position };
  // Of a CREATE, the message is about the object. Of an ALTER, it may be about a column.
  // The server says this of a taken name, and of a name that is too long for a folder (observed on 9.3.4). For principals it is unknown.
  const exists = entry.kind !== 'other' && rejection.matches(/already exists/);
  const concernsPrincipal = isPrincipalKind(entry.kind);
  if (ifExists === 'fail') return { ...rejected, exists };
  if (!exists && isDenied) return rejected;
  const why = `${error}, and it cannot be compared`;
  const incomparable: ResultOf<'rejected'> = { ...rejected, error: `${why}; ${SKIP_HELP}`, exists };
  try {
    if (exists && ifExists === 'skip')
      return !isObjectKind(entry.kind) || (await existing.fetchIsTaken(entry)) ? { result: 'skipped' } : rejected;
    const found = match ?? (await compareExisting(entry, options));
    if (found && (exists || found.result === 'skipped')) return resolveExisting(found, ifExists);
    return exists && concernsPrincipal ? incomparable : rejected;
  } catch (failure) {
    if (!(failure instanceof InstanceError)) throw failure;
    if (!exists && !concernsPrincipal) return rejected;
    if (failure.serverMessage === undefined) return { ...rejected, error: `${why}: ${failure.message}`, failure };
    if (ifExists === 'skip') return { result: 'skipped' };
    return { ...incomparable, error: `${why}: ${failure.serverMessage}; ${SKIP_HELP}` };
  }
}
