/*! What the file of an object is called: names are hostile, and not all file systems tell all names apart. */

/** Letters that have no case or are lower case, digits, blanks, and plain punctuation. */
const READABLE = /^[\p{Ll}\p{Lo}\p{Lm}\p{Nd} _$.-]$/u;

/** File systems do not see these. */
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/u;

const CAPITAL = /^[A-Z]$/;

/**
 * A first character that makes an option of a name, hides its file or is lost; or that of a name that is a device of Windows
 * whatever its suffix.
 */
const UNSAFE_START = /^[-. ]|^(?=(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$) *(?:\.|$))./;

const LAST_BLANK = / $/;

/** File systems accept 255 bytes; a suffix and a temporary name have to fit in. */
const MAX_BYTES = 200;

/** The suffix of a folder in which a long name continues. */
export const CONTINUED_SUFFIX = '~';

/**
 * A file's name for an object's name, without a suffix: lower case letters, digits, blanks, `_`, `-`, `$` and `.` stand
 * for themselves, `!t` for T (as in Go's module cache), `%7C` for any other character, by its bytes in UTF-8. A name
 * that is too long for a file continues in a folder: `…~/…`. So different names never make names that are one without
 * case or in another Unicode form, and each can be read back.
 */
export function fileName(name: string): string {
  const readable = [...name].map(each => (isReadable(each) ? each : escapeCharacter(each))).join('');
  // Some letters become one where they meet, such as those that Korean syllables are made of.
  const isStable = readable.normalize('NFKC') === readable;
  const plain = isStable ? readable : readable.replace(/[^\0-\x7f]/gu, percentEncode);
  return splitByLength(plain)
    .map(piece => piece.replace(UNSAFE_START, percentEncode).replace(LAST_BLANK, percentEncode))
    .join(`${CONTINUED_SUFFIX}/`);
}

/** What `fileName` was before 0.2: all but lower case ASCII letters, digits, `_` and `-` was escaped. */
export function legacyFileName(name: string): string {
  const plain = name.replace(/[^a-z0-9_-]/gu, escapeCharacter);
  return splitByLength(plain)
    .map(piece => piece.replace(/^-|^(?=(?:con|prn|aux|nul|com\d|lpt\d)$)./, percentEncode))
    .join(`${CONTINUED_SUFFIX}/`);
}

/** Whether file systems keep a character as it is, and never confuse it with another. */
function isReadable(character: string): boolean {
  if (!READABLE.test(character) || IGNORABLE.test(character) || character.normalize('NFKC') !== character) return false;
  return character.toLowerCase() === character && character.toUpperCase().toLowerCase() === character; // ß may pass for ss
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
