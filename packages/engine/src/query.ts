/*!
 * The syntax trees of queries, and what the queries return. The declarations of `index.ts` do not contain these types, because the
 * parser's own declarations compile only with `skipLibCheck`.
 */
export type { Expression, SelectItem, SelectStatement, TableFunctionCall } from '@questdb/sql-parser';
export { analyzeRelation, type Relation } from './analyze/analyze-relation.js';
export { columnName } from './analyze/expressions.js';
export { requireQueryReadAccess, returnsNoRows } from './analyze/query-scope.js';
export { type ParsedQuery, parseQueryText } from './parse/parse-query.js';
