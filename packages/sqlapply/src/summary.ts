import { Exit, exitStatus } from '@sqlpipe/cli';
import { isCleanTable, tryParseDefinition } from '@sqlpipe/ddl';
import { isReject, isReordered, isShowable, type Outcome, type Result } from '@sqlpipe/replay';
import { displayName, isObjectKind, readStatementHead } from '@sqlpipe/sql';
import { formatCount, formatMessage } from '@sqlpipe/text';
import type { RunArgs } from './options.js';

const MAX_LISTED = 5;

export class Summary {
  readonly #counts = new Map<Result, number>();
  total = 0;
  /** For each statement, the properties that the target does not show. */
  readonly #notComparable: string[] = [];
  #isDenied = false;
  #isNegative = false;
  #hasReordered = false;
  /** For a plan: the numbers of the statements that nothing undoes. */
  #irreversible: ReadonlySet<number> | undefined;
  readonly #appliedLosses: number[] = [];
  failure: Error | undefined;
  /** Undefined in a dry run, which leaves nothing incomplete. */
  readonly #resumeHint: ResumeHint | undefined;

  constructor(
    private readonly label: string,
    { ifExists, dryRun, alter }: Pick<RunArgs, 'ifExists' | 'dryRun' | 'alter'>,
  ) {
    this.#resumeHint = dryRun ? undefined : new ResumeHint(ifExists, alter);
  }

  recordOutcome(outcome: Outcome, isInterrupted: boolean): void {
    this.total++;
    this.#irreversible = outcome.planHead?.irreversible ?? this.#irreversible;
    if (outcome.result === 'applied' && this.#irreversible?.has(outcome.n)) this.#appliedLosses.push(outcome.n);
    this.#counts.set(outcome.result, (this.#counts.get(outcome.result) ?? 0) + 1);
    this.failure ??= outcome.failure;
    const hidden = outcome.comparison?.notComparable ?? [];
    if (hidden.length > 0) this.#notComparable.push(`${displayName(outcome.identity)}: ${hidden.join(', ')}`);
    if (isReordered(outcome)) {
      this.#hasReordered = true;
      return;
    }
    this.#resumeHint?.recordOutcome(outcome, isInterrupted);
    if (isReject(outcome) && outcome.result !== 'not reached') {
      this.#isDenied ||= outcome.isDenied === true;
      this.#isNegative = true;
    }
  }

  /** Makes the status negative although no statement was rejected: for an omission, predicted harm, or objects that became invalid. */
  recordNegative(): void {
    this.#isNegative = true;
  }

  /** A failure of the instance takes precedence over a rejection. */
  get status(): number {
    if (this.failure) return exitStatus(this.failure);
    if (!this.#isNegative) return this.#hasReordered ? Exit.negative : Exit.ok;
    return this.#isDenied ? Exit.DENIED : Exit.negative;
  }

  get isComplete(): boolean {
    return !this.failure && !this.#isNegative && !this.#counts.has('not reached');
  }

  /** The properties that the target does not show; undefined if there are none. */
  get notComparable(): string | undefined {
    const [some, more] = [this.#notComparable.slice(0, MAX_LISTED), this.#notComparable.length - MAX_LISTED];
    if (some.length === 0) return undefined;
    return `not compared, because ${this.label} does not show it: ${some.join('; ')}${more > 0 ? `; and of ${more} more` : ''}`;
  }

  /** `LABEL: 5 statements: 3 applied, 2 skipped`, or `LABEL: 3 of 5 applied, 1 skipped, 1 rejected` and a hint. */
  toString(): string {
    const counts = [...this.#counts].map(([result, count]) => `${count} ${result}`);
    if (this.isComplete || !this.#resumeHint)
      return [this.label, formatCount(this.total, 'statement'), counts.join(', ')].filter(Boolean).join(': ');
    const others = counts.filter(count => !count.endsWith(' applied'));
    const state = [`${this.#counts.get('applied') ?? 0} of ${this.total} applied`, ...others].join(', ');
    return formatMessage([`${this.label}: ${state}`, ...this.#formatLosses()].join('; '), [
      `hint: ${this.#resumeHint.format(this.#irreversible !== undefined)}`,
    ]);
  }

  #formatLosses(): string[] {
    if (!this.#irreversible || !this.#counts.has('applied')) return [];
    const { length } = this.#appliedLosses;
    if (length === 0) return ['nothing was lost'];
    return [`nothing undoes ${length > 1 ? 'statements' : 'statement'} ${this.#appliedLosses.join(', ')}`];
  }
}

const BEGINNINGS = {
  error: 'fix the error and',
  difference: 'change the object or the statement, then',
  none: 'to continue,',
};

/** How to continue an incomplete run: by rerunning the same command, with the options that make it skip existing objects. */
class ResumeHint {
  #cause: keyof typeof BEGINNINGS = 'none';
  /** Whether an object exists that can be compared only as text, or not at all. */
  #hasIncomparable = false;
  /** The verbs of applied statements that a rerun would execute again. */
  readonly #appliedVerbs = new Set<string>();
  #unknownStatement: number | undefined;

  /** @param isPlannedHere whether the plan was made by the same command */
  constructor(
    private readonly ifExists: RunArgs['ifExists'],
    private readonly isPlannedHere: boolean,
  ) {}

  /** @param isInterrupted whether the user has stopped the run: then a request that failed was canceled */
  recordOutcome(outcome: Outcome, isInterrupted: boolean): void {
    const { n, statement, identity, result, comparison, failure, exists = false } = outcome;
    const showsEffect = isShowable(identity) && !readStatementHead(statement).runsQuery;
    if (result === 'unknown' && !showsEffect) this.#unknownStatement = n;
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

  /** @param isPlan whether the input is a plan, which is valid only for the state that it was made for */
  format(isPlan: boolean): string {
    const beginning = BEGINNINGS[this.#cause];
    if (isPlan)
      return `${beginning} ${this.isPlannedHere ? 'rerun the same command' : 'make the plan again with sqldiff --alter'}`;
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
