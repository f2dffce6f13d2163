import { setTimeout as pause } from 'node:timers/promises';
import { escapeControls, formatError } from '@sqlpipe/text';
import { causesOf, Exit, exitStatus } from './exit-status.js';
import { createIo } from './io.js';
import { parseCommandLine } from './parse-command-line.js';
import { type Main, type ProcessLike, runInProcess, signalStatus } from './process-like.js';
import type { OptionSpecs, Program } from './program.js';

/** Creates the function that runs a program: in the given host, or else in this process. */
export const createMain =
  <Specs extends OptionSpecs>(program: Program<Specs>): Main =>
  host =>
    host ? runProgram(program, host) : runInProcess(process => runProgram(program, process));

/** Runs a program with the arguments and streams of a process. Resolves to the exit status; never throws. */
export async function runProgram<Specs extends OptionSpecs>(program: Program<Specs>, host: ProcessLike) {
  const { stdout, stderr } = host;
  // If the reader of stdout closed the pipe, no message is needed. Only an EPIPE of stdout itself counts, because the socket of a server
  // can fail with EPIPE too.
  let pipeError: unknown;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') pipeError = error;
  });
  // A failure of standard error cannot be reported on it, and is no reason to stop: the exit status reports the result.
  stderr.on('error', () => {});
  let signal: AbortSignal | undefined;
  const catchSignals = (): AbortSignal => {
    signal ??= host.catchSignals();
    return signal;
  };
  const createRunIo = (verbosity: Parameters<typeof createIo>[1]) =>
    createIo(program.name, verbosity, { ...host, catchSignals });
  let io = createRunIo({ quiet: true, verbose: 0 });
  const fail = (error: unknown): number => {
    if (error === pipeError) return signalStatus('SIGPIPE');
    const status = exitStatus(error);
    io.error(formatFailure(error, status, program.name, host));
    return status;
  };
  host.onUncaught(fail);
  try {
    const parsed = parseCommandLine(program, host);
    io = createRunIo(parsed);
    if (parsed.output !== undefined) await io.write(parsed.output);
    const status = parsed.args ? await program.run(parsed.args, io) : Exit.ok;
    return signal?.aborted ? signalStatus(signal.reason) : status;
  } catch (error) {
    // After ^C, another program of the pipeline may cut the input short. The signal may arrive a little later.
    if (signal && exitStatus(error) === Exit.DAMAGED) await pause(100, undefined, { signal }).catch(() => {});
    return signal?.aborted ? signalStatus(signal.reason) : fail(error);
  }
}

function formatFailure(error: unknown, status: number, name: string, host: ProcessLike): string {
  const hint =
    { [Exit.USAGE]: `\nTry '${name} --help'.`, [Exit.bug]: '\nThis is a bug; please report it.' }[status] ?? '';
  const causes = [...causesOf(error)];
  let text = formatError(error);
  // In a pipe, the program that failed first prints what to do: the programs after it name only the reason.
  for (const { printedReason = '' } of causes)
    if (printedReason && host.fstat(0).isFIFO())
      text = text.replace(printedReason, reason => reason.replace(/; .*/s, ''));
  // Some messages have several lines. In any other message a line end comes from a name, and could fake a second message.
  const hasLines = status === Exit.USAGE || causes.some(({ hasLines }) => hasLines);
  return (hasLines ? text : escapeControls(text)) + hint;
}
