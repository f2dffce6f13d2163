/*! How to go on where a run did not do all: by running the same again, as far as that knows what is there. */
import { isCleanTable, meaningOf } from '@sqlpipe/ddl';
import { isObject } from '@sqlpipe/sql';
import { isShowable } from './existing.js';
import type { JudgeOptions } from './judge.js';
import { isReject, type Outcome, type Result } from './outcome.js';

/** What is there afterwards, or may be. */
const THERE: ReadonlySet<Result> = new Set(['applied', 'differs', 'unknown']);

/** Whether it can be told what a statement means. */
const isKnown = (statement: string): boolean => isCleanTable(statement) || meaningOf(statement) !== undefined;

export class Advice {
  readonly #ifExists: JudgeOptions['ifExists'];
  /** Whether anything has to be fixed first. */
  #wrong = false;
  /** Whether something exists that can only be compared as text, or not at all. */
  #incomparable = false;
  /** What would be done a second time. */
  readonly #verbs = new Set<string>();
  #unknown: number | undefined;

  constructor(ifExists: JudgeOptions['ifExists']) {
    this.#ifExists = ifExists;
  }

  count(outcome: Outcome): void {
    const { n, statement, identity, result, comparison, failure, exists = false } = outcome;
    if (result === 'unknown' && !isShowable(identity)) this.#unknown = n;
    if (result === 'applied' && identity.kind === 'other') this.#verbs.add(identity.verb);
    const isComparable = comparison ? !comparison.asText : !isObject(identity.kind) || isKnown(statement);
    const isIncomparable = (exists && this.#ifExists === 'compare') || ((exists || THERE.has(result)) && !isComparable);
    this.#incomparable ||= isIncomparable;
    const isRejected = isReject(outcome) && result !== 'not reached';
    const mayBeRight = (isIncomparable && result === 'differs') || exists;
    this.#wrong ||= failure !== undefined || (isRejected && !mayBeRight);
  }

  toString(): string {
    const needed = this.#incomparable ? 'skip' : 'compare';
    const option = [needed, 'skip'].includes(this.#ifExists) ? '' : ` with --if-exists ${needed}`;
    const without = [
      ...(this.#verbs.size ? [`without each ${[...this.#verbs].join(', ')} that was applied`] : []),
      ...(this.#unknown ? [`without statement ${this.#unknown} if it is in force there`] : []),
    ];
    const but = without.length ? `, ${without.join(' and ')}` : '';
    const start = this.#wrong ? 'fix the error and rerun' : 'to continue, rerun';
    return `${start} the same command${option}${but}; existing objects are skipped`;
  }
}
