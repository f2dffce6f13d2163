/*! A replay by the built sqlapply, and all that it leaves behind. */
import type { Scope } from './scope.js';
import { shell } from './shell.js';

/** A line of a report, as far as tests look at it. */
export interface ReportLine {
  n: number;
  kind: string;
  name: string;
  result: string;
  error?: string;
  proven?: boolean;
}

/** What a replay left behind. */
export interface Replay {
  code: number;
  stderr: string;
  report: ReportLine[];
  /** The `result` of each line of the report. */
  results: string[];
  /** What `--rejects` wrote, as it is; undefined without the file. */
  rejects: string | undefined;
}

/**
 * Replays `.sql` text on an instance. In the script `report` is the file of `--report`, and `$DST` the instance.
 * @param input the command that writes the stream, in place of one that makes it of the text
 */
export async function replay(
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
  const rest = await run('cat rest');
  return {
    code,
    stderr,
    report,
    results: report.map(({ result }) => result),
    rejects: rest.code === 0 ? rest.stdout.toString() : undefined,
  };
}
