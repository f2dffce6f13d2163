/*! Formats the line of the progress display. It is a separate module, loaded late, because few runs draw one. */
import cliTruncate from 'cli-truncate';

export interface ProgressStep {
  readonly done: number;
  /** The number of all statements, if it is known. */
  readonly total?: number | undefined;
  /** The current statement, safe to show. */
  readonly what: string;
}

/** The width of the bar, and the minimum number of columns of a terminal that has room for it besides the numbers. */
const BAR_WIDTH = 20;
const WIDE = 60;

/** `sqlapply: [=====---------------] 3/12, 4.5/s, ETA 0:02, table 'trades'`. @param rate statements per second */
export function formatProgress(
  name: string,
  { done, total, what }: ProgressStep,
  rate: number,
  columns: number,
): string {
  const count = total ? `${done}/${total}` : `${done}`;
  const bar =
    total && columns >= WIDE ? `[${'='.repeat(Math.round((BAR_WIDTH * done) / total)).padEnd(BAR_WIDTH, '-')}] ` : '';
  const parts = [`${name}: ${bar}${count}`, `${rate.toFixed(rate < 10 ? 1 : 0)}/s`];
  if (total && rate > 0) parts.push(`ETA ${formatSeconds((total - done) / rate)}`);
  return cliTruncate([...parts, what].join(', '), columns - 1);
}

/** `0:07`, `1:02:03` */
function formatSeconds(seconds: number): string {
  const rounded = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(rounded / 3600), Math.floor(rounded / 60) % 60];
  const twoDigits = (number: number) => String(number).padStart(2, '0');
  return `${hours ? `${hours}:${twoDigits(minutes)}` : minutes}:${twoDigits(rounded % 60)}`;
}
