/*! The assertions of plans: they need no permission, so a statement must be exactly what the planner writes. */
import { parseMeaning } from '@sqlpipe/ddl';
import { fetchDefinitions, fetchViewColumns, type Instance } from '@sqlpipe/instance';
import {
  explainRowsAssertion,
  findAssertedView,
  parseRebuildAssertion,
  parseRestated,
  parseRowsAssertion,
  printHistoryAssertion,
  restateQuery,
  withoutComments,
} from '@sqlpipe/plan/text';
import { quoteLiteral } from '@sqlpipe/sql';

/**
 * Whether a statement is an assertion of a plan: one of a rebuild, one about the rows of a table, or the question what a materialized
 * view of the target holds, with that view's own query, in which only names differ that the plan states as renamed.
 */
export async function isPlanAssertion(target: Instance, statement: string): Promise<boolean> {
  if (parseRebuildAssertion(statement) || parseRowsAssertion(statement)) return true;
  const name = findAssertedView(statement);
  if (name === undefined) return false;
  const [definition] = await fetchDefinitions(target, [{ kind: 'materialized view', name }]);
  const view = definition === undefined ? undefined : parseMeaning(definition);
  if (view?.kind !== 'materialized view') return false;
  const columns = await fetchViewColumns(target, view.name);
  const { body } = restateQuery(view.body, parseRestated(statement));
  const asked = { ...view, body };
  return [undefined, columns].some(known => withoutComments(statement) === printHistoryAssertion(asked, known));
}

/** What to do with the old table of a rebuild, if it cannot be shown that the new one has its rows. */
export function explainKeptTable(assertion: string): string {
  const [table] = parseRebuildAssertion(assertion)?.tables ?? [];
  return `the old table stays; compare the rows, then send DROP TABLE '${table}';`;
}

/** Why an assertion that is not true stops the run, and what to do. */
export async function explainFailedAssertion(target: Instance, statement: string): Promise<string> {
  const reason = await findReason(target, statement);
  return reason === undefined ? 'the assertion is not true' : `the assertion is not true: ${reason}`;
}

async function findReason(target: Instance, statement: string): Promise<string | undefined> {
  const view = findAssertedView(statement);
  if (view !== undefined)
    return `materialized view '${view}' holds rows that its query no longer gives; make the plan again, which lists them`;
  const ofRows = parseRowsAssertion(statement);
  if (ofRows) {
    const [[count] = []] = await target.table(ofRows.question);
    return explainRowsAssertion(ofRows, Number(count));
  }
  const { assertion, tables = [] } = parseRebuildAssertion(statement) ?? {};
  if (!assertion) return undefined;
  const [table] = tables;
  if (assertion === 'all applied')
    return `rows that were sent to '${table}' are not applied yet; wait for them, or use ALTER TABLE '${table}' RESUME WAL if it is suspended`;
  if (assertion === 'all copied')
    return `'${table}' has rows that '${tables[1]}' does not have; ${explainKeptTable(statement)}`;
  const counts: number[] = [];
  for (const name of tables) {
    const [[count] = []] = await target.table(`SELECT count() FROM ${quoteLiteral(name)}`);
    counts.push(Number(count));
  }
  const [old = 0, copied = 0] = counts;
  const keys = await target.table(
    `SELECT "column" FROM table_columns(${quoteLiteral(tables[1] ?? '')}) WHERE upsertKey`,
  );
  const reason =
    copied < old && keys.length > 0
      ? `rows with the same dedup keys (${keys.flat().join(', ')}) overwrite each other in the new table`
      : `nothing may write to '${table}' while its rows are copied`;
  return `${counts.map((count, i) => `'${tables[i]}' has ${count} rows`).join(', ')}; ${reason}`;
}
