/*! Starts the named program with the remaining arguments. The other programs are not loaded. */
import { basename } from 'node:path';
import { type Main, runInProcess, type World } from '@sqlpipe/cli';
import { PROGRAMS } from './programs.js';

export const main: Main = world => (world ? start(world) : runInProcess(start));

async function start(world: World): Promise<number> {
  // The single executable has a link for each program.
  const linked = PROGRAMS.find(({ name }) => name === basename(process.argv0));
  if (linked) return (await linked.load()).main(world);
  const [first, ...others] = world.args;
  const args = first === 'help' ? [...others.slice(0, 1), '--help', ...others.slice(1)] : world.args;
  const [word = '', ...rest] = args;
  const program = PROGRAMS.find(({ command, name }) => word === command || word === name);
  if (program) return (await program.load()).main({ ...world, args: rest });
  if (word === 'check') return (await import('./check.js')).main({ ...world, args: rest });
  if (word === 'copy') return (await import('./copy.js')).main({ ...world, args: rest });
  const { main } = await import('./overview.js');
  return main({ ...world, args: word === 'completion' ? ['--completion', ...rest] : args });
}
