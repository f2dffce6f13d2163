/*! Which objects an instance has, and of which kinds, as its catalogue functions tell. */
import { foldCase, type Kind, quoteLiteral } from '@sqlpipe/sql';
import { InstanceError } from './error.js';
import type { Instance } from './instance.js';

/** An object by its kind and name. */
export interface ObjectName {
  kind: Kind;
  name: string;
}

/** What `table_type` of tables() stands for (observed on 9.3.4). */
const TYPES: Record<string, Kind> = { T: 'table', V: 'view', M: 'matview' };

/** All objects, by name. */
export async function allObjects(source: Instance): Promise<ObjectName[]> {
  const entries = await ask(source, 'SELECT table_name, table_type FROM tables() ORDER BY table_name');
  return (
    entries?.map(([name, type]) => ({ name: String(name), kind: TYPES[String(type)] ?? 'other' })) ?? byName(source)
  );
}

/** Those of the names, folded, that something else than a table has. */
export async function takenByViews(source: Instance, names: readonly string[]): Promise<Set<string>> {
  const folded = names.map(foldCase);
  const list = folded.map(quoteLiteral).join(', ');
  const rows = await ask(
    source,
    `SELECT table_name FROM tables() WHERE table_type <> 'T' AND lower(table_name) IN (${list})`,
  );
  if (rows) return new Set(rows.map(([name]) => foldCase(String(name))));
  const views = (await byName(source)).filter(({ kind }) => kind !== 'table');
  return new Set(views.map(({ name }) => foldCase(name)));
}

/** Asks tables(); undefined where it is refused: a view called `tables` hides the function (observed on 9.3.4). */
async function ask(source: Instance, query: string): Promise<unknown[][] | undefined> {
  try {
    return await source.table(query);
  } catch (error) {
    if (!(error instanceof InstanceError) || error.code !== 'REFUSED') throw error;
    return undefined;
  }
}

/** All objects, by way of the functions for each kind. */
async function byName(source: Instance): Promise<ObjectName[]> {
  const names = async (query: string) => (await source.table(query)).map(([name]) => String(name)).sort();
  const views = new Set(await names('SELECT view_name FROM views()'));
  const matviews = new Set(await names('SELECT view_name FROM materialized_views()'));
  const kindOf = (name: string): Kind => (views.has(name) ? 'view' : matviews.has(name) ? 'matview' : 'table');
  return (await names('SHOW TABLES')).map(name => ({ name, kind: kindOf(name) }));
}
