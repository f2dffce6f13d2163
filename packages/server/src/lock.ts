/*!
 * One service per folder. Node has no file locks, and a file that says "in use" outlives a killed process; so the
 * lock is a socket in Linux's abstract namespace, which the kernel hands out once and releases when its process ends.
 */
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { platform } from 'node:os';

/** A folder that another service uses. */
export class LockError extends Error {
  override name = 'LockError';
  readonly code = 'IO';
}

/**
 * Holds a folder until the socket is closed or this process ends, however it ends. Elsewhere than on Linux, and across
 * containers with networks of their own, nothing is held.
 * @throws LockError where another process holds it
 */
export async function lockFolder(folder: string): Promise<Server | undefined> {
  if (platform() !== 'linux') return;
  const { dev, ino } = await stat(folder);
  const lock = createServer().unref();
  try {
    await once(lock.listen(`\0sqlserve-${dev}-${ino}`), 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new LockError(`${folder} is in use by another sqlserve; end that one, or choose another folder`);
  }
  return lock;
}
