/*!
 * Completion scripts for shells. A script is written once; when it runs, it asks a program only for names of instances.
 */

import { bash } from './completion-bash.js';
import { fish } from './completion-fish.js';
import type { CompletionSpec } from './completion-spec.js';
import { zsh } from './completion-zsh.js';

/** Functions that write completion scripts, by shell. */
export const COMPLETIONS: Record<string, (program: CompletionSpec) => string> = { bash, zsh, fish };
