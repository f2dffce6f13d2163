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

function format(options: Options, params: Params & { maxWidth: number }, { name, done, total, rate, what }: Payload) {
  const count = total ? `[${Format.BarFormat(params.progress, options)}] ${done}/${total}` : `${done}`;
  return cliTruncate(`${name}: ${count}, ${rate.toFixed(rate < 10 ? 1 : 0)}/s, ${what}`, params.maxWidth - 1);
}
