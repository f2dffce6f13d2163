/*! Memory of programs that stream more data than they keep. */
import { setFlagsFromString } from 'node:v8';

/**
 * Keeps V8's room for what is new at the size it begins with. It would grow with what flows through, as if that were to
 * stay: by 40 MB for a dump of 100 MB on Node 20, by 80 on Node 24. What does hold all it reads gets slower by this.
 */
export const limitHeapGrowth = (): void => setFlagsFromString('--semi-space-growth-factor=1');

/**
 * Makes V8 collect garbage when its heap has grown by 30 percent, where it would wait for much more: for programs that pass
 * their data through a temporary file. It halves the memory for 300,000 statements, and takes a fifth more time.
 */
export const collectGarbageEarly = (): void => setFlagsFromString('--heap-growing-percent=30');
