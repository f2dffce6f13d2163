/*! How progress looks, apart from its course because few runs draw it. */
import type { Writable } from 'node:stream';
import { Format, type Options, type Params, Presets, SingleBar } from 'cli-progress';
import cliTruncate from 'cli-truncate';

/** What there is to see. */
export interface ProgressStep {
  /** How many are done. */
  done: number;
  /** How many there are in all, where that is known. */
  total?: number | undefined;
  /** The one at hand; fit to be shown as it is. */
  what: string;
}

interface Payload extends ProgressStep {
  name: string;
  /** Per second. */
  rate: number;
}

/** A bar on a stream that is a terminal. It wraps nowhere, and leaves nothing when it is stopped. */
export function createBar(stream: Writable): SingleBar {
  const options = { stream, format, barsize: 20, fps: 10, linewrap: true, clearOnComplete: true };
  const bar = new SingleBar(options as Options, Presets.legacy);
  // It would go back to where it began, which scrolls away when messages come in between.
  const { terminal } = bar as unknown as { terminal: object };
  return Object.assign(bar, { terminal: Object.assign(terminal, { cursorSave() {}, cursorRestore() {} }) });
}

/** Columns of a terminal on which there is room for the bar beside the numbers. */
const WIDE = 60;

function format(options: Options, params: Params & { maxWidth: number }, { name, done, total, rate, what }: Payload) {
  const bar = total && params.maxWidth >= WIDE ? `[${Format.BarFormat(params.progress, options)}] ` : '';
  const count = total ? `${done}/${total}` : `${done}`;
  const parts = [`${name}: ${bar}${count}`, `${rate.toFixed(rate < 10 ? 1 : 0)}/s`];
  if (total && rate > 0) parts.push(`ETA ${formatSeconds((total - done) / rate)}`);
  return cliTruncate([...parts, what].join(', '), params.maxWidth - 1);
}

/** `0:07`, `1:02:03` */
function formatSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const two = (number: number) => String(number).padStart(2, '0');
  return `${hours ? `${hours}:${two(minutes)}` : minutes}:${two(whole % 60)}`;
}
