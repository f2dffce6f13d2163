/*! Formats the progress bar. It is a separate module, loaded late, because few runs draw one. */
import cliTruncate from 'cli-truncate';

export interface ProgressStep {
  done: number;
  /** The number of all statements, if it is known. */
  total?: number | undefined;
  /** The current statement, safe to show. */
  what: string;
}

/** The line for a step after a number of seconds. It is shorter than `columns`, so that it never wraps. */
export function formatStep(
  name: string,
  { done, total, what }: ProgressStep,
  seconds: number,
  columns: number,
): string {
  const complete = total ? '='.repeat(Math.round((20 * done) / total)) : '';
  const bar = total && columns >= 60 ? `[${complete.padEnd(20, '-')}] ` : '';
  const rate = done / seconds;
  const parts = [`${name}: ${bar}${total ? `${done}/${total}` : done}`, `${rate.toFixed(rate < 10 ? 1 : 0)}/s`];
  if (total && rate > 0) parts.push(`ETA ${formatDuration((total - done) / rate)}`);
  return cliTruncate([...parts, what].join(', '), columns - 1);
}

/** `0:07`, `1:02:03` */
function formatDuration(seconds: number): string {
  const rounded = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(rounded / 3600), Math.floor(rounded / 60) % 60];
  const twoDigits = (number: number) => String(number).padStart(2, '0');
  return `${hours ? `${hours}:${twoDigits(minutes)}` : minutes}:${twoDigits(rounded % 60)}`;
}
