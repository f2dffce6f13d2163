/*! Finds the statements that a replay skips because the user ignores what they create or grant. */
import { findNeeded, type IgnoreRules, MemoryBudget, Schema, splitRights } from '@sqlpipe/schema';
import { identify, identityKey } from '@sqlpipe/sql';
import type { KnownObjects } from './existing.js';
import type { Location, ReplayInput } from './outcome.js';

const isIgnored = (statement: string, rules: IgnoreRules): boolean => {
  const identity = identify(statement);
  return identity.kind !== 'other' && rules.ignoresObject({ ...identity, statement });
};

/** Decides which statements are skipped, because what they create or grant is ignored. */
export class IgnoredStatements {
  /** The keys of what others need. */
  readonly #needed = new Set<string>();

  constructor(readonly rules: IgnoreRules) {}

  /** Passes statements on. At the end, records which ignored objects and principals the others need. */
  async *recordNeeded(statements: AsyncIterable<string>): AsyncGenerator<string> {
    if (!this.rules.haveObjects) return yield* statements;
    const budget = new MemoryBudget();
    const all: string[] = [];
    for await (const statement of statements) {
      budget.add(statement);
      all.push(statement);
      yield statement;
    }
    const needed = findNeeded(new Schema(all), ({ statement }) => this.isIgnored(statement));
    for (const entry of needed.keys()) this.#needed.add(identityKey(entry));
  }

  isIgnored(statement: string): boolean {
    return isIgnored(statement, this.rules);
  }

  /** Whether a statement is skipped: what it creates is ignored, and nothing needs it, or it exists. @throws InstanceError */
  async skips(statement: string, existing: Pick<KnownObjects, 'fetch'>): Promise<boolean> {
    if (!this.isIgnored(statement)) return false;
    const identity = identify(statement);
    return !this.#needed.has(identityKey(identity)) || (await existing.fetch(identity)) !== undefined;
  }
}

/** Splits each statement that grants rights of which some are ignored, into a statement for each of the others. */
export function splitIgnoredRights({ statements, locations }: ReplayInput, rules: IgnoreRules): ReplayInput {
  const splitLocations: (Location | undefined)[] = [];
  async function* split(): AsyncGenerator<string> {
    let n = 0;
    for await (const statement of statements) {
      const location = locations[n++];
      const single = splitRights(statement);
      const remaining = single.filter(each => !isIgnored(each, rules));
      const isSplit = remaining.length > 0 && remaining.length < single.length;
      for (const each of isSplit ? remaining : [statement]) {
        splitLocations.push(location);
        yield each;
      }
    }
  }
  return rules.haveObjects ? { statements: split(), locations: splitLocations } : { statements, locations };
}
