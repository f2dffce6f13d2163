export { NoPlace, readFolder, writeFolder } from './folder.js';
export { FolderError } from './layout.js';
export { isStdout, writeOutput } from './output.js';
export { FileError, replaceFile } from './replace.js';
export { isFolder, locateSource, readSource, readText } from './source.js';
export { fromText, type Located, TextError, toText, writeText } from './text.js';
