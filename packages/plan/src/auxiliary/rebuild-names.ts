/*!
 * A rebuild of `t` copies it to `t_new_1a2b3c4d`, then renames `t` to `t_before_1a2b3c4d` and the new table to `t`. By the hash of both
 * definitions, a later plan recognizes an interrupted rebuild. A hash is never a number: `t_before_20240101` is a user's table.
 */
import { createHash } from 'node:crypto';
import { printDefinition, type TableDefinition } from '@sqlpipe/ddl';
import type { Engine } from '@sqlpipe/engine';
import type { Schema } from '@sqlpipe/schema';
import { NameSet } from '@sqlpipe/sql';

export const createRebuildNames = (table: string, hash: string) => ({
  newName: `${table}_new_${hash}`,
  keptName: `${table}_before_${hash}`,
});

export function parseRebuildName(name: string): { table: string; role: 'new' | 'old'; hash: string } | undefined {
  const [, table, role, hash] = /^(.+)_(new|before)_(?!\d+$)([0-9a-f]{8})$/s.exec(name) ?? [];
  return table && hash ? { table, role: role === 'new' ? 'new' : 'old', hash } : undefined;
}

export const findRebuildTables = ({ catalogue }: Engine, role: 'new' | 'old') =>
  catalogue.list().flatMap(({ name }) => {
    const parsed = parseRebuildName(name);
    return parsed?.role === role ? [{ name, ...parsed }] : [];
  });

/** @param earlierCount how often the same rebuild was made before */
const hashRebuild = (wanted: TableDefinition, current: TableDefinition, earlierCount: number): string =>
  createHash('sha256')
    .update(printDefinition(wanted))
    .update(printDefinition({ ...current, name: wanted.name }))
    .update(earlierCount === 0 ? '' : String(earlierCount))
    .digest('hex')
    .slice(0, 8)
    .replace(/^\d(\d+)$/, 'a$1');

/** If the same rebuild was made before, its old table may still have one of the names. Then another hash is needed. */
export function findUnusedHash(wanted: TableDefinition, current: TableDefinition, engine: Engine): string {
  for (let earlierCount = 0; ; earlierCount++) {
    const hash = hashRebuild(wanted, current, earlierCount);
    if (!Object.values(createRebuildNames(current.name, hash)).some(name => engine.find(name))) return hash;
  }
}

/** Whether a hash is that of a rebuild of a table, also if the same rebuild was made before. */
export function isRebuildHash(hash: string, wanted: TableDefinition, current: TableDefinition, engine: Engine) {
  for (let earlierCount = 0; ; earlierCount++) {
    const expected = hashRebuild(wanted, current, earlierCount);
    if (expected === hash) return true;
    if (!engine.find(createRebuildNames(wanted.name, expected).keptName)) return false;
  }
}

/** The new tables of interrupted rebuilds that this plan would make again. A table with another hash may hold rows that are needed. */
export function findLeftovers(a: Schema, b: Engine, tablesToRebuild: NameSet): NameSet {
  const leftovers = new NameSet();
  for (const { name, table, hash } of findRebuildTables(b, 'new')) {
    if (!tablesToRebuild.has(table) || a.findObject(name)) continue;
    const wanted = a.definitionOf(table);
    const sources = [table, createRebuildNames(table, hash).keptName].map(source => b.definitionOf(source));
    const hasHash = (former: (typeof sources)[number]) =>
      wanted?.kind === 'table' && former?.kind === 'table' && isRebuildHash(hash, wanted, former, b);
    if (sources.some(hasHash)) leftovers.add(name);
  }
  return leftovers;
}

/** Finds tables of A that are not created: a rebuild that was interrupted between its RENAMEs has their rows, and is not continued. */
export function findTablesBetweenRenames(a: Schema, b: Engine, leftovers: NameSet): NameSet {
  const found = findRebuildTables(b, 'new').filter(
    ({ name, table, hash }) =>
      !leftovers.has(name) &&
      !a.findObject(name) &&
      a.findObject(table)?.kind === 'table' &&
      !b.find(table) &&
      b.find(createRebuildNames(table, hash).keptName) !== undefined,
  );
  return new NameSet(found.map(({ table }) => table));
}
