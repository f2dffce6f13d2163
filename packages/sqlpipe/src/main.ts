/*! Starts the named program with the remaining arguments. The other programs are not loaded. */
import { basename } from 'node:path';
import { OWN_PROGRAMS, PROGRAMS } from './programs.js';

function start(): Promise<unknown> {
  const { argv } = process;
  // The single executable has a link for each program.
  const linked = PROGRAMS.find(({ name }) => name === basename(process.argv0));
  if (linked) return linked.run();
  if (argv[2] === 'help') argv.splice(2, 2, ...argv.slice(3, 4), '--help');
  const word = argv[2] ?? '';
  const program = PROGRAMS.find(({ command, name }) => word === command || word === name);
  if (program || Object.hasOwn(OWN_PROGRAMS, word)) argv.splice(2, 1);
  if (program) return program.run();
  if (word === 'check') return import('./check.js');
  if (word === 'copy') return import('./copy.js');
  if (word === 'completion') argv[2] = '--completion';
  return import('./overview.js');
}

void start();
