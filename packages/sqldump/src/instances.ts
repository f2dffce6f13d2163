import { Exit, type Io } from '@sqlpipe/cli';
import { listInstances } from '@sqlpipe/instance';
import { escapeControls } from '@sqlpipe/sql';

/** Prints a line for each instance in instances.toml: its name, a tab, its address without secrets. */
export async function printInstances({ env, print }: Io): Promise<number> {
  for (const { name, address } of await listInstances(env)) await print(`${escapeControls(name)}\t${address}\n`);
  return Exit.ok;
}
