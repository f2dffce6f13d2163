/*! Queries: their syntax trees, what they return, and who may read it. */
export type { Expression, SelectItem, SelectStatement, TableFunctionCall } from '@questdb/sql-parser';
export { columnName } from './analyze/column-names.js';
export type { Relation } from './analyze/column-scope.js';
export { requireReadAccess, returnsNoRows } from './analyze/query-references.js';
export { analyzeRelation } from './analyze/relation.js';
export { type ParsedQuery, parseQueryText } from './parse/parsed-query.js';
