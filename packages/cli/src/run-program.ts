/*! Handles what is the same for every program: streams, errors and the exit status of the process. */
import { fstatSync } from 'node:fs';
import { escapeControls, formatError } from '@sqlpipe/text';
import { Exit, exitStatus } from './exit.js';
import { createProcessIo, interruptSignal, waitForPendingSignal } from './io.js';
import { parseCommandLine } from './parse-command-line.js';
import type { Program } from './program.js';

/** Runs a program with the arguments and streams of this process, and sets the exit status. Never throws. */
export function runProgram<Options>(program: Program<Options>): void {
  void run(program);
}

async function run<Options>(program: Program<Options>): Promise<void> {
  process.noDeprecation = true; // deprecations in a library do not concern users
  // The reader of stdout closed the pipe: this needs no message. Only an EPIPE of stdout itself counts, because the socket
  // of a server can fail with EPIPE too.
  let pipeError: unknown;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') pipeError = error;
  });
  const fail = (error: unknown): void => {
    if (error === pipeError) process.exitCode = 141;
    else reportError(error, program.name);
  };
  process.on('uncaughtException', fail);
  process.exitCode = Exit.bug; // remains if the program stops before it sets another one
  try {
    const parsed = parseCommandLine(program, process.argv.slice(2));
    const io = createProcessIo(program.name, parsed);
    if (parsed.output !== undefined) await io.print(parsed.output);
    process.exitCode = parsed.args ? await program.run(parsed.args, io) : Exit.ok;
  } catch (error) {
    if (exitStatus(error) === Exit.damaged) await waitForPendingSignal();
    if (!interruptSignal()) fail(error);
  }
  const signal = interruptSignal();
  if (signal) process.kill(process.pid, signal);
}

function reportError(error: unknown, name: string): void {
  process.exitCode = exitStatus(error);
  const hint =
    { [Exit.usage]: `\nTry '${name} --help'.`, [Exit.bug]: '\nThis is a bug; please report it.' }[process.exitCode] ??
    '';
  const text = withoutRepetition(formatError(error), error);
  // A usage error of yargs has several lines. In any other message a line end can only come from a name; printed as it is, it
  // could fake a second message.
  const safe = process.exitCode === Exit.usage ? text : escapeControls(text);
  createProcessIo(name, { quiet: true, verbose: 0 }).error(safe + hint);
}

/** In a pipe, the program that failed first prints what to do: the programs after it name only the reason. */
function withoutRepetition(text: string, error: unknown): string {
  if (!(error instanceof Error)) return text;
  const { repeated } = error as { repeated?: string };
  const rest =
    repeated !== undefined && readsPipe() ? text.replace(repeated, reason => reason.replace(/; .*/s, '')) : text;
  return withoutRepetition(rest, error.cause);
}

function readsPipe(): boolean {
  try {
    return fstatSync(0).isFIFO();
  } catch {
    return false; // standard input is closed
  }
}
