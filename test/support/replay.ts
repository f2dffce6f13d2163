/*! Applies statements with the built sqlapply, and collects its results. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inProcess } from './in-process.js';
import { parseJsonLines } from './json-lines.js';
import type { Scope } from './scope.js';

export interface ReportLine {
  n: number;
  kind: string;
  name: string;
  result: string;
  error?: string;
  proven?: boolean;
}

export interface Replay {
  code: number;
  stderr: string;
  report: ReportLine[];
  results: string[];
  rejects: string | undefined;
}

/**
 * Applies `.sql` text to an instance. In the script, `report` is the file of `--report`, and `$DST` is the instance.
 * @param input a command of bash that writes the stream; by default it converts the text
 */
export async function runSqlapply(
  scope: Scope,
  url: string,
  { text = '', options = '', input }: { text?: string; options?: string; input?: string },
): Promise<Replay> {
  const run = await inProcess(scope, { DST: url, TEXT: text });
  const apply = `sqlapply --report report --rejects rest ${options} $DST`;
  const { code, stderr } = await (input === undefined
    ? run(`sqlsplit <<< "$TEXT" | ${apply}`)
    : run.bash(`{ ${input}; } | ${apply}`));
  const read = (name: string) => readFile(join(run.folder, name), 'utf8').catch(() => undefined);
  const report = parseJsonLines<ReportLine>((await read('report')) ?? '');
  return { code, stderr, report, results: report.map(({ result }) => result), rejects: await read('rest') };
}
