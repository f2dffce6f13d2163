/*! What real servers made of thousands of statements, recorded: a folder beside the project, or where CORPUS says. */
import { existsSync } from 'node:fs';

/** The folder of the recordings; undefined where they are missing. */
export const CORPUS: string | undefined = [process.env.CORPUS ?? '../shared/corpus'].find(existsSync);
