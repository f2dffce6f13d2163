export { readStandardInput, readStatementsAt } from './read-statements.js';
export { writeFolder } from './schema-folder.js';
export {
  findLocation,
  formatSqlText,
  type LocatedStatement,
  type Location,
  parseSqlText,
  withoutLocations,
  writeSqlText,
} from './sql-text.js';
export { isSameOutput, isStdout, isTextOutput, writeOutput } from './write-file.js';
