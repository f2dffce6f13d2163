export { readFolder, writeFolder } from './folder.js';
export { FolderError } from './layout.js';
export { isSameOutput, isStdout, isTextOutput, writeOutput } from './output.js';
export { readLocatedInput } from './read-input.js';
export { isFolder, readLocatedSource, readSource, readTextFile } from './read-source.js';
export { formatSqlText, type LocatedStatement, parseSqlText, TextError, writeSqlText } from './text.js';
