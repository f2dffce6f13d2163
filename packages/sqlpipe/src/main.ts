/*! Starts the named program with the remaining arguments. The other programs are not loaded. */
import { basename } from 'node:path';
import { COMPLETE, type Main, type ProcessLike, runInProcess } from '@sqlpipe/cli';
import { OWN_PROGRAMS, PROGRAMS } from './programs.js';

export const main: Main = host => (host ? start(host) : runInProcess(start));

async function start(host: ProcessLike): Promise<number> {
  // The single executable has a link for each program.
  const linked = PROGRAMS.find(({ name }) => name === basename(process.argv0));
  if (linked) return (await linked.load()).main(host);
  const [first = '', ...others] = host.args;
  const isCompletion = first === COMPLETE;
  const args = first === 'help' ? [...others.slice(0, 1), '--help', ...others.slice(1)] : host.args;
  const [word = '', ...rest] = isCompletion ? others : args;
  // While the first word is being completed, it does not name a program yet.
  const program = isCompletion && rest.length === 0 ? undefined : await loadMain(word);
  if (program) return program({ ...host, args: isCompletion ? [COMPLETE, ...rest] : rest });
  const { main } = await import('./overview.js');
  return main({ ...host, args: word === 'completion' && !isCompletion ? ['--completion', ...rest] : args });
}

async function loadMain(word: string): Promise<Main | undefined> {
  const program =
    PROGRAMS.find(({ command, name }) => word === command || word === name) ??
    OWN_PROGRAMS.find(({ command }) => word === command);
  return (await program?.load())?.main;
}
