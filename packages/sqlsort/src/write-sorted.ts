/*! A stream in dependency order, or as a graph. */
import { pipeline } from 'node:stream/promises';
import { Exit, type Io } from '@sqlpipe/cli';
import { createCommitWriter, decodeRecords, encodeRecords } from '@sqlpipe/records';
import { toDot, toMermaid } from './graph.js';
import { readSchema, sortStatements } from './sort.js';

/** Writes standard input sorted, or its graph; returns the exit status. */
export async function writeSorted(
  { graph, maxRecord }: { graph?: 'dot' | 'mermaid' | undefined; maxRecord: number },
  io: Io,
): Promise<number> {
  const input = decodeRecords(io.stdin(), { maxRecord });
  if (graph) await io.print({ dot: toDot, mermaid: toMermaid }[graph](await readSchema(input)));
  else await pipeline(sortStatements(input), encodeRecords(maxRecord), createCommitWriter(io.stdout, 'sqlsort'));
  return Exit.ok;
}
