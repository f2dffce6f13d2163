/*!
 * Runs a real QuestDB in a new folder until SIGTERM or SIGINT, or until the
 * pipe on its stdin closes. So a test that is killed leaves no server behind.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, fstatSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { freePort } from '../test/support/ports.js';
import { classArchive, DEFAULT_VERSION, fetchJar, formatMissing } from './questdb/java.js';

const VERSION = process.env.QUESTDB_VERSION ?? DEFAULT_VERSION;
const USAGE = `usage: node --import=tsx scripts/questdb.ts [--in FOLDER | --jar]

Starts QuestDB ${VERSION} in a new temporary folder on a free port of 127.0.0.1 and prints its URL when it answers.
QUESTDB_VERSION chooses another version, such as 9.0.3, 9.1.1, 9.2.3 or 9.3.0.
Ends it, and removes the folder, on SIGTERM or SIGINT (npx would not pass them on), or when the pipe on stdin closes.
SIGUSR2 is its sudden death: the server gets a SIGKILL.
QDB_… variables reach the server: QDB_HTTP_USER, QDB_CAIRO_WAL_ENABLED_DEFAULT, …

  --in FOLDER   start it in this folder, which may hold a database, and leave the folder
  --jar         only print the path of the server's jar, fetched through Maven the first time, and prepare a quick start
`;

/** Default settings of every server: only HTTP, few threads, a short log, small files, a quick start. */
const DEFAULTS = {
  QDB_HTTP_MIN_ENABLED: 'false',
  QDB_LINE_TCP_ENABLED: 'false',
  QDB_PG_ENABLED: 'false',
  QDB_TELEMETRY_ENABLED: 'false',
  QDB_SHARED_WORKER_COUNT: '1',
  QDB_LOG_W_STDOUT_LEVEL: 'ADVISORY,CRITICAL,ERROR',
  // Tables of tests are small, and the server fills each page of a new one.
  QDB_CAIRO_WRITER_DATA_APPEND_PAGE_SIZE: '64K',
  QDB_CAIRO_WRITER_DATA_INDEX_VALUE_APPEND_PAGE_SIZE: '64K',
  QDB_CAIRO_WAL_WRITER_DATA_APPEND_PAGE_SIZE: '64K',
  // A detached partition can be attached again as it is.
  QDB_CAIRO_ATTACH_PARTITION_SUFFIX: '.detached',
  JDK_JAVA_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+DisableExplicitGC',
};

const ARCHIVE = classArchive(VERSION);

/** Starts a server; resolves to its URL, or to its error output if it ended. */
async function start(
  folder: string,
  options: readonly string[],
): Promise<{ server: ChildProcess; url: string } | { errorOutput: string }> {
  const address = process.env.QDB_HTTP_BIND_TO ?? `127.0.0.1:${await freePort()}`;
  const program = ['-p', fetchJar(VERSION), '-m', 'io.questdb/io.questdb.ServerMain', '-d', folder];
  const server = spawn('java', [...options, ...program], {
    env: { ...DEFAULTS, ...process.env, QDB_HTTP_BIND_TO: address },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await once(server, 'spawn');
  const errorOutput = text(server.stderr);
  if (await waitUntilReady(server.stdout)) {
    server.stdout.resume();
    return { server, url: `http://${address}` };
  }
  return { errorOutput: await errorOutput };
}

/** Waits for the message in the log, since a request may be answered by another server that has taken the port. */
async function waitUntilReady(log: Readable): Promise<boolean> {
  for await (const line of createInterface(log)) {
    if (line.endsWith('server-main enjoy')) return true;
  }
  return false;
}

/** As `start`, with another port if another process has taken the first one. */
async function startOnFreePort(
  folder: string,
  options: readonly string[] = existsSync(ARCHIVE) ? [`-XX:SharedArchiveFile=${ARCHIVE}`] : [],
  attempts = 5,
): Promise<{ server: ChildProcess; url: string }> {
  const result = await start(folder, options);
  if ('server' in result) return result;
  if (attempts > 1 && result.errorOutput.includes('could not bind socket'))
    return startOnFreePort(folder, options, attempts - 1);
  throw new Error(`QuestDB did not start:\n${result.errorOutput}`);
}

/** Resolves when this script is to end the server. */
function waitForEnd(): Promise<unknown> {
  const ways = [once(process, 'SIGTERM'), once(process, 'SIGINT')];
  const stdin = fstatSync(0);
  if (stdin.isFIFO() || stdin.isSocket()) ways.push(once(process.stdin.resume(), 'close'));
  return Promise.race(ways);
}

async function serve(folder: string, signal: NodeJS.Signals): Promise<void> {
  const endRequested = waitForEnd().then(() => true);
  const { server, url } = await startOnFreePort(folder);
  process.once('SIGUSR2', () => server.kill('SIGKILL'));
  const ended = once(server, 'exit').then(() => false);
  console.log(url);
  if (!(await Promise.race([endRequested, ended]))) throw new Error(`QuestDB at ${url} ended by itself`);
  server.kill(signal);
  await ended;
}

async function inNewFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'questdb-'));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a server for a moment to archive its classes, so that later ones start in half the time. */
async function archiveClasses(folder: string): Promise<void> {
  const incomplete = `${ARCHIVE}.${process.pid}`;
  const { server } = await startOnFreePort(folder, [`-XX:ArchiveClassesAtExit=${incomplete}`]);
  server.kill();
  await once(server, 'exit');
  renameSync(incomplete, ARCHIVE);
}

async function prepare(): Promise<string> {
  const jar = fetchJar(VERSION);
  // An archive takes five seconds, so it pays only for the version that is started often.
  if (VERSION === DEFAULT_VERSION && !existsSync(ARCHIVE)) await inNewFolder(archiveClasses);
  return jar;
}

try {
  const [option, folder] = process.argv.slice(2);
  // A shutdown takes time, or may not end; it is for data that stays.
  if (option === undefined) await inNewFolder(folder => serve(folder, 'SIGKILL'));
  else if (option === '--in' && folder) await serve(folder, 'SIGTERM');
  else if (option === '--jar') console.log(await prepare());
  else if (option === '--help') process.stdout.write(USAGE);
  else throw new Error(`unknown option: ${option}\n${USAGE}`);
} catch (error) {
  console.error(`questdb: ${formatMissing(error)}`);
  process.exitCode = 1;
} finally {
  process.stdin.destroy();
}
