/*! From a stream or files to an instance. */
import { type Io, printSettings } from '@sqlpipe/cli';
import { applyInput } from './apply-input.js';
import { openInput } from './input.js';
import type { ApplyOptions } from './options.js';
import { resolveTarget } from './target.js';

/** Applies the input that the command line names to its instance; returns the exit status. */
export async function apply(options: ApplyOptions, io: Io): Promise<number> {
  const [instance = ''] = options.operands;
  if (options.showConfig) return printSettings([(await resolveTarget(instance, options, io)).settings], io);
  const openEnds = async () => {
    const input = openInput(options, io);
    // The previous program in the pipe may prompt too: its prompt comes first.
    const promptSecret = (question: string) => input.ready().then(() => io.promptSecret(question));
    return { input, target: await resolveTarget(instance, options, { ...io, promptSecret }) };
  };
  return applyInput(options, openEnds, io);
}
