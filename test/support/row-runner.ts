/*! Runs the programs for a random change of a schema with rows, and judges how they end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from './in-process.js';
import type { Named } from './named-losses.js';
import { recordingProxy } from './recording-proxy.js';
import { type Change, type Finding, findLost, type Holders, resumeAll, settle, takeHolders } from './row-holders.js';
import type { Randomness } from './schema-pairs.js';
import type { Scope } from './scope.js';
import type { Server } from './server.js';
import { type Outcome, shellEnvironment } from './shell.js';

/** A server, and a proxy before it by which something happens in the middle of a plan. */
export interface RowServer {
  readonly server: Server;
  readonly proxy: string;
  /** Called before each statement that changes something is passed on. */
  before: () => Promise<void>;
}

export async function openRowServer(scope: Scope, server: Server): Promise<RowServer> {
  const opened: { -readonly [K in keyof RowServer]: RowServer[K] } = { server, proxy: '', before: async () => {} };
  const { url } = await recordingProxy(scope, server, async query => {
    if (/^\s*(?:--[^\n]*\n\s*)*(?:ALTER|CREATE|DROP|INSERT|REFRESH|RENAME|UPDATE)\b/i.test(query))
      await opened.before();
    return undefined;
  });
  opened.proxy = url;
  return opened;
}

/** One run: what is the same for all its steps, and what it has found and counted. */
export class Runner {
  readonly findings: Finding[] = [];
  /** What somebody needs to see what happened: schemas, options, plans, messages. */
  readonly lines: string[] = [];
  /** Statements that were planned, without assertions, and changes that were left out. */
  planned = 0;
  leftOut = 0;
  /** Plans that an assertion has stopped although nothing happened in between, and although something did. */
  alone = 0;
  disturbed = 0;
  /** The views of which a message says that their `history` leaves them empty. */
  readonly emptied = new Set<string>();
  /** Whether the wanted schema, or a rename that was stated, was rejected. */
  isRejected = false;
  /** The names of losses that were allowed in the end, and those of them that lost nothing. */
  readonly allowed: string[] = [];
  readonly needless: string[] = [];

  constructor(
    readonly seed: number,
    readonly rows: RowServer,
    readonly folder: string,
    readonly shell: Run,
    readonly random: Randomness,
  ) {}

  get server(): Server {
    return this.rows.server;
  }

  async call(...words: string[]): Promise<Outcome> {
    const line = words.map(word => (word.includes("'") ? `"${word}"` : `'${word}'`)).join(' ');
    const outcome = await this.shell(line);
    this.note(`$ ${words.join(' ')}`, outcome.stderr.trimEnd(), `status ${outcome.code}`);
    return outcome;
  }

  file = (name: string): string => join(this.folder, name);
  note = (...texts: string[]): void => void this.lines.push(...texts);
  report = (what: string, about: string): void => void this.findings.push({ what, about });
}

export const TIMEOUT = '20';

export interface Planned {
  readonly status: number;
  readonly leftOut: readonly string[];
  readonly names: readonly string[];
  readonly statements: readonly string[];
}

export const namesIn = (messages: readonly string[]): string[] => [
  ...new Set(
    messages.flatMap(message =>
      [...message.matchAll(/--allow-loss ("[^"]+"|[^\s;"]+)/g)].map(([, name = '']) => name.replaceAll('"', '')),
    ),
  ),
];

export const readPlan = (path: string): string[] => {
  try {
    return readFileSync(path, 'utf8')
      .split('\0')
      .filter(each => each.trim() !== '');
  } catch {
    return [];
  }
};

export async function plan(
  run: Runner,
  options: readonly string[],
  allowed: readonly string[],
  undo?: string,
): Promise<Planned> {
  for (const name of ['plan', 'undo']) rmSync(run.file(name), { force: true });
  const words = [
    ...options,
    ...allowed.flatMap(name => ['--allow-loss', name]),
    ...(undo ? ['--undo', run.file('undo')] : []),
  ];
  const files = ['-o', run.file('plan'), run.file('after.sql'), run.server.url];
  const { code: status, stderr } = await run.call('sqldiff', '--alter', '--timeout', TIMEOUT, ...words, ...files);
  const statements = readPlan(run.file('plan'));
  run.note(...statements.map(each => each.trim()));
  const leftOut = stderr.split(/^(?=sqldiff: )/m).filter(message => message.includes(': left out: '));
  for (const [, name = ''] of stderr.matchAll(/leaves materialized view '(.+)' empty although it had rows/g))
    run.emptied.add(name);
  if (status === 70) run.report('status 70', stderr);
  // A view of the wanted schema is broken, or a rename that was stated is refused.
  else if (status === 65 || (status === 64 && /--renamed|--rebuild/.test(stderr))) run.isRejected = true;
  else if (status !== 0 && status !== 1) run.report('planner failed', `status ${status}: ${stderr}`);
  return { status, leftOut, names: namesIn(leftOut), statements };
}

const isStop = (stderr: string): boolean => /the assertion is not true|is not true/.test(stderr);
const isStale = (stderr: string): boolean => /somebody else has changed|made for a different state/.test(stderr);

/** Runs sqlapply, and judges how it ends. @returns whether all was applied */
export async function apply(run: Runner, words: readonly string[], wasDisturbed: boolean): Promise<boolean> {
  const { code: status, stderr } = await run.call('sqlapply', '--timeout', TIMEOUT, ...words);
  if (status === 0) return true;
  // sqlapply --alter leaves something out, or says that columns are in another order.
  if (status === 1 && /: left out: |no ALTER changes the order of columns/.test(stderr)) return false;
  if (status === 70) run.report('status 70', stderr);
  else if (isStop(stderr)) run[wasDisturbed ? 'disturbed' : 'alone']++;
  else if ((isStale(stderr) || /is suspended/.test(stderr)) && wasDisturbed) run.disturbed++;
  else run.report('plan rejected', stderr);
  return false;
}

/** Runs sqlapply, through the proxy, and kills it when it sends its n-th statement that changes something. */
export async function applyAndKill(run: Runner, words: readonly string[], at: number): Promise<void> {
  run.note(`$ sqlapply ${words.join(' ')}`, `meanwhile: SIGKILL at statement ${at}`);
  const child = spawn('sqlapply', words, { env: shellEnvironment(run.folder, {}), stdio: 'ignore' });
  let n = 0;
  run.rows.before = async () => {
    if (++n === at) child.kill('SIGKILL');
  };
  await once(child, 'close');
  run.rows.before = async () => {};
}

const RETRIES = 7;

/** What is lost, once the server has had the time to fill the views again. */
export async function lostAfter(run: Runner, then: Holders, change: Change, named: Named): Promise<Finding[]> {
  let lost: Finding[] = [];
  for (let tries = 0; tries < RETRIES; tries++) {
    await settle(run.server);
    // What was sent to a suspended table is a part of it.
    if (tries === RETRIES - 3) await resumeAll(run.server);
    lost = await findLost(run.server, then, await takeHolders(run.server), change, named);
    if (lost.length === 0) break;
    await new Promise(done => setTimeout(done, 40 * tries));
  }
  return lost;
}

export async function checkSame(run: Runner, options: readonly string[]): Promise<void> {
  const isRename = (word: string) => /^--(?:renamed|rebuild)$/.test(word);
  const compared = options.filter((word, i) => !isRename(word) && !isRename(options[i - 1] ?? ''));
  const words = [...compared, '--ignore', 'column order'];
  const { code, stdout } = await run.call('sqldiff', ...words, run.file('after.sql'), run.server.url);
  const differences = stdout
    .split('\n')
    .filter(line => /^(only in|differs)/.test(line) && !/_before_|'their view'/.test(line));
  if (code > 1 || differences.length > 0) run.report('not the wanted schema', `status ${code}\n${stdout}`);
}
