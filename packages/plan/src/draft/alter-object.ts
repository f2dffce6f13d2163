/*! Drafts the ALTERs of an existing table or view. */
import { compareDefinitions, type Definition, findColumn, propertiesOf, type TableDefinition } from '@sqlpipe/ddl';
import { dumpOrder, type Entry } from '@sqlpipe/schema';
import { foldCase } from '@sqlpipe/sql';
import type { PlanContext } from '../plan-context.js';
import { alterColumns } from './alter-columns.js';
import { alterTable } from './alter-table.js';
import type { Draft } from './draft.js';
import { rebuildTable } from './rebuild.js';

/** Whether the columns of a table follow from a query. They are not known, so nothing of the table is changed. */
export const isOfQuery = (wanted: Definition): boolean => 'query' in wanted && wanted.query !== undefined;

export function alterObject(entry: Entry, wanted: Definition, draft: Draft): void {
  const { name } = entry;
  const now = draft.engine.definitionOf(name) as Definition;
  if (wanted.kind === 'view') {
    const hasOtherQuery = compareDefinitions(wanted, now).differences.some(({ property }) => property === 'query');
    if (hasOtherQuery && !draft.alter('view', now.name, { action: 'query', body: wanted.body }, ['query']))
      draft.block(name);
  } else if (wanted.kind !== 'table') alterProperties(entry, wanted, draft);
  else if (draft.context.toRebuild.has(foldCase(name)) && !differsOnlyByRetention(wanted, now, draft.context))
    rebuildTable(entry, wanted, draft);
  else {
    alterColumns(wanted, draft);
    alterProperties(entry, wanted, draft);
    const altered = draft.engine.definitionOf(name) as TableDefinition;
    const keepsOldColumnName = [...draft.context.renames.columnRenamesOf(name).keys()].some(column =>
      findColumn(altered, column),
    );
    if (keepsOldColumnName && draft.hasOmission(entry)) draft.block(name);
  }
}

/** Whether a table differs only by its retention, and an ALTER at the end of the plan sets that. */
function differsOnlyByRetention(wanted: TableDefinition, now: Definition, context: PlanContext): boolean {
  const altered = propertiesOf(wanted.kind).flatMap(({ alter }) =>
    alter?.expiresRows && alter.find(wanted, now, context) ? alter.sets : [],
  );
  return compareDefinitions(wanted, now).differences.every(({ property }) => altered.includes(property));
}

/** @param expiresRows whether to set the properties that let the server drop rows, or all others */
function alterProperties(entry: Entry, wanted: Definition, draft: Draft, expiresRows = false): void {
  for (const { alter } of propertiesOf(wanted.kind)) {
    const now = draft.engine.definitionOf(entry.name);
    if (!alter || now?.kind !== wanted.kind || (alter.expiresRows ?? false) !== expiresRows) continue;
    // In a blocked object, properties that are already listed are not tried again. Others are altered, such as the retention.
    const isAlreadyOmitted =
      draft.isBlocked(entry.name) && alter.sets.some(property => draft.hasOmission(entry, property));
    const alteration = isAlreadyOmitted ? undefined : alter.find(wanted, now, draft.context);
    if (!alteration) continue;
    const differing = compareDefinitions(wanted, now).differences.map(({ property }) => property);
    const properties = alter.sets.filter(property => differing.includes(property));
    if (now.kind === 'table') alterTable(now.name, alteration, properties, draft);
    else draft.alter(now.kind, now.name, alteration, properties);
  }
}

/** Sets TTLs, storage policies and EXPIRE ROWS. They come late, because nothing undoes the loss of expired rows. */
export function alterExpiry(draft: Draft): void {
  for (const entry of dumpOrder(draft.context.a)) {
    const [wanted, now] = [draft.context.a.definitionOf(entry), draft.engine.definitionOf(entry.name)];
    if (wanted && wanted.kind === now?.kind && !isOfQuery(wanted)) alterProperties(entry, wanted, draft, true);
  }
}
