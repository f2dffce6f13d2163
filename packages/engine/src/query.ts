/*! Queries: their syntax trees, what they return, and who may read it. */
export type { Expression, SelectItem, SelectStatement, TableFunctionCall } from '@questdb/sql-parser';
export { requireReadAccess, returnsNoRows } from './analyze/query-references.js';
export { analyzeRelation, type Relation } from './analyze/relation.js';
export { parseQueryText, type Query } from './parse/parsed-query.js';
