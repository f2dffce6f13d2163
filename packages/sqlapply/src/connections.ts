/*! The target of a run: which instance it is, whether it may be changed, and the connections to it. */
import { type Io, UsageError } from '@sqlpipe/cli';
import {
  type ConnectionConfig,
  connect,
  type Instance,
  type InstanceOptions,
  type ResolvedInstance,
  resolveInstance,
} from '@sqlpipe/instance';
import type { RunOptions } from './options.js';

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

/** The target that an operand names. @throws InstanceError */
export function resolveTarget(operand: string, options: InstanceOptions, io: Io): Promise<ResolvedInstance> {
  const { env, warn, logRequest, promptSecret } = io;
  return resolveInstance(operand, { program: 'sqlapply', env, options, warn, logRequest, promptSecret });
}

/** Connects to the target of a run. @throws UsageError */
export function openConnections(resolved: ResolvedInstance, options: RunOptions, io: Io): Connections {
  requirePermission(resolved, options);
  if (!(Number.isInteger(options.jobs) && options.jobs >= 1 && options.jobs <= MAX_JOBS))
    throw new UsageError(`--jobs must be a number from 1 to ${MAX_JOBS}`);
  const config = { ...resolved, interrupted: io.interrupted };
  const jobs = Array.from({ length: options.jobs }, () => connect(config));
  const target = jobs.length === 1 ? (jobs[0] as Instance) : connect(config);
  return {
    config,
    jobs,
    target,
    close: async () => void (await Promise.all([target, ...jobs].map(each => each.close()))),
  };
}

/** A protected instance is changed only if --yes-to names it. */
function requirePermission({ name, protected: isProtected }: ConnectionConfig, { dryRun, yesTo }: RunOptions): void {
  if (isProtected && !dryRun && yesTo !== name)
    throw new UsageError(`${name} is protected; to change it, give --yes-to=${name}`);
}
