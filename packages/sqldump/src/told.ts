import { type Io, watched } from '@sqlpipe/cli';

/** Passes statements on, shows people how far it is, and at the end how many they were. */
export async function* told(batches: AsyncIterable<string[]>, io: Io): AsyncGenerator<string[]> {
  let count = 0;
  for await (const batch of watched(batches, io.progress())) {
    count += batch.length;
    yield batch;
  }
  io.summary(`${count} ${count === 1 ? 'statement' : 'statements'}`);
}
