/*! What becomes of one statement: sent, compared with what is there, or settled by looking where its reply was lost. */
import { type Instance, InstanceError } from '@sqlpipe/instance';
import { describe, givesRight, identify, isAcl, isPrincipal } from '@sqlpipe/sql';
import type { Objection } from './admission.js';
import { type ExistingObjects, isShowable } from './existing.js';
import type { Outcome } from './outcome.js';

export interface JudgeOptions {
  objection: Objection;
  existing: ExistingObjects;
  /** What to do about an object that exists: compare it, count it as an error, or skip it. */
  ifExists: 'compare' | 'fail' | 'skip';
  /** Look what would happen, and change nothing. */
  dryRun: boolean;
  /** Gets the rows that a statement is answered with: a token, which nobody else is to see. */
  printRows(rows: unknown[][]): Promise<void>;
}

/** The result and what belongs to it. */
export type Verdict = Omit<Outcome, 'n' | 'statement' | 'identity' | 'ms'>;

/** The server says so by name only, whatever the object is like (observed on 9.3.4). Of users its words are not known. */
const EXISTS = /already exists/;

/** Why a statement can look empty to the server: it pairs quotes and sees `--` inside block comments (observed on 9.3.4). */
const COMMENTS = '; the server reads quotes and -- inside /* */ comments as well: is there one in front?';

const SKIP = '--if-exists skip skips it';
const EXISTING = 'already exists';
const DIFFERENT = 'already exists with a different definition';
const TAKES_AWAY =
  'already granted WITH GRANT OPTION, which this statement takes away; it was not sent: write WITH GRANT OPTION into it, or revoke the grant option first';
/** A newer version may print in other words what means the same. */
const ONLY_TEXT = `already exists with a different text, and what it means is not known; if it means the same, ${SKIP}`;

/** Makes the judge of statements for a target. It never throws but for bugs: what went wrong is in the verdict. */
export function judge(
  target: Instance,
  { objection, existing, ifExists, dryRun, printRows }: JudgeOptions,
): (statement: string) => Promise<Verdict> {
  return async statement => {
    try {
      const error = await objection(statement);
      if (error) return { result: 'rejected', error };
      if (dryRun) return await foresee(statement);
      const given = await compareRights(statement);
      return given ? taken(given) : await send(statement);
    } catch (error) {
      if (!(error instanceof InstanceError)) throw error;
      return { result: error.lost ? 'unknown' : 'failed', error: error.message, failure: error };
    }
  };

  async function send(statement: string, tries = 2): Promise<Verdict> {
    try {
      return await execute(statement);
    } catch (error) {
      const identity = identify(statement);
      const canLook = isShowable(identity) || isAcl(identity.kind);
      if (!(error instanceof InstanceError) || !error.lost || !canLook) throw error;
      return settle(statement, error, tries - 1);
    }
  }

  async function execute(statement: string): Promise<Verdict> {
    const { replaces, keepsExisting } = describe(statement);
    // The server's OK does not tell whether there was an object, nor what it is like.
    const before = replaces || keepsExisting ? await compare(statement) : undefined;
    if (before && (keepsExisting || before.result === 'skipped' || ifExists !== 'compare')) return taken(before);
    const reply = await target.execute(statement);
    if (reply.ok) {
      if (reply.rows) await printRows(reply.rows);
      await existing.access.note(statement);
      return { result: 'applied', ...(before && { replaced: before }) };
    }
    const { message, position, denied } = reply;
    const error = message + (message === 'empty query' ? COMMENTS : '');
    const refused: Verdict = { result: 'rejected', error, denied, ...(position === undefined ? {} : { position }) };
    const exists = EXISTS.test(message);
    const isOfPrincipal = isPrincipal(identify(statement).kind);
    if (ifExists === 'fail') return { ...refused, exists };
    if (!exists && (!isOfPrincipal || denied)) return refused;
    if (ifExists === 'skip' && exists) return { result: 'skipped' };
    const why = `${error}, and it can not be compared`;
    const incomparable: Verdict = { ...refused, error: `${why}; ${SKIP}`, exists };
    try {
      const found = await compare(statement);
      if (found && (exists || found.result === 'skipped')) return taken(found);
      return exists && isOfPrincipal ? incomparable : refused;
    } catch (failure) {
      if (!(failure instanceof InstanceError)) throw failure;
      if (failure.serverMessage === undefined) return { ...refused, error: `${why}: ${failure.message}`, failure };
      return { ...incomparable, error: `${why}: ${failure.serverMessage}; ${SKIP}` };
    }
  }

  /** What is there, as it is to be taken. */
  function taken(found: Verdict): Verdict {
    if (ifExists === 'compare') return found;
    return ifExists === 'skip' ? { result: 'skipped' } : { result: 'rejected', error: EXISTING };
  }

  /** How a statement's object compares with the target's; undefined where the target has nothing to show. */
  async function compare(statement: string): Promise<Verdict | undefined> {
    if (givesRight(identify(statement).kind)) return compareRights(statement);
    const found = await existing.fetch(identify(statement));
    if (found === undefined) return undefined;
    const comparison = await existing.compare(statement, found);
    if (comparison.differences.length === 0) return { result: 'skipped', comparison };
    return { result: 'differs', error: comparison.asText ? ONLY_TEXT : DIFFERENT, comparison };
  }

  /** How what a statement gives compares with what somebody has; undefined where something is left to give, or nothing is known. */
  async function compareRights(statement: string): Promise<Verdict | undefined> {
    if (!givesRight(identify(statement).kind)) return undefined;
    const comparison = await existing.access.compare(statement);
    if (!comparison) return undefined;
    if (comparison.differences.length > 0) return { result: 'differs', error: TAKES_AWAY, comparison };
    return comparison.exists ? { result: 'skipped', comparison } : undefined;
  }

  /** No reply came, which says nothing: so look. What is not there is sent once more, and then looked for again. */
  async function settle(statement: string, lost: InstanceError, tries: number): Promise<Verdict> {
    existing.access.forget();
    const found = await compare(statement).catch(() => {
      throw lost;
    });
    if (found?.result === 'skipped') return { result: 'applied' };
    // Not every server shows users and the like.
    if (found || isAcl(identify(statement).kind)) throw lost;
    if (tries > 0) return send(statement, tries);
    return { result: 'failed', error: lost.message, failure: lost };
  }

  async function foresee(statement: string): Promise<Verdict> {
    const found = await compare(statement);
    const isReplaced = found?.result === 'differs' && ifExists === 'compare' && describe(statement).replaces;
    if (isReplaced) return { result: 'would replace', replaced: found };
    if (found) return taken(found);
    await existing.access.note(statement);
    return { result: isShowable(identify(statement)) ? 'would create' : 'would send' };
  }
}
