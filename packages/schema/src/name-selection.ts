/*! The objects of a dump that names on a command line select: the same that sqlgrep selects. */

import { findReferences, grantTargets } from '@sqlpipe/ddl';
import { foldCase, type Identity } from '@sqlpipe/sql';
import { escapeControls, suggestWord } from '@sqlpipe/text';
import { collectStatements } from './collect.js';
import { searchableNames } from './ignore.js';
import { createMatcher, selectWithRelated } from './matcher.js';
import { type Entry, Schema, toEntry } from './schema.js';

/** The part of a dump that names select; the complete dump if there are no names. */
export class NameSelection {
  readonly #isEmpty: boolean;
  readonly #withDeps: boolean;
  readonly #isNamed: (entry: Entry) => boolean;
  /** A matcher for each name that has matched nothing yet. */
  readonly #unmatched: Map<string, (entry: Entry) => boolean>;
  /** The names that exist, for suggestions. */
  readonly #existing = new Set<string>();
  /** The folded names that the selected statements mention. */
  readonly #needed = new Set<string>();

  /**
   * @param names globs, in any case
   * @param withDeps whether to select what the named objects need, too
   */
  constructor(names: readonly string[], withDeps: boolean) {
    this.#isEmpty = !names.length;
    this.#withDeps = withDeps;
    this.#isNamed = createMatcher({ patterns: names });
    this.#unmatched = new Map(names.map(name => [name, createMatcher({ patterns: [name] })]));
  }

  /**
   * Whether an object that the server lists must be read. With dependencies it may be any: only the definitions of
   * the named objects show what they need.
   */
  mayNeed(object: Pick<Identity, 'kind' | 'name'>): boolean {
    if (this.#isEmpty) return true;
    this.#existing.add(object.name);
    return this.#withDeps || this.#isNamed(withoutStatement(object));
  }

  /** The selected statements of a dump, in its order. */
  select(batches: AsyncIterable<string[]>): AsyncIterable<string[]> {
    return this.#isEmpty ? batches : this.#filter(batches);
  }

  /** Whether a dump that lacks an object lacks what was selected. To be asked when all statements were selected. */
  needs(object: Pick<Identity, 'kind' | 'name'>): boolean {
    return this.#matches(withoutStatement(object)) || this.#needed.has(foldCase(object.name));
  }

  /** Says which names matched nothing, with a suggestion; undefined if all matched. */
  describeUnmatched(): string | undefined {
    const names = [...this.#unmatched.keys()];
    if (!names.length) return undefined;
    const existing = [...this.#existing];
    const suggestion = names.map(name => suggestWord(name, existing)).find(Boolean) ?? '';
    return escapeControls(`nothing matches ${names.map(name => `'${name}'`).join(', ')}${suggestion}`);
  }

  async *#filter(batches: AsyncIterable<string[]>): AsyncGenerator<string[]> {
    const matches = (entry: Entry) => this.#matches(entry);
    if (!this.#withDeps) {
      for await (const batch of batches) yield batch.filter(statement => matches(toEntry(statement)));
      return;
    }
    const schema = new Schema(await collectStatements(batches));
    const selected = selectWithRelated(schema, matches, { withDeps: true });
    const isView = (name: string) => schema.findObject(name)?.kind === 'view';
    for (const { kind, statement } of selected)
      for (const name of [...findReferences(statement, isView), ...grantTargets(statement, kind).objects])
        this.#needed.add(foldCase(name));
    yield selected.map(({ statement }) => statement);
  }

  #matches(entry: Entry): boolean {
    for (const name of searchableNames(entry)) this.#existing.add(name);
    for (const [name, matches] of this.#unmatched) if (matches(entry)) this.#unmatched.delete(name);
    return this.#isNamed(entry);
  }
}

const withoutStatement = ({ kind, name }: Pick<Identity, 'kind' | 'name'>): Entry => ({
  kind,
  name,
  verb: '',
  statement: '',
});
