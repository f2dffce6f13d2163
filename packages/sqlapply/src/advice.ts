/*! How to go on where a run did not do all: by running the same again, as far as that knows what is there. */

import { canShow, isKnownAgain } from './held.js';
import type { JudgeOptions } from './judge.js';
import type { Outcome, Result } from './outcome.js';

/** What is there afterwards, or may be. */
const THERE: ReadonlySet<Result> = new Set(['applied', 'differs', 'unknown']);

export class Advice {
  readonly #ifExists: JudgeOptions['ifExists'];
  /** Whether something is there that would not be taken for the same. */
  #otherWords = false;
  /** What would be done a second time. */
  readonly #verbs = new Set<string>();
  #unknown: number | undefined;

  constructor(ifExists: JudgeOptions['ifExists']) {
    this.#ifExists = ifExists;
  }

  count({ n, statement, identity, result, proven }: Outcome): void {
    if (result === 'unknown' && !canShow(identity)) this.#unknown = n;
    if (result === 'applied' && identity.kind === 'other') this.#verbs.add(identity.verb);
    this.#otherWords ||= THERE.has(result) && !proven && !isKnownAgain(statement, identity);
  }

  toString(): string {
    const needed = this.#otherWords ? 'skip' : 'compare';
    const option = [needed, 'skip'].includes(this.#ifExists) ? '' : ` with --if-exists ${needed}`;
    const without = [
      ...(this.#verbs.size ? [`without each ${[...this.#verbs].join(', ')} that was applied`] : []),
      ...(this.#unknown ? [`without statement ${this.#unknown} if it is in force there`] : []),
    ];
    const but = without.length ? `, ${without.join(' and ')}` : '';
    return `run the same again${option}${but}: what is there already is passed over`;
  }
}
