export { FileError, replaceFile } from './replace.js';
export { fromText, TextError, toText, writeText } from './text.js';
