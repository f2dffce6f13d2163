/*! What a run tells while it goes on: a line of report per statement, a message per reject, a summary at the end. */
import { open } from 'node:fs/promises';
import type { Io } from '@sqlpipe/cli';
import { printable, title } from '@sqlpipe/sql';
import type { LoginCheck } from './credentials.js';
import { explain, explainReplaced, place } from './explain.js';
import { isReject, type Outcome, type Result } from './outcome.js';
import { reportLine } from './report.js';
import type { Tally } from './tally.js';

/** Passes outcomes on and writes each to the report. One that can't be written is no reason to stop half-way. @param path a file, or `-` for standard output */
export async function* reported(outcomes: AsyncIterable<Outcome>, path: string, io: Io): AsyncGenerator<Outcome> {
  if (path === '-') return yield* reportedOnStdout(outcomes, io);
  const file = await open(path, 'w');
  let failure: unknown;
  try {
    for await (const outcome of outcomes) {
      if (!failure)
        await file.writeFile(reportLine(outcome)).catch(error => void (failure = Object.assign(error, { path })));
      yield outcome;
    }
    if (failure) throw failure;
  } finally {
    await file.close();
  }
}

async function* reportedOnStdout(outcomes: AsyncIterable<Outcome>, io: Io): AsyncGenerator<Outcome> {
  let failure: unknown;
  for await (const outcome of outcomes) {
    if (!failure) await io.print(reportLine(outcome)).catch(error => void (failure = error));
    yield outcome;
  }
  if (failure) throw failure;
}

/**
 * Passes outcomes on, counts them and tells about them; a summary comes however the run ends.
 * @param summarize shows the summary of a run that went well
 */
export async function* told(
  outcomes: AsyncIterable<Outcome>,
  tally: Tally,
  logins: LoginCheck,
  io: Io,
  summarize: (message: string) => void,
): AsyncGenerator<Outcome> {
  let [ended, readerLeft] = [false, false];
  try {
    for await (const outcome of outcomes) {
      if (isReject(outcome) && outcome.result !== 'not reached')
        io.error(...explain(outcome, tally.label, io.errorColors));
      else if (outcome.failure && !tally.failure)
        io.error(`${place(outcome)}: it was applied, and could not be read back: ${outcome.failure.message}`);
      if (outcome.replaced) for (const line of explainReplaced(outcome, tally.label)) io.warn(line);
      tally.count(outcome);
      logins.count(outcome);
      yield outcome;
    }
    ended = true;
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    readerLeft = code === 'EPIPE' && path === undefined; // of standard output, which is no news; of a report it is
    throw error;
  } finally {
    const canAsk = !tally.failure && !io.interrupted.aborted;
    for (const message of await logins.messages(canAsk)) io.warn(message);
    if (tally.notComparable) io.note(tally.notComparable);
    const toldOfAny = ended || tally.total > 0;
    const isWell = ended && tally.complete && !io.interrupted.aborted;
    const state = io.interrupted.aborted ? `interrupted: ${tally}` : `${tally}`;
    if (toldOfAny && !readerLeft) (isWell ? summarize : io.error)(state);
  }
}

/**
 * Passes outcomes on and prints what would happen: `would create table 'fx_trades'`; at the end how many statements would do
 * nothing: `skipped: 31 statements`.
 */
export async function* foretold(outcomes: AsyncIterable<Outcome>, io: Io): AsyncGenerator<Outcome> {
  const counts = new Map<Result, number>();
  for await (const outcome of outcomes) {
    const { result, identity } = outcome;
    if (INERT.has(result)) counts.set(result, (counts.get(result) ?? 0) + 1);
    else await io.print(`${result} ${printable(title(identity))}\n`);
    yield outcome;
  }
  for (const [result, count] of counts)
    await io.print(`${result}: ${count} ${count === 1 ? 'statement' : 'statements'}\n`);
}

/** Results of a dry run by which nothing would happen. */
const INERT: ReadonlySet<Result> = new Set(['skipped', 'not reached']);

/** The statements that are not in force on the target: rejected, different, or not reached. */
export async function* rejects(outcomes: AsyncIterable<Outcome>): AsyncGenerator<string> {
  for await (const outcome of outcomes) if (isReject(outcome)) yield outcome.statement;
}

/** Writes the rows that a statement is answered with: cells between tabs, and no header. */
export async function printRows(rows: unknown[][], io: Io): Promise<void> {
  const show = io.stdout.isTTY ? printable : (text: string) => text;
  for (const row of rows) await io.print(`${row.map(cell => show(String(cell ?? ''))).join('\t')}\n`);
}
