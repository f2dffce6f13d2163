/*! What every program does around its pipeline: streams, errors and the exit status, on the process itself. */
import { plainly, printable } from '@sqlpipe/sql';
import { Exit, exitStatus } from './exit.js';
import { interruptedBy, processIo } from './io.js';
import { parse } from './parse.js';
import type { Program } from './program.js';

/** Runs a program on this process: its arguments, its three streams, its exit status. Never throws. */
export async function command<Options>(program: Program<Options>): Promise<void> {
  process.noDeprecation = true; // what a library of ours does is nothing to people
  // A reader that left is no news. Only stdout's own error says so: a server's socket can break with EPIPE too.
  let readerLeft: unknown;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') readerLeft = error;
  });
  // Nobody is left to be told; the exit status says it.
  process.stderr.on('error', () => {});
  const fail = (error: unknown): void => {
    if (error === readerLeft) process.exitCode = 141;
    else tell(error, program.name);
  };
  process.on('uncaughtException', fail);
  process.exitCode = Exit.bug; // stays where the program stops before its end
  try {
    const parsed = parse(program, process.argv.slice(2));
    const io = processIo(program.name, parsed);
    if (parsed.output !== undefined) await io.print(parsed.output);
    process.exitCode = parsed.args ? await program.run(parsed.args, io) : Exit.yes;
  } catch (error) {
    if (!interruptedBy()) fail(error);
  }
  const signal = interruptedBy();
  if (signal) process.kill(process.pid, signal);
}

function tell(error: unknown, name: string): void {
  process.exitCode = exitStatus(error);
  const hint =
    { [Exit.usage]: `\nTry '${name} --help'.`, [Exit.bug]: '\nThis is a bug; please report it.' }[process.exitCode] ??
    '';
  const text = plainly(error);
  // Of usage yargs tells on several lines. Elsewhere a line end is from a name or the like, and could feign a message.
  const shown = process.exitCode === Exit.usage ? text : printable(text);
  processIo(name, { quiet: true, verbose: 0 }).error(shown + hint);
}
