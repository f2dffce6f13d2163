export { writeFolder } from './folder.js';
export { readLocatedInput, readLocatedSource, readSource } from './read-source.js';
export { formatSqlText, type LocatedStatement, parseSqlText, writeSqlText } from './text.js';
export { isSameOutput, isStdout, isTextOutput, writeOutput } from './write-file.js';
