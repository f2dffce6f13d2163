/*! How to continue an incomplete run: by rerunning the same command, with the options that make it skip existing objects. */
import { isCleanTable, tryParseDefinition } from '@sqlpipe/ddl';
import { type IfExists, isReject, isShowable, type Outcome } from '@sqlpipe/replay';
import { isObjectKind } from '@sqlpipe/sql';

const BEGINNINGS = {
  error: 'fix the error and',
  difference: 'change the object or the statement, then',
  none: 'to continue,',
};

export class ResumeHint {
  #cause: keyof typeof BEGINNINGS = 'none';
  /** Whether an object exists that can be compared only as text, or not at all. */
  #hasIncomparable = false;
  /** The verbs of applied statements that a rerun would execute again. */
  readonly #appliedVerbs = new Set<string>();
  #unknownStatement: number | undefined;
  /** Whether the input is a plan, which is valid only for the state that it was made for. */
  #isPlan = false;

  /** @param isPlannedHere whether the plan was made by the same command */
  constructor(
    private readonly ifExists: IfExists,
    private readonly isPlannedHere: boolean,
  ) {}

  /** @param isInterrupted whether the user has stopped the run: then a request that failed was canceled */
  recordOutcome(outcome: Outcome, isInterrupted: boolean): void {
    const { n, statement, identity, planHead, result, comparison, failure, exists = false } = outcome;
    this.#isPlan ||= planHead !== undefined;
    if (result === 'unknown' && !isShowable(identity)) this.#unknownStatement = n;
    if (result === 'applied' && identity.kind === 'other') this.#appliedVerbs.add(identity.verb);
    const isComparable = comparison
      ? !comparison.isTokenComparison
      : !isObjectKind(identity.kind) || isCleanTable(statement) || tryParseDefinition(statement) !== undefined;
    const mayExist = exists || result === 'applied' || result === 'differs' || result === 'unknown';
    const isIncomparable = (exists && this.ifExists === 'compare') || (mayExist && !isComparable);
    this.#hasIncomparable ||= isIncomparable;
    const isRejected = isReject(outcome) && result !== 'not reached';
    const mayBeRight = (isIncomparable && result === 'differs') || exists;
    const isCanceled = isInterrupted && failure !== undefined;
    if (isCanceled || (failure === undefined && (!isRejected || mayBeRight))) return;
    if (failure !== undefined || result !== 'differs') this.#cause = 'error';
    else if (this.#cause === 'none') this.#cause = 'difference';
  }

  toString(): string {
    const beginning = BEGINNINGS[this.#cause];
    if (this.#isPlan && this.isPlannedHere) return `${beginning} rerun the same command`;
    if (this.#isPlan) return `${beginning} make the plan again with sqldiff --alter`;
    const needed = this.#hasIncomparable || this.ifExists === 'skip' ? 'skip' : 'compare';
    const option = needed === this.ifExists ? '' : ` with --if-exists ${needed}`;
    const exceptions = [
      ...(this.#appliedVerbs.size ? [`without each ${[...this.#appliedVerbs].join(', ')} that was applied`] : []),
      ...(this.#unknownStatement ? [`without statement ${this.#unknownStatement} if it is in force there`] : []),
    ];
    const except = exceptions.length ? `, ${exceptions.join(' and ')}` : '';
    return `${beginning} rerun the same command${option}${except}: it skips ${needed === 'skip' ? 'existing' : 'equal'} objects`;
  }
}
