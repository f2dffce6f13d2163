/*!
 * The names of files for objects. The names of objects may be hostile, and not all file systems distinguish all names.
 */

/** Letters that have no case or are lower case, digits, blanks, and plain punctuation. */
const READABLE = /^[\p{Ll}\p{Lo}\p{Lm}\p{Nd} _$.-]$/u;

/** Characters that file systems may ignore. */
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/u;

const CAPITAL = /^[A-Z]$/;

/**
 * Matches a first character that makes a name look like an option, hides the file or may be lost; or the first character
 * of a name that is a device on Windows, whatever its suffix is.
 */
const UNSAFE_START = /^[-. ]|^(?=(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$) *(?:\.|$))./;

const LAST_BLANK = / $/;

/**
 * The maximum length of a file's name: file systems accept 255 bytes, including the suffix and that of a temporary
 * file.
 */
const MAX_BYTES = 200;

/** The suffix of a folder in which a long name continues. */
export const CONTINUED_SUFFIX = '~';

/**
 * Encodes the name of an object as the name of a file, without a suffix. Lower case letters, digits, blanks, `_`, `-`, `$`
 * and `.` are unchanged; T becomes `!t` (as in Go's module cache); any other character becomes its UTF-8 bytes, such as
 * `%7C`. A name that is too long continues in a folder: `…~/…`. Different names always give different file names, even on
 * file systems that ignore case or normalize Unicode, and each file name can be decoded.
 */
export function fileName(name: string): string {
  const readable = [...name].map(each => (isReadable(each) ? each : escapeCharacter(each))).join('');
  // Some adjacent letters are normalized into one, such as the parts of Korean syllables.
  const isStable = readable.normalize('NFKC') === readable;
  const encoded = isStable ? readable : readable.replace(/[^\0-\x7f]/gu, percentEncode);
  return splitByLength(encoded)
    .map(piece => piece.replace(UNSAFE_START, percentEncode).replace(LAST_BLANK, percentEncode))
    .join(`${CONTINUED_SUFFIX}/`);
}

/** Whether file systems store a character unchanged, and never confuse it with another. */
function isReadable(character: string): boolean {
  if (!READABLE.test(character) || IGNORABLE.test(character) || character.normalize('NFKC') !== character) return false;
  return character.toLowerCase() === character && character.toUpperCase().toLowerCase() === character; // ß might be equal to ss
}

function splitByLength(text: string): string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const character of text) {
    if (Buffer.byteLength(piece + character) > MAX_BYTES) {
      pieces.push(piece);
      piece = '';
    }
    piece += character;
  }
  return piece ? [...pieces, piece] : pieces;
}

const escapeCharacter = (character: string): string =>
  CAPITAL.test(character) ? `!${character.toLowerCase()}` : percentEncode(character);

const percentEncode = (character: string): string =>
  Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&');
