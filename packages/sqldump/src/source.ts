/*! The source: which instance it is, and its statements. */
import type { Io } from '@sqlpipe/cli';
import { removeOwner } from '@sqlpipe/ddl';
import {
  type ConnectionConfig,
  type DumpOptions,
  dump,
  type InstanceOptions,
  type ResolvedInstance,
  resolveInstance,
} from '@sqlpipe/instance';

/** The instance that an operand names. @throws InstanceError */
export function resolveSource(operand: string, options: InstanceOptions, io: Io): Promise<ResolvedInstance> {
  const { env, warn, info, promptSecret, logRequest } = io;
  return resolveInstance(operand, { program: 'sqldump', env, options, warn, info, promptSecret, logRequest });
}

/** The statements of the source that the options select, in batches. @throws InstanceError while they are read */
export function dumpSource(
  source: ConnectionConfig,
  { noOwner, ...options }: Partial<DumpOptions> & { noOwner: boolean },
): AsyncIterable<string[]> {
  const statements = dump(source, options);
  return noOwner ? removeOwners(statements) : statements;
}

async function* removeOwners(batches: AsyncIterable<string[]>): AsyncGenerator<string[]> {
  for await (const batch of batches) yield batch.map(removeOwner);
}
