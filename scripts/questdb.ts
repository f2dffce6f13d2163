/*!
 * Runs a real QuestDB in a new folder until SIGTERM or SIGINT, or until the
 * pipe on its stdin closes. So a test that is killed leaves no server behind.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, fstatSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/support/ports.js';

const VERSION = process.env.QUESTDB_VERSION ?? '9.3.4';
const USAGE = `usage: node --import=tsx scripts/questdb.ts [--in FOLDER | --jar]

Starts QuestDB ${VERSION} in a new temporary folder on a free port of 127.0.0.1 and prints its URL when it answers.
QUESTDB_VERSION chooses another version, such as 9.0.3, 9.1.1, 9.2.3 or 9.3.0.
Ends it, and removes the folder, on SIGTERM or SIGINT (npx would not pass them on), or when the pipe on stdin closes.
SIGUSR2 is its sudden death: the server gets a SIGKILL.
QDB_… variables reach the server: QDB_HTTP_USER, QDB_CAIRO_WAL_ENABLED_DEFAULT, …

  --in FOLDER   start it in this folder, which may hold a database, and leave the folder
  --jar         only print the path of the server's jar, fetched through Maven the first time
`;

/** Default settings of every server: only HTTP, few threads, a short log, a quick start. */
const DEFAULTS = {
  QDB_HTTP_MIN_ENABLED: 'false',
  QDB_LINE_TCP_ENABLED: 'false',
  QDB_PG_ENABLED: 'false',
  QDB_TELEMETRY_ENABLED: 'false',
  QDB_SHARED_WORKER_COUNT: '2',
  QDB_LOG_W_STDOUT_LEVEL: 'ADVISORY,CRITICAL,ERROR',
  JDK_JAVA_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC',
};

const CACHE = fileURLToPath(new URL('../.cache', import.meta.url));

/** The path of the server's jar. Maven first copies it into another folder, so that an incomplete jar is never found. */
function fetchJar(): string {
  const path = join(CACHE, `questdb-${VERSION}.jar`);
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'maven-'));
  try {
    const copy = ['dependency:copy', `-Dartifact=org.questdb:questdb:${VERSION}`, `-DoutputDirectory=${folder}`];
    execFileSync('mvn', ['--quiet', '--batch-mode', ...copy], { cwd: folder, stdio: ['ignore', 2, 2] });
    renameSync(join(folder, `questdb-${VERSION}.jar`), path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return path;
}

/** Starts a server; resolves to its URL, or to its error output if it ended. */
async function start(folder: string): Promise<{ server: ChildProcess; url: string } | { errorOutput: string }> {
  const address = process.env.QDB_HTTP_BIND_TO ?? `127.0.0.1:${await freePort()}`;
  const server = spawn('java', ['-p', fetchJar(), '-m', 'io.questdb/io.questdb.ServerMain', '-d', folder], {
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
async function startOnFreePort(folder: string, attempts = 5): Promise<{ server: ChildProcess; url: string }> {
  const result = await start(folder);
  if ('server' in result) return result;
  if (attempts > 1 && result.errorOutput.includes('could not bind socket'))
    return startOnFreePort(folder, attempts - 1);
  throw new Error(`QuestDB did not start:\n${result.errorOutput}`);
}

/** Resolves when this script is to end the server. */
function waitForEnd(): Promise<unknown> {
  const ways = [once(process, 'SIGTERM'), once(process, 'SIGINT')];
  const stdin = fstatSync(0);
  if (stdin.isFIFO() || stdin.isSocket()) ways.push(once(process.stdin.resume(), 'close'));
  return Promise.race(ways);
}

async function serve(folder: string): Promise<void> {
  const endRequested = waitForEnd().then(() => true);
  const { server, url } = await startOnFreePort(folder);
  process.once('SIGUSR2', () => server.kill('SIGKILL'));
  const ended = once(server, 'exit').then(() => false);
  console.log(url);
  if (!(await Promise.race([endRequested, ended]))) throw new Error(`QuestDB at ${url} ended by itself`);
  server.kill();
  await ended;
}

async function serveInNewFolder(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'questdb-'));
  try {
    await serve(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  const [option, folder] = process.argv.slice(2);
  if (option === undefined) await serveInNewFolder();
  else if (option === '--in' && folder) await serve(folder);
  else if (option === '--jar') console.log(fetchJar());
  else if (option === '--help') process.stdout.write(USAGE);
  else throw new Error(`unknown option: ${option}\n${USAGE}`);
} catch (error) {
  const { code, path, message } = error as NodeJS.ErrnoException;
  const missing = code === 'ENOENT' && (path === 'java' || path === 'mvn');
  console.error(`questdb: ${missing ? `${path} is not on the PATH: install Java 17 or later and Maven` : message}`);
  process.exitCode = 1;
} finally {
  process.stdin.destroy();
}
