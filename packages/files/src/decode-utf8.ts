/*! Decodes UTF-8 strictly: bytes that are not UTF-8 are an error, and never become U+FFFD. */
import { isUtf8 } from 'node:buffer';

/** Bytes that are not text. The message has the reason and the offset. */
export class EncodingError extends Error {
  override name = 'EncodingError';
}

/**
 * Decodes UTF-8 in chunks cut anywhere; a byte order mark at the start is dropped.
 * @throws EncodingError at a NUL and at bytes that are not UTF-8
 */
export async function* decodeUtf8(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let partial: Buffer = Buffer.alloc(0);
  let offset = 0;
  for await (const chunk of bytes) {
    const all = partial.length ? Buffer.concat([partial, chunk]) : chunk;
    const text = all.subarray(0, endOfLastCharacter(all));
    yield decode(text, offset);
    partial = all.subarray(text.length);
    offset += text.length;
  }
  yield decode(partial, offset);
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

function decode(bytes: Buffer, offset: number): string {
  if (!isUtf8(bytes))
    throw new EncodingError(`not UTF-8, at byte ${offset + firstInvalidByte(bytes)}; iconv converts other encodings`);
  const nul = bytes.indexOf(0);
  if (nul >= 0)
    throw new EncodingError(`a NUL at byte ${offset + nul}: this is a statement stream already, or not text`);
  const hasMark = offset === 0 && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return bytes.toString('utf8', hasMark ? BYTE_ORDER_MARK.length : 0);
}

/** The end of the last complete character. */
function endOfLastCharacter(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes.at(-back) as number;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** The offset of the first byte that is not valid UTF-8: decoding has replaced it. */
function firstInvalidByte(bytes: Buffer): number {
  const redecoded = Buffer.from(bytes.toString());
  return bytes.findIndex((byte, at) => byte !== redecoded[at]);
}
