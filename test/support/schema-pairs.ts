/*! Generates random pairs of schemas: a schema, and the same schema after some changes. A seed always gives the same pair. */
import { type TableDefinition, tryParseDefinition } from '@sqlpipe/ddl';
import { editSome, TAKING_NAMES } from './row-edits.js';
import { find, Names, newSchema, printSchema, type Relation } from './row-schemas.js';

export interface SchemaPair {
  /** The statements of the existing schema, in an order in which they can be created. */
  readonly before: string[];
  readonly after: string[];
  /** Values of --renamed: OLD=NEW. */
  readonly renamed: string[];
  readonly changes: string[];
  /** The tables of `before`, into which rows can be inserted. */
  readonly tables: TableDefinition[];
  /** Maps names of tables and columns in `before` to their names in `after`. */
  readonly names: ReadonlyMap<string, { name: string; columns: ReadonlyMap<string, string> }>;
}

/** A random number generator (mulberry32). A seed always gives the same numbers. */
export function randomness(seed: number) {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value ^= value + Math.imul(value ^ (value >>> 7), 61 | value);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    chance: (share: number): boolean => next() < share,
    below: (limit: number): number => Math.floor(next() * limit),
    pick: <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T,
  };
}

export type Randomness = ReturnType<typeof randomness>;

/**
 * Generates the pair of a seed: a schema of row-schemas.ts, and what changes of row-edits.ts make of it, without those that give an
 * object or a column the name of another one.
 */
export function schemaPair(seed: number): SchemaPair {
  const random = randomness(seed);
  const names = new Names();
  const schema = newSchema(names, random, true);
  const draft = { schema: structuredClone(schema), names, stated: new Map(), rebuilt: new Set<number>() };
  const changes = editSome(draft, random, edit => !TAKING_NAMES.has(edit));
  const [before, after] = [printSchema(schema), printSchema(draft.schema)];
  if (after.some(statement => !tryParseDefinition(statement))) return schemaPair(seed + 1e6); // no server would accept it
  const tables = before.map(statement => tryParseDefinition(statement)).filter(each => each?.kind === 'table');
  const remaining = schema.relations.flatMap(was => {
    const is = was.kind === 'table' && find(draft.schema, was.uid);
    return is ? [[was.name, { name: is.name, columns: renamedColumns(was, is) }] as const] : [];
  });
  const renamed = remaining.flatMap(([from, { name, columns }]) => [
    ...(name === from ? [] : [`'${from}'='${name}'`]),
    ...Array.from(columns, ([column, to]) => `'${from}'.'${column}'='${to}'`),
  ]);
  return { before, after, renamed, changes, tables, names: new Map(remaining) };
}

function renamedColumns(was: Relation, is: Relation): Map<string, string> {
  const renamed = was.columns.flatMap(({ uid, name }) => {
    const to = is.columns.find(each => each.uid === uid)?.name ?? name;
    return to === name ? [] : [[name, to] as const];
  });
  return new Map(renamed);
}
