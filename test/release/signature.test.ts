/*! The ad-hoc signature of executables for macOS. The expected bytes were compared with those of Go's linker. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { signAdHoc } from '../../scripts/executable/signature.js';
import { freshFolder } from '../support/folder.js';
import { test } from '../support/test.js';

const PAGE = 4096;
const TEXT_SIZE = 2 * PAGE;

/** Writes a Mach-O executable of two segments: code, followed by symbols. */
async function writeExecutable(t: ExecutionContext, symbols = 100): Promise<string> {
  const path = join(await freshFolder(t), 'program');
  const bytes = Buffer.alloc(TEXT_SIZE + symbols, 'x');
  bytes.fill(0, 0, 1024);
  bytes.writeUInt32LE(0xfeedfacf, 0);
  bytes.writeUInt32LE(2, 16);
  bytes.writeUInt32LE(2 * 72, 20);
  for (const [i, [name, offset, size]] of (
    [
      ['__TEXT', 0, TEXT_SIZE],
      ['__LINKEDIT', TEXT_SIZE, symbols],
    ] as const
  ).entries()) {
    const command = 32 + 72 * i;
    bytes.writeUInt32LE(0x19, command);
    bytes.writeUInt32LE(72, command + 4);
    bytes.write(name, command + 8);
    bytes.writeBigUInt64LE(BigInt(offset), command + 40);
    bytes.writeBigUInt64LE(BigInt(size), command + 48);
  }
  writeFileSync(path, bytes);
  return path;
}

test('the signature has a load command, is in __LINKEDIT and hashes each page', async t => {
  const path = await writeExecutable(t);
  signAdHoc(path, 'name');
  const signed = readFileSync(path);
  t.is(signed.readUInt32LE(16), 3);
  t.is(signed.readUInt32LE(20), 2 * 72 + 16);
  const [kind, length, offset, size] = [0, 4, 8, 12].map(at => signed.readUInt32LE(32 + 2 * 72 + at)) as [
    number,
    number,
    number,
    number,
  ];
  t.deepEqual([kind, length], [0x1d, 16]);
  t.is(offset % 16, 0);
  t.is(offset + size, signed.length);
  t.is(Number(signed.readBigUInt64LE(32 + 72 + 48)), signed.length - TEXT_SIZE);

  const directory = signed.subarray(offset + 20);
  const [magic, , , , hashes, name, , count, limit] = Array.from({ length: 9 }, (_, i) =>
    directory.readUInt32BE(4 * i),
  );
  t.deepEqual([magic, count, limit], [0xfade0c02, 3, offset]);
  t.is(directory.toString('latin1', name, (name as number) + 5), 'name\0');
  for (let page = 0; page < 3; page++) {
    const hash = createHash('sha256').update(signed.subarray(page * PAGE, Math.min((page + 1) * PAGE, offset)));
    t.deepEqual(directory.subarray((hashes as number) + 32 * page).subarray(0, 32), hash.digest());
  }
});

test('a signed file, and one with data after its symbols, are not signed', async t => {
  const path = await writeExecutable(t);
  signAdHoc(path, 'name');
  t.throws(() => signAdHoc(path, 'name'), { message: 'it is signed already' });
  const longer = await writeExecutable(t);
  writeFileSync(longer, Buffer.concat([readFileSync(longer), Buffer.from('more')]));
  t.throws(() => signAdHoc(longer, 'name'), { message: /__LINKEDIT is not the end$/ });
});
