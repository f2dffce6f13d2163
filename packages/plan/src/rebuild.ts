/*! Recreates a table if no ALTER can change what differs. As documented by QuestDB, the old table is kept. */
import { createHash } from 'node:crypto';
import { findColumn, isLossless, printDefinition, type TableDefinition } from '@sqlpipe/ddl';
import { isShorterRetention } from '@sqlpipe/engine';
import { foldCase } from '@sqlpipe/sql';
import type { Draft } from './draft.js';
import { withoutComments } from './history.js';
import type { Loss } from './losses.js';
import type { Requests } from './requests.js';
import type { Task } from './task.js';

/** The statements of a rebuild. */
export interface Rebuild {
  readonly statements: readonly string[];
  /** The name of the old table after the rebuild. */
  readonly oldName: string;
}

/** Parses `TABLE_new_MARK` or `TABLE_before_MARK`; the mark is the same for all names of one rebuild. */
function parseRebuildName(name: string): { table: string; role: 'new' | 'before'; mark: string } | undefined {
  const [, table, role, mark] = /^(.+)_(new|before)_([0-9a-f]{8})$/s.exec(name) ?? [];
  return table && mark ? { table, role: role as 'new' | 'before', mark } : undefined;
}

/**
 * Creates a new table under a temporary name, copies the rows of the old table, and exchanges the names if both tables have
 * the same number of rows.
 * @param renamed the new names of columns by their old names
 */
export function rebuildTable(
  wanted: TableDefinition,
  now: TableDefinition,
  renamed: ReadonlyMap<string, string>,
  dropOld: boolean,
): Rebuild {
  const mark = createHash('sha256')
    .update(printDefinition(wanted))
    .update(printDefinition(now))
    .digest('hex')
    .slice(0, 8);
  const [newName, oldName] = [`${now.name}_new_${mark}`, `${now.name}_before_${mark}`];
  const sources = new Map([...renamed].map(([from, to]) => [foldCase(to), from]));
  const copied = wanted.columns.flatMap(column => {
    const from = sources.get(foldCase(column.name)) ?? column.name;
    const source = findColumn(now, from);
    return source ? [{ column, source }] : [];
  });
  const targets = copied.map(({ column }) => quote(column.name)).join(', ');
  const values = copied
    .map(({ column, source }) =>
      column.type === source.type ? quote(source.name) : `CAST(${quote(source.name)} AS ${column.type})`,
    )
    .join(', ');
  return {
    oldName,
    statements: [
      printDefinition({ ...wanted, name: newName }, { quoted: true }),
      `INSERT INTO '${newName}' (${targets}) SELECT ${values} FROM '${now.name}';`,
      printRowCountAssertion(now.name, newName),
      `RENAME TABLE '${now.name}' TO '${oldName}';`,
      `RENAME TABLE '${newName}' TO '${now.name}';`,
      ...(dropOld ? [`DROP TABLE '${oldName}';`] : []),
    ],
  };
}

/** The assertion that two tables have as many rows. */
const printRowCountAssertion = (one: string, other: string): string =>
  `SELECT a.n = b.n AS as_many_rows FROM (SELECT count() n FROM '${one}') a CROSS JOIN (SELECT count() n FROM '${other}') b;`;

/** Whether a statement, after its comments, is the assertion that two tables have as many rows. */
export function isRowCountAssertion(statement: string): boolean {
  const [, one, other] =
    /FROM '([^']+)'\) a CROSS JOIN \(SELECT count\(\) n FROM '([^']+)'\) b;$/.exec(statement) ?? [];
  return one !== undefined && other !== undefined && withoutComments(statement) === printRowCountAssertion(one, other);
}

const quote = (name: string): string => `"${name}"`;

/** Whether an earlier, interrupted rebuild has created a table of this name. An old table that it kept is not a difference. */
export function isPartOfRebuild(name: string, requests: Requests): boolean {
  const { table } = parseRebuildName(name) ?? {};
  return table !== undefined && requests.isToRebuild(table);
}

/**
 * Completes interrupted rebuilds. If a rebuild ended between its two renames, the new table was checked and is renamed;
 * otherwise the new table may be incomplete and is dropped.
 */
export function resumeRebuilds({ a, requests }: Task, draft: Draft): void {
  for (const { name } of [...draft.engine.objects()]) {
    const { table = '', role, mark } = parseRebuildName(name) ?? {};
    if (role !== 'new' || !requests.isToRebuild(table) || a.findObject(name)) continue;
    const isExchanged = !draft.engine.find(table) && draft.engine.find(`${table}_before_${mark}`);
    const statement = isExchanged ? `RENAME TABLE '${name}' TO '${table}';` : `DROP TABLE '${name}';`;
    draft.addStatement(statement, { kind: 'table', name, verb: '' });
  }
}

/** What a rebuild loses: what the new table does not keep, and with the old table what only that one has. */
export function findRebuildLosses(
  wanted: TableDefinition,
  now: TableDefinition,
  renamed: ReadonlyMap<string, string>,
  dropOld: boolean,
): Loss[] {
  const object = now.name;
  const newNames = new Map([...renamed].map(([from, to]) => [foldCase(from), to]));
  const columns = now.columns.map(column => ({
    column,
    kept: findColumn(wanted, newNames.get(foldCase(column.name)) ?? column.name),
  }));
  const ofColumns = columns.flatMap(({ column, kept }): Loss[] => {
    if (!kept) return [{ loss: 'drop', object, column: column.name }];
    return isLossless(column.type, kept.type) ? [] : [{ loss: 'values', object, column: column.name }];
  });
  const losesKeys = columns.some(({ column, kept }) => column.dedup && !kept?.dedup);
  return [
    ...(dropOld ? ofColumns : []),
    ...(isShorterRetention(wanted, now) ? [{ loss: 'ttl', object } as const] : []),
    ...(losesKeys ? [{ loss: 'keys', object } as const] : []),
  ];
}
