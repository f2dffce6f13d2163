/*!
 * One sqlserve per folder. Node has no file locks, and a lock file outlives a killed process; so the lock is a socket
 * in Linux's abstract namespace: the kernel gives its name to one process only, and frees it when that process ends.
 */
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { platform } from 'node:os';
import { CodedError } from '@sqlpipe/text';

/**
 * Locks a folder until the socket is closed or this process ends, however it ends. On other systems than Linux, and
 * between containers with separate networks, nothing is locked.
 * @throws CodedError if another process has locked the folder
 */
export async function lockFolder(folder: string): Promise<Server | undefined> {
  if (platform() !== 'linux') return;
  const { dev, ino } = await stat(folder);
  const lock = createServer().unref();
  try {
    await once(lock.listen(`\0sqlserve-${dev}-${ino}`), 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new CodedError('IO', `${folder} is in use by another sqlserve; end that one, or choose another folder`);
  }
  return lock;
}
