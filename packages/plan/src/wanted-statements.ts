/*! The statements of A that a plan has to lead to: without those that are ignored. */
import { parseRights, printRight } from '@sqlpipe/ddl';
import { type Entry, type IgnoreRules, Schema } from '@sqlpipe/schema';
import { displayName, givesRight, identify, isObject } from '@sqlpipe/sql';

/** What is wanted, and notes about what is wanted although it is ignored. */
export interface WantedStatements {
  readonly statements: readonly string[];
  readonly notes: readonly string[];
}

/** Leaves out what is ignored, unless B lacks it and something else needs it. */
export function selectWanted(a: readonly string[], b: readonly string[], ignore: IgnoreRules): WantedStatements {
  const schema = new Schema(a.flatMap(toSingleRights));
  const isIgnored = new Set(schema.entries.filter(entry => ignore.ignoresObject(entry)));
  if (isIgnored.size === 0) return { statements: a, notes: [] };
  const existing = new Schema(b);
  const isMissing = ({ kind, name }: Entry) =>
    (isObject(kind) ? existing.findObject(name) : existing.findPrincipal(name)) === undefined;
  const wanted = new Set(schema.entries.filter(entry => !isIgnored.has(entry)));
  const notes: string[] = [];
  for (const entry of wanted)
    for (const needed of schema.prerequisites(entry)) {
      if (wanted.has(needed) || !isMissing(needed)) continue;
      wanted.add(needed); // the set grows during the loop
      notes.push(`${displayName(needed)} is created although it is ignored: ${displayName(entry)} needs it`);
    }
  return { statements: schema.entries.filter(entry => wanted.has(entry)).map(({ statement }) => statement), notes };
}

/** A statement that gives several rights, as one for each, because rules are about single rights. */
function toSingleRights(statement: string): string[] {
  const rights = givesRight(identify(statement).kind) ? parseRights(statement) : undefined;
  return rights ? rights.map(printRight) : [statement];
}
