/*!
 * The servers of a run of tests: a test file borrows one, and nobody else has it meanwhile. `ava.config.js` opens a pool of each
 * kind, in the process that starts those of the test files.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statfsSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

/** Where QuestDB keeps its data: in memory if there is room, since half of what it does for a table is making files. */
export const DATA = hasRoom('/dev/shm') ? '/dev/shm' : tmpdir();

/** Whether a folder exists, on a file system with a gibibyte left, of which a server needs a few percent. */
function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize > 2 ** 30;
}

/** A message of the pool: the URL of a server, or why there is none. */
interface Loan {
  url?: string;
  error?: string;
}

interface Lent {
  url: string;
  process: ChildProcess;
}

/**
 * Opens a pool of servers that a script for Node starts, and returns its port. Who connects gets a server, and gives it back by
 * closing the connection, as the end of a process does too. There are as many as were borrowed at once. They end with this process,
 * because their standard input closes.
 */
export async function openPool(script: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const free: Lent[] = [];
  const lend = async (socket: Socket): Promise<void> => {
    socket.on('error', () => {}); // the borrower has ended
    const closed = once(socket, 'close');
    try {
      const server = free.pop() ?? (await start(script, env));
      reply(socket, { url: server.url });
      await closed;
      if (server.process.exitCode === null) free.push(server);
    } catch (error) {
      reply(socket, { error: (error as Error).message });
    }
  };
  const pool = createServer(socket => void lend(socket)).listen(0, '127.0.0.1');
  await once(pool, 'listening');
  pool.unref();
  return (pool.address() as AddressInfo).port;
}

const reply = (socket: Socket, loan: Loan) => socket.write(`${JSON.stringify(loan)}\n`);

/** @throws what the server printed if it does not start */
async function start(script: readonly string[], env: NodeJS.ProcessEnv): Promise<Lent> {
  const child = spawn(process.execPath, script, { env: { ...process.env, ...env }, stdio: 'pipe' });
  // They do not keep this process from ending.
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as unknown as Socket).unref();
  const messages = text(child.stderr);
  const [url] = await Promise.race([once(createInterface(child.stdout), 'line'), messages.then(() => [])]);
  if (url === undefined) throw new Error(await messages);
  return { url, process: child };
}

/** Borrows a server of the pool at a port. `giveBack` returns it. @throws what the server printed if it did not start */
export async function borrow(port: number): Promise<{ url: string; giveBack: () => Promise<void> }> {
  const socket = connect(port, '127.0.0.1');
  const [line] = await once(createInterface(socket), 'line');
  const { url, error }: Loan = JSON.parse(line);
  if (url === undefined) throw new Error(`a server did not start: ${error}`);
  const giveBack = async (): Promise<void> => {
    socket.end();
    await once(socket, 'close');
  };
  return { url, giveBack };
}
