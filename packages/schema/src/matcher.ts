/*! Which statements match: by their kind, and by the names of the objects or principals that they concern. */
import { foldCase } from '@sqlpipe/sql';
import { matchesGlob } from './glob.js';
import { searchableNames } from './ignore.js';
import type { Entry } from './schema.js';
import { InvalidSelectionError, parseKinds } from './selection.js';

/** What a statement has to match. */
export interface MatchCriteria {
  /** Globs that match whole names. */
  patterns: readonly string[];
  /** Regular expressions that match parts of names. */
  regexp?: string[] | undefined;
  /** Kinds and categories, separated by commas. */
  kind?: string[] | undefined;
  /** Select what does not match. */
  invertMatch?: boolean;
}

/**
 * Returns a function that says whether a statement matches. The statement must have one of the kinds, and one of its
 * names must match a pattern or an expression, in any case. Without kinds every kind matches, and without patterns and
 * expressions every name.
 * @throws InvalidSelectionError for an unknown kind or an invalid regular expression
 */
export function createMatcher({
  patterns,
  regexp = [],
  kind = [],
  invertMatch = false,
}: MatchCriteria): (entry: Entry) => boolean {
  const globs = patterns.map(foldCase);
  const expressions = regexp.map(parseRegexp);
  const kinds = parseKinds(kind);
  const matchesAnyName = !globs.length && !expressions.length;
  const matches = (name: string): boolean =>
    globs.some(glob => matchesGlob(glob, foldCase(name))) || expressions.some(each => each.test(name));
  return entry =>
    ((!kinds.size || kinds.has(entry.kind)) && (matchesAnyName || searchableNames(entry).some(matches))) !==
    invertMatch;
}

function parseRegexp(source: string): RegExp {
  try {
    return new RegExp(source, 'iu');
  } catch (error) {
    throw new InvalidSelectionError((error as Error).message);
  }
}
