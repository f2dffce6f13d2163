import type { Io } from '@sqlpipe/cli';
import { type InstanceOptions, type ResolvedInstance, resolveInstance } from '@sqlpipe/instance';

/** The target that an operand names. @throws InstanceError */
export function resolveTarget(operand: string, options: InstanceOptions, io: Io): Promise<ResolvedInstance> {
  const { env, warn, info, logRequest, promptSecret } = io;
  return resolveInstance(operand, { program: 'sqlapply', env, options, warn, info, logRequest, promptSecret });
}
