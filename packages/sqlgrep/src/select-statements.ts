import { Catalog, collectStatements, type Entry, toEntry } from '@sqlpipe/schema';

/** What goes with the statements that are asked for. */
export interface DependencyOptions {
  /** All that they need, and what that needs. */
  withDeps: boolean;
  /** All that needs them, and what needs that. */
  withDependents: boolean;
}

/** The statements that are asked for and their company, in the order they had. Alone, they leave as they come. */
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

/** Some entries and all that one comes to from them, step by step. */
function addReachable(entries: Iterable<Entry>, next: (entry: Entry) => Iterable<Entry>): Set<Entry> {
  const reached = new Set(entries);
  for (const entry of reached) for (const other of next(entry)) reached.add(other); // grows while it is walked
  return reached;
}
