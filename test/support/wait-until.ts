/*! Waits for something that happens in the background, but not for ever. */
import { setTimeout as pause } from 'node:timers/promises';

const LIMIT_MS = 60_000;
const POLL_MS = 10;

/**
 * Asks again until the answer is yes.
 * @param what what is waited for, for the message
 * @throws Error after a minute
 */
export async function waitUntil(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const started = Date.now(); !(await isSo()); await pause(POLL_MS))
    if (Date.now() - started > LIMIT_MS) throw new Error(`waited ${LIMIT_MS / 1000} s in vain: ${what}`);
}
