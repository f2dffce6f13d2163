/*! Applies statements with the built sqlapply, and collects its results. */
import type { Scope } from './scope.js';
import { shell } from './shell.js';

/** A line of a report, with the properties that tests use. */
export interface ReportLine {
  n: number;
  kind: string;
  name: string;
  result: string;
  error?: string;
  proven?: boolean;
}

/** The results of one run of sqlapply. */
export interface Replay {
  code: number;
  stderr: string;
  report: ReportLine[];
  /** The `result` of each line of the report. */
  results: string[];
  /** The content of the `--rejects` file; undefined if there is none. */
  rejects: string | undefined;
}

/**
 * Applies `.sql` text to an instance. In the script, `report` is the file of `--report`, and `$DST` is the instance.
 * @param input the command that writes the stream; by default it converts the text
 */
export async function runSqlapply(
  scope: Scope,
  url: string,
  { text = '', options = '', input = 'sqlsplit <<< "$TEXT"' }: { text?: string; options?: string; input?: string },
): Promise<Replay> {
  const run = await shell(scope, { DST: url, TEXT: text });
  const { code, stderr } = await run(`{ ${input}; } | sqlapply --report report --rejects rest ${options} $DST`);
  const report = (await run('cat report')).stdout
    .toString()
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as ReportLine);
  const rejects = await run('cat rest');
  return {
    code,
    stderr,
    report,
    results: report.map(({ result }) => result),
    rejects: rejects.code === 0 ? rejects.stdout.toString() : undefined,
  };
}
