/*! The library that parses queries: a file of its own, because it takes a tenth of a second to load. */
export { parser, tokenize, visitor } from '@questdb/sql-parser';
