/*! What a server is asked about the rows of a materialized view. */
import type { MaterializedViewDefinition } from '@sqlpipe/ddl';
import { foldCase } from '@sqlpipe/sql';
import { tableOfRebuild } from './rebuild.js';
import type { Task } from './task.js';
import { restateQuery } from './text/history.js';

/** A materialized view of B, whose query may have new names for what was renamed after it was stated. */
export interface AskedView {
  readonly definition: MaterializedViewDefinition;
  /** The new names that the query needs, by the old ones. */
  readonly renamed: ReadonlyMap<string, string>;
}

/** The view as a server can be asked about it: an interrupted plan may have renamed what its query reads. */
export function findAskedView(name: string, { before, requests, leftovers }: Task): AskedView | undefined {
  const definition = before.definitionOf(name);
  if (definition?.kind !== 'materialized view') return undefined;
  if (before.whyUnresolvable(name) === undefined) return { definition, renamed: new Map() };
  const exchanged = [...before.objects()].flatMap(({ name }) => {
    const table = leftovers.has(foldCase(name)) ? tableOfRebuild(name) : undefined;
    return table === undefined || before.find(table) ? [] : [[foldCase(table), name] as const];
  });
  const renamed = new Map([...requests.renames.statedNames, ...exchanged]);
  const { body, used } = restateQuery(definition.body, renamed);
  return { definition: { ...definition, body }, renamed: used };
}
