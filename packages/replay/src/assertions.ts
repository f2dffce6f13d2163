/*! The assertions of plans: they need no permission, so a statement must be exactly what the planner writes. */
import { parseMeaning } from '@sqlpipe/ddl';
import { fetchDefinitions, fetchViewColumns, type Instance } from '@sqlpipe/instance';
import {
  parseAssertion,
  parseRestated,
  printHistoryAssertion,
  restateQuery,
  withoutComments,
} from '@sqlpipe/plan/text';

/**
 * Whether a statement is an assertion of a plan. The question what a materialized view of the target holds must have that view's own
 * query, in which only names differ that the plan states as renamed.
 */
export async function isPlanAssertion(target: Instance, statement: string): Promise<boolean> {
  const { form, tables: [name = ''] = [] } = parseAssertion(statement) ?? {};
  if (form !== 'nothing_is_lost') return form !== undefined;
  const [definition] = await fetchDefinitions(target, [{ kind: 'materialized view', name }]);
  const view = definition === undefined ? undefined : parseMeaning(definition);
  if (view?.kind !== 'materialized view') return false;
  const columns = await fetchViewColumns(target, view.name);
  const { body } = restateQuery(view.body, parseRestated(statement));
  const asked = { ...view, body };
  return [undefined, columns].some(known => withoutComments(statement) === printHistoryAssertion(asked, known));
}

/** Why an assertion that is not true stops the run, and what to do. */
export async function explainFailedAssertion(target: Instance, statement: string): Promise<string> {
  const assertion = parseAssertion(statement);
  if (!assertion) return 'the assertion is not true';
  const answers: unknown[][] = [];
  for (const question of assertion.questions) answers.push((await target.table(question)).map(([value]) => value));
  return `the assertion is not true: ${assertion.explain(answers)}`;
}
