import { withPlanningFacts } from '@sqlpipe/instance';
import { type PlanOptions as PlannerOptions, planChanges } from '@sqlpipe/plan';
import { findVerbsToAllow, formatLoss, printPlan } from '@sqlpipe/plan/text';
import { IgnoreRules } from '@sqlpipe/schema';
import type { Kind } from '@sqlpipe/sql';
import { type DiffOptions, kindAndName } from './diff.js';
import { readSides, type SchemaSource } from './schema.js';

/** How to plan. */
export interface PlanOptions extends DiffOptions {
  /** The names of what may be lost: `drop:trades.qty`, `history:m_1h`. */
  readonly allowLoss?: readonly string[];
  /** Objects and columns that have another name in A: `old=new`, `trades.old=new`. */
  readonly renamed?: readonly string[];
  /** Tables to replace by a copy if ALTER cannot change them. */
  readonly rebuild?: readonly string[];
  /** Drop the old table of each copy. */
  readonly dropOld?: boolean;
}

/** The statements that turn B into A. */
export interface Plan {
  /** In the order in which to apply them, each with its cost in comments. */
  readonly statements: readonly string[];
  /** The verbs that no schema contains: apply the plan with `allowPlan`, or with these as `allow`. */
  readonly verbs: readonly string[];
  /** What is left out: it would lose data that `allowLoss` does not name, or no statement can do it. */
  readonly omissions: readonly Omission[];
}

/** A difference that stays. */
export interface Omission {
  readonly kind: Kind;
  readonly name: string;
  /** What is not done: `DROP COLUMN qty`. */
  readonly what: string;
  readonly reason: string;
  /** What can be done, besides allowing the losses: `renamed? --renamed trades.fee=qty`. */
  readonly hints: readonly string[];
  /** The names that `allowLoss` would need. */
  readonly allowLoss: readonly string[];
}

/**
 * Plans how B becomes A, and changes nothing; `replay` applies a plan.
 *
 * ```ts
 * import { plan, serve } from 'sqlpipe';
 *
 * const server = await serve({ schema: ['CREATE TABLE trades (ts TIMESTAMP, fee INT) TIMESTAMP(ts) PARTITION BY DAY'] });
 * const wanted = ['CREATE TABLE trades (ts TIMESTAMP, qty INT) TIMESTAMP(ts) PARTITION BY DAY'];
 * const { statements, omissions } = await plan(wanted, server.url);
 * for (const statement of statements) console.log(statement.split('\n').at(-1));
 * for (const { name, what, reason } of omissions) console.log(name, what, reason);
 * await server.close();
 * // ALTER TABLE 'trades' ADD COLUMN qty INT;
 * // trades ALTER TABLE 'trades' DROP COLUMN fee loses column 'fee'
 * ```
 *
 * Throws `DAMAGED` if A is not valid, `USAGE` if an option contradicts the schemas, and what reading the schemas throws.
 */
export async function plan(a: SchemaSource, b: SchemaSource, options: PlanOptions = {}): Promise<Plan> {
  const { ignore, onWarning, ...given } = options;
  const [sideA, sideB] = await readSides(a, b, onWarning);
  const settings: Pick<PlannerOptions, keyof typeof given | 'skipInvalid' | 'ignore'> = {
    ...given,
    skipInvalid: sideA.config !== undefined,
    ignore: new IgnoreRules(ignore),
  };
  const planned = await withPlanningFacts(
    sideA.config,
    sideB.config,
    message => onWarning?.(message),
    facts => planChanges(sideA.statements, sideB.statements, { ...settings, ...facts }),
  );
  for (const message of [...planned.warnings, ...planned.notes]) onWarning?.(message);
  return {
    statements: printPlan(planned, sideB.statements),
    verbs: findVerbsToAllow(planned.statements.map(({ statement }) => statement)),
    omissions: planned.omissions.map(({ identity, what, reasons, hints, losses }) => ({
      ...kindAndName(identity),
      what,
      reason: reasons.join('; '),
      hints,
      allowLoss: losses.map(formatLoss),
    })),
  };
}
