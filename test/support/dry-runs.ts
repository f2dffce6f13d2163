/*!
 * Compares a dry run of `sqlapply` with the run: the same stream on the same target must have the same verdict on each
 * statement, with the same message and position, and the same exit status; and the dry run must not change the target.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readStatementHead, significantTokens } from '@sqlpipe/sql';
import { inProcess } from './in-process.js';
import { parseJsonLines } from './json-lines.js';
import type { Scope } from './scope.js';
import type { Server } from './server.js';
import type { StatementStream } from './statement-streams.js';

export interface Verdict {
  readonly n: number;
  readonly kind: string;
  readonly name: string;
  readonly result: string;
  readonly error?: string;
  readonly position?: number;
  readonly effects?: readonly { readonly effect: string }[];
}

/** A statement on which the dry run and the run differ; a missing verdict is undefined. */
export interface Difference {
  readonly statement: string;
  readonly dry: Verdict | undefined;
  readonly run: Verdict | undefined;
}

export interface Comparison {
  readonly stream: StatementStream;
  readonly dry: readonly Verdict[];
  readonly run: readonly Verdict[];
  /** The statement at which the server failed, or has not finished a change, which ends the run. */
  readonly failure: Verdict | undefined;
  readonly differences: readonly Difference[];
  /** The statements on which rows decide, and of which the dry run says that it does not know. */
  readonly unknown: readonly Difference[];
  readonly status: { readonly dry: number; readonly run: number };
  /**
   * Whether the exit statuses agree. A dry run also ends with 1 if something would be lost, and with 0 although a statement
   * of which it does not know is rejected. If such a statement is denied, only the run ends with 77.
   */
  readonly isSameStatus: boolean;
  readonly isUnchanged: boolean;
  readonly messages: string;
}

/** What runs `sqlapply` on a target that is ready. `account` is the option that names a user. */
export interface DryRuns {
  /** Compares the dry run of a stream with the run, which changes the target. */
  compare(server: Pick<Server, 'url'>, stream: StatementStream, account?: string): Promise<Comparison>;
  run(server: Pick<Server, 'url'>, stream: StatementStream): Promise<Verdict[]>;
}

/** A change that is not complete after this time, in seconds, never will be: a table may be suspended. */
const TIMEOUT = 20;

/** A run ends well, with a rejection, with a statement that was never applied, or with a denied one. */
const STATUSES = new Set([0, 1, 69, 77]);

/** Opens a folder for command lines, which lives as long as the scope. */
export async function openDryRuns(scope: Scope): Promise<DryRuns> {
  const bash = await inProcess(scope);
  const file = (name: string) => join(bash.folder, name);
  const writeStream = ({ statements }: StatementStream) =>
    writeFile(file('stream'), statements.map(statement => `${statement}\0`).join('') || '\0');
  const apply = `sqlapply $ACCOUNT --timeout ${TIMEOUT} --keep-going --allow all`;
  const start = (
    url: string,
    account: string,
  ) => `DB=${url} ACCOUNT='${account}' ${account && 'SQLAPPLY_PASSWORD=quest SQLDUMP_PASSWORD=quest'}
rm -f messages dry.jsonl run.jsonl`;
  const run = `${apply} --report run.jsonl $DB < stream > rows 2>> messages`;
  return {
    async compare({ url }, stream, account = '') {
      await writeStream(stream);
      // A dump that fails may end after any statement, so an account that may not read all takes a partial one.
      const { stdout, stderr } = await bash(`${start(url, account)}
sqldump --partial $ACCOUNT $DB > before 2>> messages
${apply} --dry-run --json $DB < stream > dry.jsonl 2>> messages; dry=$?
sqldump --partial $ACCOUNT $DB > after 2>> messages
${run}; run=$?
cmp before after >&2; echo $dry $run $?`);
      const [dry = 70, status = 70, changed = 2] = stdout.trim().split(' ').map(Number);
      const messages = (await readFile(file('messages'), 'utf8')) + stderr;
      if (!STATUSES.has(status)) throw new Error(`seed ${stream.seed}: the run ended with ${status}: ${messages}`);
      const reports = { dry: await readReport(file('dry.jsonl')), run: await readReport(file('run.jsonl')) };
      return { ...judge(stream, reports, { dry, run: status }), isUnchanged: changed === 0, messages };
    },
    async run({ url }, stream) {
      await writeStream(stream);
      await bash(`${start(url, '')}; ${run}`);
      return readReport(file('run.jsonl'));
    },
  };
}

async function readReport(path: string): Promise<Verdict[]> {
  return parseJsonLines(await readFile(path, 'utf8').catch(() => ''));
}

/** Compares up to the statement at which a run ends early: nobody can predict that the server fails. */
function judge(
  stream: StatementStream,
  { dry, run }: { dry: readonly Verdict[]; run: readonly Verdict[] },
  status: Comparison['status'],
): Omit<Comparison, 'isUnchanged' | 'messages'> {
  const end = run.findIndex(({ result }) => result === 'failed' || result === 'unknown');
  const all = stream.statements
    .slice(0, end < 0 ? undefined : end)
    .map((statement, i) => ({ statement, dry: dry[i], run: run[i] }));
  // An ALTER depends on rows only after statements that change them.
  const isExplained = ({ error = '' }: Verdict) =>
    /^the target does not show its schema|^its result depends on rows that|^it is not known whether|^it computes rows of the view again/.test(
      error,
    );
  const unknown = all.filter(
    ({ statement, dry }) => dry?.result === 'unknown' && (dependsOnRows(statement) || isExplained(dry)),
  );
  const known = all.filter(each => !unknown.includes(each));
  const hasReject = known.some(({ run }) => run && !['applied', 'skipped'].includes(run.result));
  const mayLose = dry.some(({ effects = [] }) =>
    effects.some(({ effect }) => ['lost', 'invalidated', 'removed'].includes(effect)),
  );
  return {
    stream,
    dry,
    run: run.slice(0, all.length),
    failure: end < 0 ? undefined : run[end],
    differences: known.filter(({ dry, run }) => describe(dry) !== describe(run) && !isUntold(dry, run)),
    unknown,
    status,
    isSameStatus:
      end >= 0 ||
      status.dry === status.run ||
      (status.dry === 1 && status.run === 0 && mayLose) ||
      (status.dry === 0 && unknown.length > 0 && !hasReject) ||
      (status.run === 77 && unknown.some(({ run }) => /^Access denied/.test(run?.error ?? ''))),
  };
}

/** Whether the rows of the target, its partitions, or its files decide on a statement. */
function dependsOnRows(statement: string): boolean {
  const { verb, runsQuery } = readStatementHead(statement);
  if (runsQuery || ['INSERT', 'UPDATE', 'SELECT', 'COPY', 'CHECKPOINT', 'REINDEX'].includes(verb)) return true;
  const words = Array.from(significantTokens(statement), ({ text }) => text.toUpperCase());
  return verb === 'ALTER' && words.includes('PARTITION') && !words.includes('AS');
}

/** Whether the server rejects a statement without a message, as it does for COMPILE of an invalid view, where a dry run predicts it. */
const isUntold = (dry?: Verdict, run?: Verdict): boolean =>
  run?.error === 'an error without a message' && dry?.result === run.result && dry.position === run.position;

const WOULD_APPLY = ['would create', 'would replace', 'would send'];

/** A verdict in a form that is equal for a dry run and a run. */
export function describe(verdict: Verdict | undefined): string {
  if (!verdict) return 'nothing';
  const { result, error, position } = verdict;
  if (result === 'applied' || WOULD_APPLY.includes(result)) return 'applied';
  if (result === 'skipped') return result;
  return `${result}: ${error}${position === undefined ? '' : ` (at ${position})`}`;
}

export const formatDifference = ({ seed }: StatementStream, { statement, dry, run }: Difference): string =>
  `seed ${seed}, statement ${(dry ?? run)?.n}: ${statement.replace(/\s+/g, ' ').slice(0, 300)}\n  dry run: ${describe(dry)}\n  run:     ${describe(run)}`;

/** Empties a server and makes the target of a stream. What the server rejects is left out. */
export async function makeTarget(server: Server, { target }: StatementStream): Promise<void> {
  await server.dropAll();
  for (const statement of target) await server.execute(statement);
  await waitUntilQuiet(server);
}

/** What the server still does in the background, in both cases as a number of objects. */
const PENDING = `SELECT sum(n) FROM (
  SELECT count() n FROM wal_tables() WHERE writerTxn < sequencerTxn AND NOT suspended
  UNION ALL SELECT count() n FROM materialized_views() WHERE view_status = 'refreshing')`;

/** Waits until the server has applied all changes and refreshed all views, so that the dry run and the run see one state. */
async function waitUntilQuiet(server: Server): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const { dataset, error } = await server.execute(PENDING);
    if (error !== undefined) throw new Error(error);
    if (Number(dataset?.[0]?.[0]) === 0) return;
    await pause(25);
  }
}
