import { Exit, exitStatus } from '@sqlpipe/cli';
import { isReject, isReordered, type Outcome, type Result } from '@sqlpipe/replay';
import { displayName } from '@sqlpipe/sql';
import { formatCount, formatMessage } from '@sqlpipe/text';
import type { RunArgs } from './options.js';
import { ResumeHint } from './resume-hint.js';

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
    return this.#isDenied ? Exit.denied : Exit.negative;
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
    const formatCounts = (counts: [Result, number][]) => counts.map(([result, count]) => `${count} ${result}`);
    if (this.isComplete || !this.#resumeHint) {
      return [this.label, formatCount(this.total, 'statement'), formatCounts([...this.#counts]).join(', ')]
        .filter(Boolean)
        .join(': ');
    }
    const applied = `${this.#counts.get('applied') ?? 0} of ${this.total} applied`;
    const others = [...this.#counts].filter(([result]) => result !== 'applied');
    const state = [applied, ...formatCounts(others)].join(', ');
    return formatMessage([`${this.label}: ${state}`, ...this.#formatLosses()].join('; '), [
      `hint: ${this.#resumeHint}`,
    ]);
  }

  #formatLosses(): string[] {
    if (!this.#irreversible || !this.#counts.has('applied')) return [];
    const [first, ...more] = this.#appliedLosses;
    if (first === undefined) return ['nothing was lost'];
    return [`nothing undoes ${more.length > 0 ? 'statements' : 'statement'} ${this.#appliedLosses.join(', ')}`];
  }
}
