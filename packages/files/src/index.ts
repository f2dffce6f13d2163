export { readStandardInput, readStatementsAt } from './read-statements.js';
export { writeFolder } from './schema-folder.js';
export { formatSqlText, type LocatedStatement, parseSqlText, withoutLocations, writeSqlText } from './sql-text.js';
export { isSameOutput, isStdout, isTextOutput, writeOutput } from './write-file.js';
