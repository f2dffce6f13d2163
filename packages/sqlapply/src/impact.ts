/*! What statements would do on a target beside what they say, for a dry run. */
import type { Io } from '@sqlpipe/cli';
import {
  type ConnectionConfig,
  connect,
  dump,
  fetchDefaults,
  fetchRefreshStates,
  InstanceError,
} from '@sqlpipe/instance';
import { collectStatements, ImpactAnalyzer, SchemaState } from '@sqlpipe/schema';
import type { ApplyOptions } from './options.js';

/** A impact for the target as it is now; undefined where no statement may change anything, or the target does not show what it has. */
export async function openImpactAnalyzer(
  config: ConnectionConfig,
  { allow, alter, allowLoss }: Pick<ApplyOptions, 'allow' | 'alter' | 'allowLoss'>,
  io: Io,
): Promise<ImpactAnalyzer | undefined> {
  if (allow.length === 0 && !alter) return undefined;
  const instance = connect(config);
  try {
    const [defaults, states] = [await fetchDefaults(instance), await fetchRefreshStates(instance)];
    const state = new SchemaState(await collectStatements(dump(config)), { defaults });
    return new ImpactAnalyzer(state, { ...states, allowLoss });
  } catch (error) {
    if (!(error instanceof InstanceError) || error.serverMessage === undefined) throw error;
    io.warn(`${config.label}: the effects on other objects are unknown: ${error.serverMessage}`);
    return undefined;
  } finally {
    await instance.close();
  }
}
