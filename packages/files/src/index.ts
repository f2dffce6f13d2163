export { writeFolder } from './schema-folder.js';
export { readLocatedInput, readLocatedStatementsAt, readStatementsAt } from './read-statements.js';
export { formatSqlText, type LocatedStatement, parseSqlText, writeSqlText } from './sql-text.js';
export { isSameOutput, isStdout, isTextOutput, writeOutput } from './write-file.js';
