/*! One fault in a pipeline: `sqldump SOURCE | sqlapply TARGET`. */
import { inProcess } from '../support/in-process.js';
import type { Scope } from '../support/scope.js';
import type { Server } from '../support/server.js';

import { type Request, reply, startFaultyServer } from './faulty-server.js';
import type { Source } from './sources.js';
import type { TargetFault } from './targets.js';

export interface Run {
  dump: number;
  apply: number;
  stderr: string;
}

/** Runs the pipeline. `timeout` is the timeout of the programs in seconds; the default is enough on a busy machine. */
export async function runCopy(scope: Scope, source: Source, target: string, timeout = 30): Promise<Run> {
  const run = await inProcess(scope);
  const options = `--timeout ${timeout}`;
  const { stdout, stderr } = await run(
    `sqldump ${options} ${source.options ?? ''} '${source.url}' | sqlapply ${options} '${target}'; echo "$\{PIPESTATUS[@]}"`,
  );
  const [dump = -1, apply = -1] = stdout.trim().split(' ').map(Number);
  return { dump, apply, stderr };
}

/** The URL of a target that passes requests on to a good one, except the nth CREATE and, if the fault is lasting, all later requests. */
export async function startFailingTarget(
  scope: Scope,
  good: Server,
  fault: Pick<TargetFault, 'reached' | 'lasting' | 'answer'>,
  nth: number,
): Promise<string> {
  let creates = 0;
  let failing = false;
  const { url } = await startFaultyServer(scope, async (socket, request) => {
    const hit = request.statement.startsWith('CREATE ') && creates++ === nth;
    const fails = hit || (failing && fault.lasting);
    failing ||= hit;
    if (!fails || (hit && fault.reached)) {
      const whole = await forwardRequest(good, request);
      if (!fails) return socket.write(whole);
    }
    return fault.answer(socket, request);
  });
  return url;
}

export async function forwardRequest(good: Server, { line }: Request): Promise<Buffer> {
  const response = await fetch(good.url + line.split(' ')[1]);
  return reply(await response.text(), response.status);
}
