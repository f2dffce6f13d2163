/*! Copies a schema from one instance to another: the pipelines of sqldump and sqlapply, with a stream in memory between them. */
import { PassThrough } from 'node:stream';
import { type Args, type Io, rejectSharedInsecure, type SHARED_OPTIONS, writeSettings } from '@sqlpipe/cli';
import { dump, resolveInstance } from '@sqlpipe/instance';
import { decodeRecords, deferInput, writeRecords } from '@sqlpipe/records';
import { parseSelection } from '@sqlpipe/schema';
import { applyInput, type Input } from '@sqlpipe/sqlapply/apply';
import type { REPLAY_OPTIONS } from '@sqlpipe/sqlapply/options';
import { type SELECTION_OPTIONS, toDumpOptions } from '@sqlpipe/sqldump/options';

type CopyArgs = Args<typeof SHARED_OPTIONS.connection & typeof SELECTION_OPTIONS & typeof REPLAY_OPTIONS>;

export async function copySchema({ include, exclude, ...options }: CopyArgs, io: Io): Promise<number> {
  const [from = '', to = ''] = options.operands;
  const selection = parseSelection(include, exclude);
  const context = { ...io, options };
  const resolveEnds = async () => {
    const source = await resolveInstance(from, { ...context, program: 'sqldump' });
    const target = await resolveInstance(to, { ...context, program: 'sqlapply' });
    rejectSharedInsecure(options.insecure, [source.url, target.url]);
    return { source, target };
  };
  if (options.showConfig) {
    const { source, target } = await resolveEnds();
    return writeSettings([source.settings, target.settings], io);
  }
  const openInputAndInstance = async () => {
    const { source, target } = await resolveEnds();
    const config = { ...source, signal: io.catchSignals() };
    const dumpUntil = (signal: AbortSignal) => dump(config, { ...toDumpOptions(options, io), selection, signal });
    return { input: openStream(dumpUntil, options.maxRecord), instance: target };
  };
  return applyInput(
    { ...options, json: false, annotations: false, staleOk: false, allowPlan: false },
    openInputAndInstance,
    io,
  );
}

/** A slow reader slows down the dump. If the dump fails, the reader gets its error. @param dumpUntil ends when its signal aborts */
function openStream(dumpUntil: (signal: AbortSignal) => AsyncIterable<string[]>, maxRecord: number): Input {
  const stream = new PassThrough();
  const unwanted = new AbortController();
  stream.on('close', () => unwanted.abort());
  function read(): AsyncIterable<string> {
    writeRecords(dumpUntil(unwanted.signal), stream, 'sqldump', maxRecord).then(
      () => stream.end(),
      error => stream.destroy(error),
    );
    return decodeRecords(stream, { maxRecord });
  }
  return { ...deferInput(read), locations: [], stop: () => void stream.destroy() };
}
