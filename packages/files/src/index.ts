export { UnmappableStatementError, readFolder, writeFolder } from './folder.js';
export { FolderError } from './layout.js';
export { isStdout, writeOutput } from './output.js';
export { FileError, writeFileAtomic } from './write-file.js';
export { isFolder, readLocatedSource, readSource, readTextFile } from './source.js';
export { parseSqlText, type LocatedStatement, TextError, formatSqlText, writeSqlText } from './text.js';
