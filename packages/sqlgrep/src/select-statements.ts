import { Catalog, collectStatements, type Entry, toEntry } from '@sqlpipe/schema';

/** What to select together with the statements that match. */
export interface DependencyOptions {
  /** Everything that they depend on, directly or not. */
  withDeps: boolean;
  /** Everything that depends on them, directly or not. */
  withDependents: boolean;
}

/**
 * The statements that match, with their dependencies or dependents if requested, in input order. Without those they are
 * passed on as they arrive.
 */
export async function* selectStatements(
  statements: AsyncIterable<string>,
  matches: (entry: Entry) => boolean,
  { withDeps, withDependents }: DependencyOptions,
): AsyncGenerator<string> {
  if (withDeps || withDependents) {
    const catalog = new Catalog(await collectStatements(statements));
    let chosen = new Set(catalog.entries.filter(matches));
    if (withDependents) chosen = addReachable(chosen, indexDependents(catalog));
    if (withDeps) chosen = addReachable(chosen, entry => catalog.prerequisites(entry));
    for (const entry of catalog.entries) if (chosen.has(entry)) yield entry.statement;
  } else {
    for await (const statement of statements) if (matches(toEntry(statement))) yield statement;
  }
}

/** What needs an entry. */
function indexDependents(catalog: Catalog): (entry: Entry) => Entry[] {
  const found = new Map(catalog.entries.map((entry): [Entry, Entry[]] => [entry, []]));
  for (const entry of catalog.entries)
    for (const required of catalog.prerequisites(entry)) found.get(required)?.push(entry);
  return entry => found.get(entry) ?? [];
}

/** The entries and everything that is reachable from them. */
function addReachable(entries: Iterable<Entry>, next: (entry: Entry) => Iterable<Entry>): Set<Entry> {
  const reached = new Set(entries);
  for (const entry of reached) for (const other of next(entry)) reached.add(other); // grows while it is walked
  return reached;
}
