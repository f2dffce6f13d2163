/*! Asks for a secret on the terminal itself, because standard input may be a statement stream and standard output one too. */
import { openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { ReadStream } from 'node:tty';

/**
 * The line typed at /dev/tty, without echo. Undefined where there is no terminal, and where the answer is the end of
 * input (^D). ^C interrupts the whole pipeline, as it does at any other moment.
 */
export async function promptSecret(question: string): Promise<string | undefined> {
  const terminal = openTerminal();
  if (terminal === undefined) return undefined;
  const keys = new ReadStream(terminal);
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: keys, output: discard, terminal: true });
  writeSync(terminal, `${question}: `);
  try {
    return await new Promise(resolve => {
      lines.once('line', resolve);
      lines.once('close', () => {
        writeSync(terminal, '\n');
        resolve(undefined);
      });
      lines.once('SIGINT', () => {
        lines.close();
        process.kill(0, 'SIGINT');
      });
    });
  } finally {
    lines.close();
    keys.destroy();
  }
}

function openTerminal(): number | undefined {
  try {
    return openSync('/dev/tty', 'r+');
  } catch {
    return undefined; // a daemon or a cron job has none
  }
}
