/*! How to go on where a run did not do all: by running the same again, as far as that knows what is there. */
import { canShow, isKnownAgain } from './held.js';
import type { JudgeOptions } from './judge.js';
import { isReject, type Outcome, type Result } from './outcome.js';

/** What is there afterwards, or may be. */
const THERE: ReadonlySet<Result> = new Set(['applied', 'differs', 'unknown']);

export class Advice {
  readonly #ifExists: JudgeOptions['ifExists'];
  /** Whether anything has to be put right: what may only be said in other words has not. */
  #wrong = false;
  /** Whether something is there that would not be taken for the same. */
  #otherWords = false;
  /** What would be done a second time. */
  readonly #verbs = new Set<string>();
  #unknown: number | undefined;

  constructor(ifExists: JudgeOptions['ifExists']) {
    this.#ifExists = ifExists;
  }

  count(outcome: Outcome): void {
    const { n, statement, identity, result, proven, failure, exists = false } = outcome;
    if (result === 'unknown' && !canShow(identity)) this.#unknown = n;
    if (result === 'applied' && identity.kind === 'other') this.#verbs.add(identity.verb);
    const isComparable = proven || isKnownAgain(statement, identity);
    const isInOtherWords = (exists && this.#ifExists === 'compare') || ((exists || THERE.has(result)) && !isComparable);
    this.#otherWords ||= isInOtherWords;
    const isRejected = isReject(outcome) && result !== 'not reached';
    const mayBeRight = isInOtherWords && (exists || result === 'differs');
    this.#wrong ||= failure !== undefined || (isRejected && !mayBeRight);
  }

  toString(): string {
    const needed = this.#otherWords ? 'skip' : 'compare';
    const option = [needed, 'skip'].includes(this.#ifExists) ? '' : ` with --if-exists ${needed}`;
    const without = [
      ...(this.#verbs.size ? [`without each ${[...this.#verbs].join(', ')} that was applied`] : []),
      ...(this.#unknown ? [`without statement ${this.#unknown} if it is in force there`] : []),
    ];
    const but = without.length ? `, ${without.join(' and ')}` : '';
    const start = this.#wrong ? 'once that is put right' : 'to go on';
    return `${start} run the same again${option}${but}: what is there already is passed over`;
  }
}
