import { type Io, withProgress } from '@sqlpipe/cli';

/** Passes statements on while it shows the progress; reports the number of statements at the end. */
export async function* reportProgress(batches: AsyncIterable<string[]>, io: Io): AsyncGenerator<string[]> {
  let count = 0;
  for await (const batch of withProgress(batches, io.progress())) {
    count += batch.length;
    yield batch;
  }
  io.summary(`${count} ${count === 1 ? 'statement' : 'statements'}`);
}
