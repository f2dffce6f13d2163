/*!
 * An ad-hoc code signature: hashes of an executable's pages, without a key. macOS on arm64 runs nothing without a
 * signature, and Node's own is removed when a program is added. The layouts are those of xnu's osfmk/kern/cs_blobs.h and
 * EXTERNAL_HEADERS/mach-o/loader.h; Apple's and Go's linkers write the same.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

const HEADER_SIZE = 32;
const LC_SEGMENT_64 = 0x19;
const LC_CODE_SIGNATURE = 0x1d;
const COMMAND_SIZE = 16;
/** The pages that are hashed, and those that segments are aligned to (of arm64, which has the larger ones). */
const [PAGE, SEGMENT_PAGE] = [4096, 16384];

const align = (size: number, unit: number) => Math.ceil(size / unit) * unit;
const bigEndian32 = (...numbers: number[]) => {
  const bytes = Buffer.alloc(4 * numbers.length);
  for (const [i, number] of numbers.entries()) bytes.writeUInt32BE(number, 4 * i);
  return bytes;
};

/** Signs a Mach-O executable of 64 bits in place. @throws Error if it is signed already, or has no room for a load command */
export function signAdHoc(path: string, identifier: string): void {
  const unsigned = readFileSync(path);
  const codeSize = align(unsigned.length, 16);
  const code = Buffer.alloc(codeSize);
  unsigned.copy(code);
  const { text, linkedit, end } = readCommands(code);
  if (linkedit.offset + linkedit.size !== unsigned.length) throw new Error(`${path}: __LINKEDIT is not the end`);
  if (code.subarray(end, end + COMMAND_SIZE).some(byte => byte !== 0)) throw new Error(`${path}: no room to sign it`);

  const size = signatureSize(codeSize, identifier);
  code.writeUInt32LE(code.readUInt32LE(16) + 1, 16); // ncmds
  code.writeUInt32LE(code.readUInt32LE(20) + COMMAND_SIZE, 20); // sizeofcmds
  for (const [i, number] of [LC_CODE_SIGNATURE, COMMAND_SIZE, codeSize, size].entries())
    code.writeUInt32LE(number, end + 4 * i);
  const linkeditSize = codeSize + size - linkedit.offset;
  code.writeBigUInt64LE(BigInt(align(linkeditSize, SEGMENT_PAGE)), linkedit.command + 32); // vmsize
  code.writeBigUInt64LE(BigInt(linkeditSize), linkedit.command + 48); // filesize
  writeFileSync(path, Buffer.concat([code, signature(code, identifier, text)]));
}

interface Segment {
  /** Where its load command is, where its bytes begin in the file, and how many they are. */
  command: number;
  offset: number;
  size: number;
}

/** The segments that matter here, and where the load commands end. */
function readCommands(code: Buffer): { text: Segment; linkedit: Segment; end: number } {
  const segments: Record<string, Segment> = {};
  let command = HEADER_SIZE;
  for (let count = code.readUInt32LE(16); count > 0; count--) {
    const kind = code.readUInt32LE(command);
    if (kind === LC_CODE_SIGNATURE) throw new Error('it is signed already');
    if (kind === LC_SEGMENT_64) {
      const name = code.toString('latin1', command + 8, command + 24).replace(/\0+$/, '');
      const [offset, size] = [40, 48].map(at => Number(code.readBigUInt64LE(command + at))) as [number, number];
      segments[name] = { command, offset, size };
    }
    command += code.readUInt32LE(command + 4);
  }
  const { __TEXT: text, __LINKEDIT: linkedit } = segments;
  if (!text || !linkedit) throw new Error('it has no __TEXT or no __LINKEDIT');
  return { text, linkedit, end: command };
}

/** A SuperBlob's header and its one entry; a CodeDirectory's header. */
const [SUPER_BLOB, DIRECTORY] = [20, 88];
const hashOffset = (identifier: string) => DIRECTORY + identifier.length + 1;
const signatureSize = (codeSize: number, identifier: string) =>
  SUPER_BLOB + hashOffset(identifier) + 32 * Math.ceil(codeSize / PAGE);

function signature(code: Buffer, identifier: string, text: Segment): Buffer {
  const size = signatureSize(code.length, identifier);
  const pages = Math.ceil(code.length / PAGE);
  const hashes = Array.from({ length: pages }, (_, page) =>
    createHash('sha256')
      .update(code.subarray(page * PAGE, (page + 1) * PAGE))
      .digest(),
  );
  return Buffer.concat([
    bigEndian32(0xfade0cc0, size, 1, 0, SUPER_BLOB),
    // Version 2.4; ad hoc and by a linker, so that `codesign` replaces it without being forced to.
    bigEndian32(0xfade0c02, size - SUPER_BLOB, 0x20400, 0x20002),
    bigEndian32(hashOffset(identifier), DIRECTORY, 0, pages, code.length),
    Buffer.from([32, 2, 0, Math.log2(PAGE)]), // a hash is 32 bytes of SHA-256
    bigEndian32(0, 0, 0, 0, 0, 0),
    bigEndian32(0, text.offset, 0, text.size, 0, 1), // the main executable of a process
    Buffer.from(`${identifier}\0`),
    ...hashes,
  ]);
}
