/*! Executes a replay and reports it. Each generator reports the outcomes in its own form and passes them on. */
import { open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { formatAnnotation, type Io } from '@sqlpipe/cli';
import { findAffectedObjects } from '@sqlpipe/ddl';
import { findLocation, writeOutputs } from '@sqlpipe/files';
import { InstanceError } from '@sqlpipe/instance';
import { formatOmission } from '@sqlpipe/plan/text';
import { createCommitWriter, encodeRecords } from '@sqlpipe/records';
import {
  formatStatementLabel,
  isReject,
  isReordered,
  type Outcome,
  type Replay,
  type ReplayTarget,
  type Result,
} from '@sqlpipe/replay';
import { displayName, printOnOneLine, redact, redactFully } from '@sqlpipe/sql';
import { escapeControls, escapeLines, formatCount, formatExcerpt, formatSafeJson, indentLines } from '@sqlpipe/text';
import { formatRejection } from './format-rejection.js';
import { LoginCheck } from './login-check.js';
import { hasDataOnStdout, type RunArgs } from './options.js';
import { Summary } from './summary.js';

/** Executes a replay by reading its outcomes. @returns the exit status */
export async function executeReplay(replay: Replay, target: ReplayTarget, options: RunArgs, io: Io): Promise<number> {
  const { omissions, formatHarm } = replay;
  const { label } = target.client;
  const summary = new Summary(label, options);
  for (const [head, ...lines] of omissions.map(formatOmission)) io.error(head, indentLines(lines));
  if (omissions.length > 0) summary.recordNegative();
  const isStdoutTaken = hasDataOnStdout(options);
  let { outcomes } = replay;
  if (options.dryRun && !isStdoutTaken) outcomes = writeDryRun(outcomes, io, formatHarm);
  if (options.report) outcomes = writeReport(outcomes, options.report, options, io);
  if (options.json) outcomes = writeReport(outcomes, '-', options, io);
  outcomes = reportOutcomes(outcomes, summary, { ...replay, ...target }, options, io);
  if (options.rejects) await writeRejects(options.rejects, io.stdout, outcomes, options.maxRecord);
  else for await (const _ of outcomes); // reading them executes the statements
  const harm = formatHarm();
  if (harm.length > 0) summary.recordNegative();
  if (isStdoutTaken) for (const line of harm) io.warn(`${label}: ${line}`);
  return summary.status;
}

/** Opens the file before any statement is executed. After a failed write, the run continues without a report, and throws at its end. */
async function* writeReport(outcomes: AsyncIterable<Outcome>, path: string, options: RunArgs, io: Io) {
  const file = path === '-' ? undefined : await open(path, 'w');
  let failure: unknown;
  try {
    for await (const outcome of outcomes) {
      const line = formatReportLine(outcome, options);
      if (!failure)
        await (file?.writeFile(line) ?? io.write(line)).catch(error => {
          failure = file ? Object.assign(error, { path }) : error;
        });
      yield outcome;
    }
    if (failure) throw failure;
  } finally {
    await file?.close();
  }
}

/** Prints messages, then a summary, even if the run fails. No summary if it fails before an outcome, or if stdout's reader has gone. */
async function* reportOutcomes(
  outcomes: AsyncIterable<Outcome>,
  summary: Summary,
  { config, client, fetchProblemLines }: Pick<ReplayTarget, 'config' | 'client'> & Pick<Replay, 'fetchProblemLines'>,
  options: RunArgs,
  io: Io,
): AsyncGenerator<Outcome> {
  const { label } = client;
  const signal = io.catchSignals();
  const logins = new LoginCheck(config);
  const summarize = hasDataOnStdout(options) ? io.summary : io.info;
  const reportUnknown = (error: unknown): string[] => {
    if (!(error instanceof InstanceError)) throw error;
    io.error(`whether the plan has left objects invalid or suspended is unknown: ${error.message}`);
    summary.failure = error;
    return [];
  };
  let [hasEnded, isPipeClosed] = [false, false];
  try {
    for await (const outcome of outcomes) {
      if (isReject(outcome) && outcome.result !== 'not reached') {
        // If only the order of a table's columns differs, the run continues, so this is a warning.
        const show = isReordered(outcome) ? io.warn : io.error;
        show(...formatRejection(outcome, label, io.hasErrorColors));
        if (options.annotations) await io.write(toAnnotation(outcome, label));
      } else if (outcome.failure && !summary.failure)
        io.error(
          `${formatStatementLabel(outcome)}: it was applied, but could not be read back: ${outcome.failure.message}`,
        );
      if (!options.dryRun) reportStatement(outcome, io);
      if (outcome.replaced) {
        const replacement = { ...outcome, ...outcome.replaced, error: 'it replaces a different definition' };
        io.warn(...formatRejection(replacement, label, io.hasErrorColors));
      }
      summary.recordOutcome(outcome, signal.aborted);
      logins.recordOutcome(outcome);
      yield outcome;
    }
    hasEnded = true;
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    // EPIPE without a path is about stdout: its reader has gone, so nothing is printed. With a path, it is about the file of `--report`.
    isPipeClosed = code === 'EPIPE' && path === undefined;
    throw error;
  } finally {
    const canAsk = !summary.failure && !signal.aborted;
    for (const message of await logins.fetchMissingLogins(canAsk)) io.warn(message);
    if (summary.notComparable) io.info(summary.notComparable);
    const hasOutcomes = hasEnded || summary.total > 0;
    // Also after a plan that was applied: somebody may have created a view meanwhile, which the plan has then made invalid.
    const wasApplied = hasEnded && summary.isComplete;
    const problems = canAsk && !options.dryRun ? await fetchProblemLines(wasApplied).catch(reportUnknown) : [];
    for (const line of problems) io.warn(`${label}: ${line}`);
    if (problems.length > 0) summary.recordNegative();
    const isSuccess = hasEnded && summary.isComplete && !signal.aborted;
    const state = signal.aborted ? `interrupted: ${summary}` : `${summary}`;
    if (hasOutcomes && !isPipeClosed) (isSuccess ? summarize : io.error)(state);
  }
}

function toAnnotation({ location, ...outcome }: Outcome, label: string): string {
  const [head, below = []] = formatRejection(outcome, label);
  const place = findLocation(outcome.statement, location, outcome.position);
  return formatAnnotation({ ...place, message: [head, ...below].join('\n') });
}

/** With `-v`, shows each statement and its result, except statements that were skipped or not reached. */
function reportStatement(outcome: Outcome, io: Io): void {
  if (!io.detail || WITHOUT_EFFECT.has(outcome.result)) return;
  const below = `  ${escapeLines(redactFully(outcome.statement)).replaceAll('\n', '\n  ')}`;
  io.detail(`${formatStatementLabel(outcome)}: ${outcome.result}`, [below]);
}

/** Writes `would create table 'x'` and the effects for each statement, then the harm. Skipped or unreached ones are only counted. */
async function* writeDryRun(outcomes: AsyncIterable<Outcome>, io: Io, formatHarm: Replay['formatHarm']) {
  const counts = new Map<Result, number>();
  for await (const outcome of outcomes) {
    const { result, identity, statement, effects = [], error } = outcome;
    const showsStatement = identity.kind === 'other' && (result === 'would send' || result === 'unknown');
    const name = escapeControls(displayName(identity));
    const what = showsStatement ? formatExcerpt(printOnOneLine(redact(statement)), 120) : name;
    if (WITHOUT_EFFECT.has(result)) counts.set(result, (counts.get(result) ?? 0) + 1);
    else await io.write(`${result} ${what}\n`);
    for (const { text } of effects) await io.write(`  ${escapeControls(text)}\n`);
    if (result === 'unknown' && error !== undefined) await io.write(`  ${escapeControls(error)}\n`);
    yield outcome;
  }
  for (const line of formatHarm()) await io.write(`${escapeControls(line)}\n`);
  for (const [result, count] of counts) await io.write(`${result}: ${formatCount(count, 'statement')}\n`);
}

const WITHOUT_EFFECT: ReadonlySet<Result> = new Set(['skipped', 'not reached']);

/** Separates cells by tabs. There is no header. Control characters are escaped on a terminal; a file or a pipe gets them unchanged. */
export async function writeRows(rows: unknown[][], io: Io): Promise<void> {
  const show = io.stdout.isTTY ? escapeControls : (text: string) => text;
  for (const row of rows) await io.write(`${row.map(cell => show(String(cell ?? ''))).join('\t')}\n`);
}

/** A line of JSON without secrets. `verb`, `kind` and `name` say what the statement changes; `position` counts UTF-16 code units. */
function formatReportLine(
  { n, identity, statement, result, time, error, position, isFullyVerified, replaced, effects, ms }: Outcome,
  { dryRun }: { readonly dryRun: boolean },
): string {
  const { kind, name } = findAffectedObjects(statement)[0] ?? identity;
  return `${formatSafeJson({
    n,
    verb: identity.verb,
    kind,
    name,
    statement: redactFully(statement),
    result,
    time: dryRun ? undefined : time?.toISOString(),
    error,
    position,
    proven: isFullyVerified,
    replaced: replaced && true,
    effects: effects?.map(({ type: effect, lossKind: loss, text, ...on }) => ({ effect, ...on, loss, text })),
    ms,
  })}\n`;
}

/**
 * Writes the rejects as a stream. If the run fails, a failure marker follows the rejects so far, instead of the commit mark.
 * @throws the error of the run, after the file is written; errors of the file system
 */
async function writeRejects(path: string, stdout: Writable, outcomes: AsyncIterable<Outcome>, maxRecord: number) {
  async function* rejects(): AsyncGenerator<string> {
    for await (const outcome of outcomes) if (isReject(outcome)) yield outcome.statement;
  }
  let failure: unknown;
  const write = async (file: Writable): Promise<void> => {
    const end = createCommitWriter(file, 'sqlapply');
    await pipeline(rejects, encodeRecords(maxRecord), end).catch(error => {
      failure = error;
      return finished(end).catch(() => {}); // now the failure marker is written
    });
  };
  await writeOutputs([{ path, write }], stdout, undefined, 0o600);
  if (failure) throw failure;
}
