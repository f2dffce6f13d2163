/*! Scripts by which shells complete command lines. They are made once, and ask the programs for nothing but names. */

import { bash } from './completion-bash.js';
import { fish } from './completion-fish.js';
import type { CompletionSpec } from './completion-spec.js';
import { zsh } from './completion-zsh.js';

/** Functions that write completion scripts, by shell. */
export const COMPLETIONS: Record<string, (program: CompletionSpec) => string> = { bash, zsh, fish };
