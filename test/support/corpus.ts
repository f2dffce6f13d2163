/*!
 * Recorded replies of real servers to thousands of statements: a folder beside the project, or the folder in CORPUS.
 */
import { existsSync } from 'node:fs';

/** The folder of the recordings; undefined where they are missing. */
export const CORPUS: string | undefined = [process.env.CORPUS ?? '../shared/corpus'].find(existsSync);
