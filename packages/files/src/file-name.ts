/*! What the file of an object is called: names are hostile, and not all file systems tell all names apart. */

/** A capital, or what is no plain character: file systems fold case, normalise, and take much else for something of their own. */
const SPECIAL = /([A-Z])|[^a-z0-9_-]/gu;

/** A first character that makes an option of a name, or a whole name that is a device of Windows whatever its suffix. */
const MISTAKEN = /^-|^(?=(?:con|prn|aux|nul|com\d|lpt\d)$)./;

/** File systems take 255 bytes; a suffix and a temporary name have to fit in. */
const PIECE = /.{1,200}/g;

/** How the name of a folder ends in which a name goes on. */
export const CONTINUED = '~';

/**
 * A file's name for an object's name, without a suffix: lower case letters, digits, `_` and `-` stand for themselves, `!t`
 * for T (as in Go's module cache), `%20` for any other character, by its bytes in UTF-8. A name that gets longer than files
 * may be called goes on in a folder: `…~/…`. So different names never make names that are one without case, and each can
 * be read back.
 */
export function fileName(name: string): string {
  const plain = name.replace(SPECIAL, (special, capital?: string) =>
    capital ? `!${capital.toLowerCase()}` : percent(special),
  );
  return (plain.match(PIECE) ?? []).map(piece => piece.replace(MISTAKEN, percent)).join(`${CONTINUED}/`);
}

const percent = (character: string): string =>
  Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&');
