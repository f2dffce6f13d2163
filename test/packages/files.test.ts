/*! Text in chunks, and files in folders that nobody looks into. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { isStdout, parseSqlText, withoutLocations } from '@sqlpipe/files';
import { freshFolder, readFolder } from '../support/folder.js';
import { fc, forAllAsync, splitAt } from '../support/seed.js';
import { test } from '../support/test.js';

test('text is the same wherever its chunks are cut', async t => {
  const statements = ["CREATE TABLE 'ü€😀' (a INT);", "CREATE TABLE '😀😀' (b INT);"];
  const bytes = Buffer.from(statements.join('\n'));
  await forAllAsync(100, fc.array(fc.nat(bytes.length), { maxLength: 6 }), async cuts => {
    const found: string[] = [];
    const text = Readable.from(splitAt(bytes, cuts).filter(({ length }) => length > 0));
    for await (const batch of withoutLocations(parseSqlText(text, 'text'))) found.push(...batch);
    t.deepEqual(found, statements);
  });
});

test('a file of statements in a folder that has only the name of a kind is an error', async t => {
  const folder = await freshFolder(t);
  for (const path of ['tables', 'old/tables']) {
    await mkdir(join(folder, path), { recursive: true });
    await writeFile(join(folder, path, 'x.sql'), "CREATE TABLE 'x' (a INT);\n");
  }
  await t.throwsAsync(readFolder(folder), { code: 'DAMAGED', message: /old\/tables\/x\.sql/ });
});

test('standard output is what is written to without a file, and with -', t =>
  t.deepEqual([undefined, '-', './-', ''].map(isStdout), [true, true, false, false]));
