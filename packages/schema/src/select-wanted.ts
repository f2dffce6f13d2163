import { parseRights, printRight } from '@sqlpipe/ddl';
import { displayName, identify, isObjectKind, isRightKind } from '@sqlpipe/sql';
import type { IgnoreRules } from './ignore-rules.js';
import { type Entry, Schema } from './schema.js';

/** The ignored entries that other entries need, each with one of those. @param exists whether an ignored entry exists already */
export function findNeeded(
  schema: Schema,
  isIgnored: (entry: Entry) => boolean,
  exists: (entry: Entry) => boolean = () => false,
): ReadonlyMap<Entry, Entry> {
  const needed = new Map<Entry, Entry>();
  const ignored = new Set(schema.entries.filter(isIgnored));
  const wanted = schema.entries.filter(entry => !ignored.has(entry));
  for (const entry of wanted)
    for (const dependency of schema.dependenciesOf(entry)) {
      if (!ignored.delete(dependency) || exists(dependency)) continue;
      needed.set(dependency, entry);
      wanted.push(dependency); // the list grows during the loop
    }
  return needed;
}

/** Removes from A what is ignored, but not what B lacks and something else needs: `rules` do not ignore this, and `notes` name it. */
export function selectWanted(a: readonly string[], b: Iterable<string>, ignore: IgnoreRules) {
  if (!ignore.hasObjectRules) return { statements: a, rules: ignore, notes: [] };
  const [schema, existing] = [new Schema(a.flatMap(splitRights)), new Schema(b)];
  const exists = ({ kind, name }: Entry) =>
    (isObjectKind(kind) ? existing.findObject(name) : existing.findPrincipal(name)) !== undefined;
  const needed = findNeeded(schema, entry => ignore.ignoresObject(entry), exists);
  const rules = ignore.except(needed.keys());
  return {
    statements: schema.entries.filter(entry => !rules.ignoresObject(entry)).map(({ statement }) => statement),
    rules,
    notes: Array.from(
      needed,
      ([entry, by]) => `${displayName(entry)} is created although it is ignored: ${displayName(by)} needs it`,
    ),
  };
}

/** Splits a statement that gives several rights into one for each, because rules are about single rights. Returns others unchanged. */
export function splitRights(statement: string): string[] {
  const rights = isRightKind(identify(statement).kind) ? parseRights(statement) : undefined;
  return rights ? rights.map(printRight) : [statement];
}
