/*! What a server is asked about the rows of a materialized view. */
import { findReferences, type MaterializedViewDefinition } from '@sqlpipe/ddl';
import { foldCase } from '@sqlpipe/sql';
import { tableOfRebuild } from './rebuild.js';
import type { Task } from './task.js';
import { type CommonQuery, printWith } from './text/common-queries.js';
import { restateQuery } from './text/history.js';

/** A materialized view of B, whose query may have new names for what was renamed after it was stated. */
export interface AskedView {
  readonly definition: MaterializedViewDefinition;
  /** The new names that the query needs, by the old ones. */
  readonly renamed: ReadonlyMap<string, string>;
  /** Whether the query is not that of the view: the names in it are those before the plan. */
  readonly isRestated: boolean;
}

/** The view as a server can be asked about it: an interrupted plan may have renamed or dropped what its query reads. */
export function findAskedView(name: string, task: Task): AskedView | undefined {
  const { before, requests, leftovers } = task;
  const definition = before.definitionOf(name);
  if (definition?.kind !== 'materialized view') return undefined;
  if (before.whyUnresolvable(name) === undefined) return { definition, renamed: new Map(), isRestated: false };
  const exchanged = [...before.objects()].flatMap(({ name }) => {
    const table = leftovers.has(foldCase(name)) ? tableOfRebuild(name) : undefined;
    return table === undefined || before.find(table) ? [] : [[foldCase(table), name] as const];
  });
  const renamed = new Map([...requests.renames.statedNames, ...exchanged]);
  const { body, used } = restateQuery(definition.body, renamed);
  const asked = { ...definition, body: printWith(findDropped(body, task), body) };
  return { definition: asked, renamed: used, isRestated: true };
}

/** The views that a query reads and B lacks, as they will be created, each after those that it reads. */
function findDropped(body: string, task: Task): CommonQuery[] {
  const missing = findReferences(`CREATE VIEW v AS (\n${body}\n);`).filter(name => !task.before.find(name));
  return missing.flatMap(name => {
    const wanted = task.a.definitionOf(name);
    if (wanted?.kind !== 'view' && wanted?.kind !== 'materialized view') return [];
    return [...findDropped(wanted.body, task), { name, query: wanted.body, isView: wanted.kind === 'view' }];
  });
}
