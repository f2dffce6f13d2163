/*! A stream under other names, or for another server. */
import { pipeline } from 'node:stream/promises';
import { collectGarbageEarly, Exit, type Io, readRuleFile } from '@sqlpipe/cli';
import { createCommitWriter, decodeRecords, encodeRecords } from '@sqlpipe/records';
import { Rules } from './rules.js';
import { adaptersFor, translate } from './translate.js';

interface TranslationOptions {
  rename?: string[] | undefined;
  renameFile?: string[] | undefined;
  owner?: string[] | undefined;
  principal?: string[] | undefined;
  to?: string[] | undefined;
  lossy: boolean;
  maxRecord: number;
}

/** Writes standard input translated as the options say; returns the exit status. */
export async function writeTranslation(
  { rename = [], renameFile = [], owner = [], principal = [], to = [], lossy, maxRecord }: TranslationOptions,
  io: Io,
): Promise<number> {
  collectGarbageEarly();
  const fromFiles = await Promise.all(renameFile.map(path => readRuleFile('--rename-file', path)));
  const names = {
    objects: new Rules([...rename, ...fromFiles.flat()], '--rename'),
    owners: new Rules(owner, '--owner'),
    principals: new Rules(principal, '--principal'),
  };
  const translated = translate(
    decodeRecords(io.stdin(), { maxRecord }),
    { names, adapters: adaptersFor(to) },
    { isLossy: lossy, warn: io.warn },
  );
  await pipeline(translated, encodeRecords(maxRecord), createCommitWriter(io.stdout, 'sqltr'));
  return Exit.ok;
}
