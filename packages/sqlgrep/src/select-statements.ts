import { collectStatements, type Entry, Schema, toEntry } from '@sqlpipe/schema';

/** What to select in addition to the statements that match. */
export interface DependencyOptions {
  /** Everything that the matches depend on, directly or indirectly. */
  withDeps: boolean;
  /** Everything that depends on the matches, directly or indirectly. */
  withDependents: boolean;
}

/**
 * The statements that match, with their dependencies or dependents if requested, in input order. If neither is
 * requested, the statements are passed on as they arrive.
 */
export async function* selectStatements(
  statements: AsyncIterable<string>,
  matches: (entry: Entry) => boolean,
  { withDeps, withDependents }: DependencyOptions,
): AsyncGenerator<string> {
  if (withDeps || withDependents) {
    const schema = new Schema(await collectStatements(statements));
    let selected = new Set(schema.entries.filter(matches));
    if (withDependents) selected = addReachable(selected, indexDependents(schema));
    if (withDeps) selected = addReachable(selected, entry => schema.prerequisites(entry));
    for (const entry of schema.entries) if (selected.has(entry)) yield entry.statement;
  } else {
    for await (const statement of statements) if (matches(toEntry(statement))) yield statement;
  }
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
