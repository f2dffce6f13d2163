/*! Streams of recorded statements: of complete databases, and of single statements with the objects that they name. */
import { foldCase, identify, normalizeStatement } from '@sqlpipe/sql';
import { CORPUS, type Recorded, readCorpus } from './corpus.js';
import { databases } from './databases.js';
import { type Randomness, randomness } from './schema-pairs.js';
import type { StatementStream } from './statement-streams.js';

/** They stop a server, need files or much time, or change what a later stream finds. */
const UNSUITABLE =
  /long_sequence\(\s*[\d_]{6,}|\b(?:SUSPEND|CHECKPOINT|SNAPSHOT|BACKUP|SYSTEM|DATABASE|COPY|read_parquet|sleep)\b|\bDROP\s+(?:ALL|DATABASE|TABLES)\b/i;

const read = (name: string): Recorded[] =>
  readCorpus(name).filter(({ sql, status, server_config }) => status !== null && !server_config && isSingle(sql));

/** Whether a text is one statement of a moderate length for our programs too, which read it before a server does. */
function isSingle(sql: string): boolean {
  if (sql.length > 5000 || UNSUITABLE.test(sql) || /[\0\ud800-\udfff]/u.test(sql)) return false;
  try {
    return normalizeStatement(sql) !== '';
  } catch {
    return false;
  }
}

let tables: Map<string, Recorded[]> | undefined;
let views: Recorded[] | undefined;
let changes: Recorded[] | undefined;

function load() {
  tables ??= groupByName(read('tables').filter(({ setup }) => setup.every(isSingle)));
  views ??= read('views');
  changes ??= read('statements').filter(({ kind }) => kind === 'alter' || kind === 'drop' || kind === 'other');
  return { tables, views, changes };
}

function groupByName(recorded: readonly Recorded[]): Map<string, Recorded[]> {
  const groups = new Map<string, Recorded[]>();
  for (const each of recorded) {
    const name = foldCase(identify(each.sql).name);
    groups.set(name, [...(groups.get(name) ?? []), each]);
  }
  return groups;
}

/** The stream of a seed; undefined if the recordings are missing. */
export function recordedStream(seed: number): StatementStream | undefined {
  if (CORPUS === undefined) return undefined;
  const random = randomness(seed ^ 0xc0 ^ (seed << 8));
  const [source, make] = random.pick(Object.entries(SOURCES));
  return { seed, source, ...make(random) };
}

type Parts = Pick<StatementStream, 'target' | 'statements'>;

const SOURCES: Record<string, (random: Randomness) => Parts> = {
  'recorded database': fromDatabase,
  'recorded database in another order': random => {
    const { target, statements } = fromDatabase(random);
    return { target, statements: shuffle(statements, random) };
  },
  'recorded tables': random => {
    const all = [...load().tables.values()].flat();
    const chosen = Array.from({ length: 6 }, () => random.pick(all));
    return {
      target: chosen.slice(0, 2).flatMap(({ setup, sql }) => [...setup, sql]),
      statements: chosen.slice(1).flatMap(({ setup, sql }) => [...setup, sql]),
    };
  },
  'recorded views': random => {
    const chosen = Array.from({ length: 3 }, () => random.pick(load().views));
    const bases = chosen.flatMap(({ base_ddl = [] }) => base_ddl).filter(isSingle);
    const isFilled = random.chance(0.5);
    return { target: isFilled ? bases : [], statements: [...(isFilled ? [] : bases), ...chosen.map(({ sql }) => sql)] };
  },
  'recorded changes': random => {
    const chosen = Array.from({ length: 4 }, () => random.pick(load().changes));
    const named = chosen.flatMap(({ sql }) => findNamedTable(sql, random) ?? []);
    return { target: named.slice(0, 2), statements: [...named.slice(2), ...chosen.map(({ sql }) => sql)] };
  },
};

function findNamedTable(sql: string, random: Randomness): string[] | undefined {
  const words = sql.match(/[\p{L}_][\p{L}\d_]*/gu) ?? [];
  const found = words.map(word => load().tables.get(foldCase(word))).find(each => each !== undefined);
  const table = found && random.pick(found);
  return table && [...table.setup, table.sql];
}

/** Some neighbours of a recorded database; the first of them exist. */
function fromDatabase(random: Randomness): Parts {
  const creation = random.pick(databases).creation.filter(isSingle);
  const start = random.below(Math.max(1, creation.length - 14));
  const chosen = creation.slice(start, start + 14);
  return { target: chosen.slice(0, random.below(10)).filter(() => random.chance(0.8)), statements: chosen };
}

function shuffle<T>(items: readonly T[], random: Randomness): T[] {
  return items
    .map(item => ({ item, key: random.below(2 ** 30) }))
    .toSorted((one, other) => one.key - other.key)
    .map(({ item }) => item);
}
