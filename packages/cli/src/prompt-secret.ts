/*! Prompts for a secret on the terminal itself, because standard input and standard output may be statement streams. */
import { once } from 'node:events';
import { openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { ReadStream } from 'node:tty';

/** Reads a line from /dev/tty, without echo; undefined without a terminal, or at the end of input (^D). ^C interrupts the pipeline. */
export async function promptSecret(question: string): Promise<string | undefined> {
  let terminal: number;
  try {
    terminal = openSync('/dev/tty', 'r+');
  } catch {
    return undefined; // a daemon or a cron job has no terminal
  }
  const keys = new ReadStream(terminal);
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: keys, output: discard, terminal: true });
  writeSync(terminal, `${question}: `);
  try {
    lines.once('close', () => writeSync(terminal, '\n'));
    lines.once('SIGINT', () => {
      lines.close();
      process.kill(0, 'SIGINT');
    });
    const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close')]);
    return line;
  } finally {
    lines.close();
    keys.destroy();
  }
}
