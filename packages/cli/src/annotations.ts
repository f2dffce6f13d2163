/*! Messages that GitHub shows at a line of a file (documented as "Workflow commands for GitHub Actions"). */
import { escapeLines, type LocatedMessage } from '@sqlpipe/text';
import { causesOf } from './exit-status.js';
import type { Io } from './io.js';

/** `::error file=schema.sql,line=3::table 'trades': …` */
export function formatAnnotation({ path, line, message }: LocatedMessage): string {
  const property = escapeData(path ?? '')
    .replaceAll(':', '%3A')
    .replaceAll(',', '%2C');
  const file = path === undefined ? '' : ` file=${property}${line === undefined ? '' : `,line=${line}`}`;
  return `::error${file}::${escapeData(escapeLines(message))}\n`;
}

const escapeData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

/** Runs `work`. If it fails because of places in files, prints annotations for these, before the error is reported. */
export async function annotateFailure<T>(work: () => Promise<T>, { write }: Pick<Io, 'write'>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const located = [...causesOf(error)].find(({ locatedMessages }) => locatedMessages)?.locatedMessages ?? [];
    await write(located.map(formatAnnotation).join(''));
    throw error;
  }
}
