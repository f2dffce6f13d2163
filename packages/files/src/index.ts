export { readStandardInput, readStatementsAt } from './read-statements.js';
export { writeFolder } from './schema-folder.js';
export {
  findLocation,
  type LocatedStatement,
  type Location,
  parseSqlText,
  printSqlText,
  withoutLocations,
  writeSqlText,
} from './sql-text.js';
export { detectInput, detectSameOutput, isStdout, isTextOutput, writeOutputs } from './write-output.js';
