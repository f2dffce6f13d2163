/*! Which statements match: by kind, and by the name of what they create or concern. */

import { UsageError } from '@sqlpipe/cli';
import { grantTargets } from '@sqlpipe/ddl';
import { type Entry, parseKinds } from '@sqlpipe/schema';
import { foldCase } from '@sqlpipe/sql';
import { matchesGlob } from './glob.js';

export interface Criteria {
  /** Globs for whole names. */
  patterns: string[];
  /** Regular expressions for parts of names. */
  regexp?: string[] | undefined;
  /** Kinds and categories, separated by commas. */
  kind?: string[] | undefined;
  /** Select what does not match. */
  invertMatch: boolean;
}

/**
 * Returns a function that says whether a statement matches. It has to be of one of the kinds, and its name has to
 * match one of the patterns and expressions, in any case; where none are given, all do.
 * @throws InvalidSelectionError for an unknown kind, UsageError for an expression that is none
 */
export function createMatcher({ patterns, regexp = [], kind = [], invertMatch }: Criteria): (entry: Entry) => boolean {
  const globs = patterns.map(foldCase);
  const expressions = regexp.map(parseRegexp);
  const kinds = parseKinds(kind);
  const anyName = !globs.length && !expressions.length;
  const matches = (name: string): boolean =>
    globs.some(glob => matchesGlob(glob, foldCase(name))) || expressions.some(each => each.test(name));
  return entry =>
    ((!kinds.size || kinds.has(entry.kind)) && (anyName || searchableNames(entry).some(matches))) !== invertMatch;
}

/**
 * The names by which a statement is matched. A grant is matched by the objects that it is on, a membership with its
 * user, an assumption with its service account; a grant on the database or on all tables, by its receiver.
 */
function searchableNames({ kind, name, statement }: Entry): string[] {
  const { objects, principals } = grantTargets(statement, kind);
  return objects.length ? objects : [principals[0] ?? name];
}

function parseRegexp(source: string): RegExp {
  try {
    return new RegExp(source, 'iu');
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
