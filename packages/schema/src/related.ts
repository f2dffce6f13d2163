/*! What the objects of a schema need, and what needs them, directly and indirectly. */
import type { Entry, Schema } from './schema.js';

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
