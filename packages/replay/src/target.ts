/*! The instance that a replay changes: whether it may be changed, and the connections to it. */
import { type ConnectionConfig, connect, type Instance } from '@sqlpipe/instance';

/** The connections to the target of a replay. */
export interface ReplayTarget {
  /** How to connect. */
  readonly config: ConnectionConfig;
  /** The connections that statements are sent on, one for each that may be in flight. */
  readonly jobs: readonly Instance[];
  /** The connection for everything else. */
  readonly connection: Instance;
  close(): Promise<void>;
}

/** What a run would do to a target. */
export interface TargetOptions {
  /** The number of statements that may be in flight; at least 1. */
  readonly jobs: number;
  /** Change nothing. */
  readonly dryRun: boolean;
  /** The name of the instance that may be changed even if it is protected. */
  readonly yesTo?: string | undefined;
  /** The error about a protected instance, which says how to confirm a change. */
  createProtectedError(name: string): Error;
}

/** Connects to a target. A protected instance is changed only if `yesTo` is its name. */
export async function openTarget(config: ConnectionConfig, options: TargetOptions): Promise<ReplayTarget> {
  const names = options.dryRun ? [] : ((await config.protectedNames?.()) ?? []);
  const [name] = names;
  if (name !== undefined && (options.yesTo === undefined || !names.includes(options.yesTo)))
    throw options.createProtectedError(name);
  const jobs = Array.from({ length: options.jobs }, () => connect(config));
  const connection = jobs.length === 1 ? (jobs[0] as Instance) : connect(config);
  return {
    config,
    jobs,
    connection,
    close: async () => void (await Promise.all([connection, ...jobs].map(each => each.close()))),
  };
}
