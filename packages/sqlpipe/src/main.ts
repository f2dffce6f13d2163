/*! Starts the named program with the remaining arguments. The other programs are not loaded. */
import { basename } from 'node:path';
import { type Main, type ProcessLike, runInProcess } from '@sqlpipe/cli';
import { PROGRAMS } from './programs.js';

export const main: Main = host => (host ? start(host) : runInProcess(start));

async function start(host: ProcessLike): Promise<number> {
  // The single executable has a link for each program.
  const linked = PROGRAMS.find(({ name }) => name === basename(process.argv0));
  if (linked) return (await linked.load()).main(host);
  const [first, ...others] = host.args;
  const args = first === 'help' ? [...others.slice(0, 1), '--help', ...others.slice(1)] : host.args;
  const [word = '', ...rest] = args;
  const program = PROGRAMS.find(({ command, name }) => word === command || word === name);
  if (program) return (await program.load()).main({ ...host, args: rest });
  if (word === 'check') return (await import('./check.js')).main({ ...host, args: rest });
  if (word === 'copy') return (await import('./copy.js')).main({ ...host, args: rest });
  const { main } = await import('./overview.js');
  return main({ ...host, args: word === 'completion' ? ['--completion', ...rest] : args });
}
