/*! Bytes to characters, exactly: what is not UTF-8 is an error, never U+FFFD. */
import { isUtf8 } from 'node:buffer';

/** Bytes that are no text; the message says what and at which byte. */
export class NotText extends Error {}

/**
 * Decodes UTF-8 in chunks cut anywhere; a byte order mark at the start is dropped.
 * @throws NotText at a NUL and at bytes that are not UTF-8
 */
export async function* characters(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let held: Buffer = Buffer.alloc(0);
  let offset = 0;
  for await (const chunk of bytes) {
    const all = held.length ? Buffer.concat([held, chunk]) : chunk;
    const text = all.subarray(0, lastBorder(all));
    yield decode(text, offset);
    held = all.subarray(text.length);
    offset += text.length;
  }
  yield decode(held, offset);
}

const MARK = Buffer.from('\ufeff');

function decode(bytes: Buffer, offset: number): string {
  if (!isUtf8(bytes))
    throw new NotText(`not UTF-8, at byte ${offset + firstBad(bytes)}: iconv converts other encodings`);
  const nul = bytes.indexOf(0);
  if (nul >= 0)
    throw new NotText(`a NUL at byte ${offset + nul}: this is a statement stream already, or no text at all`);
  const marked = offset === 0 && bytes.subarray(0, MARK.length).equals(MARK);
  return bytes.toString('utf8', marked ? MARK.length : 0);
}

/** Where the last character ends that is whole. */
function lastBorder(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes.at(-back) as number;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Where bytes first differ from what decoding made of them. */
function firstBad(bytes: Buffer): number {
  const mended = Buffer.from(bytes.toString());
  return bytes.findIndex((byte, at) => byte !== mended[at]);
}
