import { setTimeout as pause } from 'node:timers/promises';
import { escapeControls, formatError } from '@sqlpipe/text';
import { Exit, exitStatus } from './exit.js';
import { createIo } from './io.js';
import { parseCommandLine } from './parse-command-line.js';
import type { OptionSpecs, Program } from './program.js';
import { type Main, runInProcess, signalStatus, type World } from './world.js';

/** Creates the function that runs a program: in the given world, or else in this process. */
export const createMain =
  <Specs extends OptionSpecs>(program: Program<Specs>): Main =>
  world =>
    world ? runProgram(program, world) : runInProcess(process => runProgram(program, process));

/** Runs a program with the arguments and streams of a world. Resolves to the exit status; never throws. */
export async function runProgram<Specs extends OptionSpecs>(program: Program<Specs>, world: World): Promise<number> {
  const { stdout, stderr } = world;
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
    signal ??= world.catchSignals();
    return signal;
  };
  const createRunIo = (verbosity: Parameters<typeof createIo>[1]) =>
    createIo(program.name, verbosity, { ...world, catchSignals });
  let io = createRunIo({ quiet: true, verbose: 0 });
  const fail = (error: unknown): number => {
    if (error === pipeError) return signalStatus('SIGPIPE');
    const status = exitStatus(error);
    io.error(formatFailure(error, status, program.name, world));
    return status;
  };
  world.onUncaught(fail);
  try {
    const parsed = parseCommandLine(program, world);
    io = createRunIo(parsed);
    if (parsed.output !== undefined) await io.write(parsed.output);
    const status = parsed.args ? await program.run(parsed.args, io) : Exit.ok;
    return signal?.aborted ? signalStatus(signal.reason) : status;
  } catch (error) {
    if (signal && exitStatus(error) === Exit.damaged) await pause(SIGNAL_DELAY, undefined, { signal }).catch(() => {});
    return signal?.aborted ? signalStatus(signal.reason) : fail(error);
  }
}

/** Milliseconds by which the signal of ^C may arrive after the end of the input, which another program of the pipeline has cut short. */
const SIGNAL_DELAY = 100;

function formatFailure(error: unknown, status: number, name: string, world: World): string {
  const hint =
    { [Exit.usage]: `\nTry '${name} --help'.`, [Exit.bug]: '\nThis is a bug; please report it.' }[status] ?? '';
  const text = withoutRepetition(formatError(error), error, world);
  // Some messages have several lines. In any other message a line end comes from a name, and could fake a second message.
  return (status === Exit.usage || hasLines(error) ? text : escapeControls(text)) + hint;
}

/** Whether an error, or one that caused it, says that its message has several lines, each safe to show. */
const hasLines = (error: unknown): boolean =>
  error instanceof Error && ((error as { hasLines?: boolean }).hasLines === true || hasLines(error.cause));

/** In a pipe, the program that failed first prints what to do: the programs after it name only the reason. */
function withoutRepetition(text: string, error: unknown, world: World): string {
  if (!(error instanceof Error)) return text;
  const { printedReason = '' } = error as { printedReason?: string };
  const rest =
    printedReason && readsPipe(world) ? text.replace(printedReason, reason => reason.replace(/; .*/s, '')) : text;
  return withoutRepetition(rest, error.cause, world);
}

function readsPipe({ fstat }: World): boolean {
  try {
    return fstat(0).isFIFO();
  } catch {
    return false; // standard input is closed
  }
}
