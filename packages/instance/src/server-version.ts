import type { Instance } from './instance.js';
import { InstanceError } from './instance-error.js';

/** Does not match the enterprise edition, which has version numbers of its own. */
const BUILD = /^(?!.*enterprise).*\bQuestDB (\d+\.\d+(?:\.\d+)?)/i;

/** Whether an instance is of the enterprise edition: the other one does not know this statement. */
export async function isEnterprise(instance: Instance): Promise<boolean> {
  try {
    await instance.table('SHOW USERS');
    return true;
  } catch (error) {
    if (!(error instanceof InstanceError)) throw error;
    return error.code === 'DENIED';
  }
}

/** The version of an instance of the open source edition, such as `9.3.4`; undefined if it does not report one. */
export async function fetchVersion(instance: Instance): Promise<string | undefined> {
  try {
    const [[build] = []] = await instance.table('SELECT build()');
    return BUILD.exec(String(build))?.[1];
  } catch (error) {
    if (error instanceof InstanceError) return undefined;
    throw error;
  }
}
