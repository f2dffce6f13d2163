/*! Queries: their syntax trees, what they return, and who may read it. */
export type { Expression, SelectItem, SelectStatement, TableFunctionCall } from '@questdb/sql-parser';
export { analyzeRelation, type Relation } from './analysis/relation.js';
export { parseQueryText, type Query } from './parser/parsed-query.js';
export { requireReadAccess, returnsNoRows } from './query-references.js';
