/*! Which statements match: by their kind, and by the names of what they concern; and what those need, or what needs them. */

import { foldCase } from '@sqlpipe/sql';
import { matchesGlob } from './glob.js';
import { searchableNames } from './ignore.js';
import type { Entry, Schema } from './schema.js';
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

/** What to select in addition to the statements that match. */
export interface RelatedOptions {
  /** Everything that the matches depend on, directly or indirectly. */
  withDeps?: boolean;
  /** Everything that depends on the matches, directly or indirectly. */
  withDependents?: boolean;
}

/** The entries of a schema that match, with their dependencies or dependents if requested, in the order of the schema. */
export function selectWithRelated(
  schema: Schema,
  matches: (entry: Entry) => boolean,
  { withDeps, withDependents }: RelatedOptions,
): Entry[] {
  let selected = new Set(schema.entries.filter(matches));
  if (withDependents) selected = addReachable(selected, indexDependents(schema));
  if (withDeps) selected = addReachable(selected, entry => schema.prerequisites(entry));
  return schema.entries.filter(entry => selected.has(entry));
}

/** Returns a function that finds the entries that need an entry. */
function indexDependents(schema: Schema): (entry: Entry) => Entry[] {
  const dependents = new Map(schema.entries.map((entry): [Entry, Entry[]] => [entry, []]));
  for (const entry of schema.entries)
    for (const required of schema.prerequisites(entry)) dependents.get(required)?.push(entry);
  return entry => dependents.get(entry) ?? [];
}

/** The entries and everything that is reachable from them. */
function addReachable(entries: Iterable<Entry>, next: (entry: Entry) => Iterable<Entry>): Set<Entry> {
  const reached = new Set(entries);
  for (const entry of reached) for (const other of next(entry)) reached.add(other); // the set grows during the loop
  return reached;
}
