/*! The target of a run: which instance it is, whether it may be changed, and the connections to it. */
import { type Io, UsageError } from '@sqlpipe/cli';
import {
  type ConnectionConfig,
  connect,
  type Instance,
  type ResolvedInstance,
  resolveInstance,
} from '@sqlpipe/instance';
import type { DeferredInput } from '@sqlpipe/records';
import type { ApplyOptions } from './options.js';

/** Maximum number of jobs: more connections do not help, and the server has other clients. */
const MAX_JOBS = 64;

/** The connections of a run. */
export interface Connections {
  /** How to connect. */
  config: ConnectionConfig;
  /** The connections that statements are sent on, one for each job. */
  jobs: readonly Instance[];
  /** The connection for everything else. */
  target: Instance;
  close(): Promise<void>;
}

/** The target that the operand names. @throws InstanceError */
export function resolveTarget(
  options: ApplyOptions,
  io: Io,
  promptSecret: Io['promptSecret'],
): Promise<ResolvedInstance> {
  const { env, warn, logRequest } = io;
  const [operand = ''] = options.operands;
  return resolveInstance(operand, { program: 'sqlapply', env, options, warn, logRequest, promptSecret });
}

/** Connects to the instance that the operand names. @throws UsageError, InstanceError */
export async function openConnections(options: ApplyOptions, input: DeferredInput, io: Io): Promise<Connections> {
  // The previous program in the pipe may prompt too: its prompt comes first.
  const promptSecret = (question: string) => input.ready().then(() => io.promptSecret(question));
  const resolved = await resolveTarget(options, io, promptSecret);
  requirePermission(resolved, options);
  if (!(Number.isInteger(options.jobs) && options.jobs >= 1 && options.jobs <= MAX_JOBS))
    throw new UsageError(`--jobs must be a number from 1 to ${MAX_JOBS}`);
  const jobs = Array.from({ length: options.jobs }, () => connect(resolved));
  const target = jobs.length === 1 ? (jobs[0] as Instance) : connect(resolved);
  return {
    config: resolved,
    jobs,
    target,
    close: async () => void (await Promise.all([target, ...jobs].map(each => each.close()))),
  };
}

/** A protected instance is changed only if --yes-to names it. */
function requirePermission({ name, protected: isProtected }: ConnectionConfig, { dryRun, yesTo }: ApplyOptions): void {
  if (isProtected && !dryRun && yesTo !== name)
    throw new UsageError(`${name} is protected; to change it, give --yes-to=${name}`);
}
