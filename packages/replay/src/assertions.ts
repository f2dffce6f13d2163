/*! The assertions of plans: they need no permission, so a statement must be exactly what the planner writes. */
import { parseMeaning } from '@sqlpipe/ddl';
import { fetchDefinitions, fetchViewColumns, type Instance } from '@sqlpipe/instance';
import { findAssertedView, isRowCountAssertion, printHistoryAssertion, withoutComments } from '@sqlpipe/plan';

/**
 * Whether a statement is an assertion of a plan: a comparison of two row counts, or the question what a materialized view of
 * the target holds, with that view's own query.
 */
export async function isPlanAssertion(target: Instance, statement: string): Promise<boolean> {
  if (isRowCountAssertion(statement)) return true;
  const name = findAssertedView(statement);
  if (name === undefined) return false;
  const [definition] = await fetchDefinitions(target, [{ kind: 'materialized view', name }]);
  const view = definition === undefined ? undefined : parseMeaning(definition);
  if (view?.kind !== 'materialized view') return false;
  const columns = await fetchViewColumns(target, view.name);
  return [undefined, columns].some(known => withoutComments(statement) === printHistoryAssertion(view, known));
}
