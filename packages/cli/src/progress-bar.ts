/*! Formats the progress bar. It is a separate module, loaded late, because few runs draw one. */
import type { Writable } from 'node:stream';
import { Format, type Options, type Params, Presets, SingleBar } from 'cli-progress';
import cliTruncate from 'cli-truncate';

export interface ProgressStep {
  done: number;
  /** The number of all statements, if it is known. */
  total?: number | undefined;
  /** The current statement, safe to show. */
  what: string;
}

interface Payload extends ProgressStep {
  name: string;
  /** Statements per second. */
  rate: number;
}

/** Creates a bar on a terminal. It never wraps, and leaves nothing on the screen when it is stopped. */
export function createBar(stream: Writable): SingleBar {
  const options = { stream, format, barsize: 20, fps: 10, linewrap: true, clearOnComplete: true };
  const bar = new SingleBar(options as Options, Presets.legacy);
  // The library would move the cursor to a saved position. After messages have scrolled the screen, that is a wrong one.
  const { terminal } = bar as unknown as { terminal: object };
  return Object.assign(bar, { terminal: Object.assign(terminal, { cursorSave() {}, cursorRestore() {} }) });
}

/** The minimum number of columns of a terminal that has room for the bar besides the numbers. */
const MIN_BAR_WIDTH = 60;

function format(options: Options, params: Params & { maxWidth: number }, { name, done, total, rate, what }: Payload) {
  const bar = total && params.maxWidth >= MIN_BAR_WIDTH ? `[${Format.BarFormat(params.progress, options)}] ` : '';
  const count = total ? `${done}/${total}` : `${done}`;
  const parts = [`${name}: ${bar}${count}`, `${rate.toFixed(rate < 10 ? 1 : 0)}/s`];
  if (total && rate > 0) parts.push(`ETA ${formatDuration((total - done) / rate)}`);
  return cliTruncate([...parts, what].join(', '), params.maxWidth - 1);
}

/** `0:07`, `1:02:03` */
function formatDuration(seconds: number): string {
  const rounded = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(rounded / 3600), Math.floor(rounded / 60) % 60];
  const twoDigits = (number: number) => String(number).padStart(2, '0');
  return `${hours ? `${hours}:${twoDigits(minutes)}` : minutes}:${twoDigits(rounded % 60)}`;
}
