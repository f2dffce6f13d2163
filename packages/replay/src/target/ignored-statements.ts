/*! The statements that a replay skips, because the user ignores what they create or grant. */
import type { Location } from '@sqlpipe/files';
import { collectStatements, type Entry, findNeeded, type IgnoreRules, Schema, splitRights } from '@sqlpipe/schema';
import { identify, namespaceKey } from '@sqlpipe/sql';
import type { ReplayInput } from '../outcome.js';
import type { ExistingObjects } from './fetched-objects.js';

export class IgnoredStatements {
  readonly #needed = new Set<string>();

  constructor(readonly rules: IgnoreRules) {}

  /** Records which ignored objects and principals the other statements need. Yields none before it has read all. */
  async *recordNeeded(statements: AsyncIterable<string>): AsyncGenerator<string> {
    const all = await collectStatements(statements);
    const needed = findNeeded(new Schema(all), entry => this.isIgnored(entry));
    for (const entry of needed.keys()) this.#needed.add(namespaceKey(entry));
    yield* all;
  }

  isIgnored(entry: Entry): boolean {
    return entry.kind !== 'other' && this.rules.ignoresObject(entry);
  }

  /** Whether an ignored object is skipped: unless another statement needs it and the target lacks it. @throws InstanceError */
  async fetchWhetherSkipped(entry: Entry, existing: Pick<ExistingObjects, 'fetchStatement'>): Promise<boolean> {
    if (!this.isIgnored(entry)) return false;
    return !this.#needed.has(namespaceKey(entry)) || (await existing.fetchStatement(entry)) !== undefined;
  }
}

/** If some of the rights that a statement grants are ignored, it becomes one statement for each of the other rights. */
export function splitIgnoredRights({ statements, locations }: ReplayInput, ignored: IgnoredStatements): ReplayInput {
  const splitLocations: (Location | undefined)[] = [];
  async function* split(): AsyncGenerator<string> {
    let n = 0;
    for await (const statement of statements) {
      const location = locations[n++];
      const single = splitRights(statement);
      const remaining = single.filter(each => !ignored.isIgnored({ ...identify(each), statement: each }));
      const isSplit = remaining.length > 0 && remaining.length < single.length;
      for (const each of isSplit ? remaining : [statement]) {
        splitLocations.push(location);
        yield each;
      }
    }
  }
  return ignored.rules.hasObjectRules ? { statements: split(), locations: splitLocations } : { statements, locations };
}
