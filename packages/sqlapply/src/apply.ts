import {
  annotateFailure,
  Exit,
  exitStatus,
  type Io,
  limitHeapGrowth,
  readIgnorePatterns,
  UsageError,
  withProgress,
  writeSettings,
} from '@sqlpipe/cli';
import { detectInput, detectSameOutput, type Location, readStandardInput, readStatementsAt } from '@sqlpipe/files';
import { type ConnectionConfig, resolveInstance } from '@sqlpipe/instance';
import { type DeferredInput, deferInput } from '@sqlpipe/records';
import { openTarget, PreflightError, prepareReplay, rejectBadOptions } from '@sqlpipe/replay';
import { IgnoreRules } from '@sqlpipe/schema';
import { CodedError, formatError } from '@sqlpipe/text';
import type { ApplyArgs, RunArgs } from './options.js';
import { executeReplay, writeRows } from './report-outcomes.js';

export async function apply(options: ApplyArgs, io: Io): Promise<number> {
  const { operands, report, rejects } = options;
  const [operand = '', ...files] = operands;
  const context = { ...io, program: 'sqlapply', options };
  if (options.showConfig) return writeSettings([(await resolveInstance(operand, context)).settings], io);
  for (const [option, path] of Object.entries({ report, rejects }))
    if (await detectInput(path, files.length > 0 ? files : ['-']))
      throw new UsageError(`--${option} would replace the input; give another file`);
  const openInputAndInstance = async () => {
    const input = openInput(options, io);
    // Waits for the input, because the previous program in the pipe may prompt too. Its prompt comes first.
    const promptSecret = (question: string) => input.readAll().then(() => io.promptSecret(question));
    return { input, instance: await resolveInstance(operand, { ...context, promptSecret }) };
  };
  return applyInput(options, openInputAndInstance, io);
}

type OpenInputAndInstance = () => Promise<{ input: Input; instance: ConnectionConfig }>;

/** Prepares a run, executes it and reports it. An error of the preparation says that nothing was sent. @returns the exit status */
export async function applyInput(options: RunArgs, open: OpenInputAndInstance, io: Io): Promise<number> {
  limitHeapGrowth();
  await rejectBadArgs(options);
  const work = async () => {
    const { replay, target } = await prepare(open, options, io).catch(error => {
      if (io.catchSignals().aborted) io.error('interrupted; nothing was sent');
      throw toNothingSentError(error);
    });
    return executeReplay(replay, target, options, io).finally(target.close);
  };
  return options.annotations ? annotateFailure(work, io) : work();
}

async function rejectBadArgs(options: RunArgs): Promise<void> {
  const { report, rejects, json, annotations, dryRun, alter, stream, ifExists, renamed } = options;
  if ([report === '-', rejects === '-', json, annotations].filter(Boolean).length > 1)
    throw new UsageError('only one of --report, --rejects, --json and --annotations can be on standard output');
  if (report !== undefined && rejects !== undefined && (await detectSameOutput(report, rejects)))
    throw new UsageError('--report and --rejects need different files');
  if (json && !dryRun) throw new UsageError('--json works only with --dry-run; use --report for other runs');
  if (alter && (stream || ifExists !== 'compare'))
    throw new UsageError(
      '--alter cannot be combined with --stream or --if-exists, because it compares a complete schema',
    );
  if (alter && (options.allowPlan || options.staleOk))
    throw new UsageError(
      '--alter cannot be combined with --allow-plan or --stale-ok, because it makes a plan of its own; remove --alter to apply a plan',
    );
  if (renamed.length > 0 && !alter) throw new UsageError('--renamed works only with --alter');
  rejectBadOptions(options, option => `--${option.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`);
}

/** Opens the input and the instance, and checks the statements. Sends nothing. */
async function prepare(open: OpenInputAndInstance, options: RunArgs, io: Io) {
  const ignore = new IgnoreRules(await readIgnorePatterns(options));
  const { input, instance } = await open();
  const signal = io.catchSignals();
  const target = await openTarget({ ...instance, signal }, options);
  signal.addEventListener('abort', () => {
    input.stop();
    setTimeout(target.close, 2000).unref(); // meanwhile a request in flight may still end
  });
  try {
    signal.throwIfAborted(); // nothing has called the listener
    const statements = withProgress(input, io.progress());
    const replay = await prepareReplay({ statements, locations: input.locations }, target, {
      ...options,
      ignore,
      signal,
      warn: io.warn,
      info: io.info,
      onRows: rows => writeRows(rows, io),
      trackProgress: (statements, count, stopSignal) => withProgress(statements, io.progress(), count, stopSignal),
    });
    if (!options.stream) signal.throwIfAborted(); // all input was read, and nothing is sent if the reading was interrupted
    return { replay, target };
  } catch (error) {
    await target.close();
    throw error;
  }
}

/** Adds `nothing was sent` to the message of an error, except to a usage error, a bug, and an error that already says so. */
function toNothingSentError(error: unknown): unknown {
  const status = exitStatus(error);
  if (status === Exit.USAGE || status === Exit.bug || error instanceof PreflightError) return error;
  const code = status === Exit.IO ? 'IO' : (error as CodedError).code;
  const message = formatError(error).replace(/\n|$/, '; nothing was sent$&');
  return new CodedError(code, message, { cause: error });
}

export interface Input extends DeferredInput {
  /** The locations of the statements that were read so far, in their order. A statement of a stream has none. */
  readonly locations: readonly (Location | undefined)[];
  stop(): void;
}

/** Opens the files and folders that the operands after INSTANCE name, or standard input if there are none. @throws UsageError */
function openInput({ operands: [, ...files], ...options }: ApplyArgs, io: Io): Input {
  if (files.length && options.stream) throw new UsageError('--stream works only with standard input, not with files');
  if (files.indexOf('-') !== files.lastIndexOf('-')) throw new UsageError('standard input can be read only once');
  const locations: (Location | undefined)[] = [];
  const readsStdin = files.length === 0 || files.includes('-');
  async function* read(): AsyncGenerator<string> {
    for (const file of files.length ? files : ['-']) {
      const isStdin = file === '-';
      const batches = isStdin ? readStandardInput(io.stdin(), options) : readStatementsAt(file, options.maxRecord);
      for await (const batch of batches) {
        if (!isStdin) io.catchSignals().throwIfAborted();
        for (const { statement, ...location } of batch) {
          locations.push(isStdin && location.line === undefined ? undefined : location);
          yield statement;
        }
      }
    }
  }
  return {
    ...deferInput(read),
    locations,
    stop() {
      if (readsStdin) io.stdin().destroy();
    },
  };
}
