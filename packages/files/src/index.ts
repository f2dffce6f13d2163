export { replaceFile } from './replace.js';
export { EMPTY_TEXT, fromText, TextError, toText } from './text.js';
