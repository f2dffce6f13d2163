/*! The library that parses queries. It is loaded with the first query, because loading it takes a tenth of a second. */
export { parser, tokenize, visitor } from '@questdb/sql-parser';
