export { readFolder, writeFolder } from './folder.js';
export { isFolder, readLocatedInput, readLocatedSource, readSource, readTextFile } from './read-source.js';
export { formatSqlText, type LocatedStatement, parseSqlText, writeSqlText } from './text.js';
export { isSameOutput, isStdout, isTextOutput, writeOutput } from './write-file.js';
