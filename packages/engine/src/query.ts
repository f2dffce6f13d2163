/*! Queries: their syntax trees, what they return, and who may read it. */
export type { FunctionCall, SelectItem, SelectStatement, TableFunctionCall } from '@questdb/sql-parser';
export { analyzeRelation } from './analysis/relation.js';
export { parseQueryText } from './parser/queries.js';
export type { Query } from './parser/query.js';
export { requireReadAccess } from './references.js';
