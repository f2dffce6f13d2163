import { findReferences, locateNamesInRights } from '@sqlpipe/ddl';
import { foldCase, type KindAndName, NameSet } from '@sqlpipe/sql';
import { escapeControls, formatSuggestion } from '@sqlpipe/text';
import { collectStatements } from './collect-statements.js';
import { matchesGlob } from './glob.js';
import { type Entry, Schema, toUnambiguousEntry } from './schema.js';
import { InvalidOptionError, parseKinds } from './selection.js';

/** What patterns are compared with. Only a grant needs its statement, which has the names of its objects. */
export type Candidate = KindAndName & { readonly statement?: string };

/** What a statement has to match. */
export interface MatchCriteria {
  /** Globs that match whole names. */
  patterns: readonly string[];
  /** Regular expressions that match parts of names. */
  regexp?: readonly string[] | undefined;
  /** Kinds and categories, separated by commas. */
  kind?: readonly string[] | undefined;
  invertMatch?: boolean;
}

/** Kinds and names must match, if there are any criteria for them. @throws InvalidOptionError for an unknown kind or a bad expression */
export function createMatcher(criteria: MatchCriteria): (candidate: Candidate) => boolean {
  const { patterns, regexp = [], kind = [], invertMatch = false } = criteria;
  const globs = patterns.map(foldCase);
  const expressions = regexp.map(source => {
    try {
      return new RegExp(source, 'iu');
    } catch (error) {
      throw new InvalidOptionError((error as Error).message);
    }
  });
  const kinds = parseKinds(kind);
  const matchesAnyName = !globs.length && !expressions.length;
  const matches = (name: string): boolean =>
    globs.some(glob => matchesGlob(glob, foldCase(name))) || expressions.some(each => each.test(name));
  return candidate =>
    ((!kinds.size || kinds.has(candidate.kind)) && (matchesAnyName || searchableNames(candidate).some(matches))) !==
    invertMatch;
}

/** A grant has the names of its objects or, without any, its entity; a membership that of its user, an assumption that of its account. */
export function searchableNames({ kind, name, statement = '' }: Candidate): string[] {
  const { objects, principals } = locateNamesInRights(statement, kind);
  return objects.length > 0 ? objects.map(object => object.name) : [principals[0]?.name ?? name];
}

/** What to select in addition to the statements that match. */
export interface RelatedOptions {
  /** Everything that the matches depend on, directly or indirectly. */
  withDeps?: boolean;
  /** Everything that depends on the matches, directly or indirectly. */
  withDependents?: boolean;
}

/** The entries of a schema that match, with their dependencies or dependents if requested, in the order of the schema. */
export function selectWithRelated(
  schema: Schema,
  matches: (entry: Entry) => boolean,
  related: RelatedOptions,
): Entry[] {
  let selected = new Set(schema.entries.filter(matches));
  if (related.withDependents) selected = findReachable(selected, entry => schema.dependentsOf(entry));
  if (related.withDeps) selected = findReachable(selected, entry => schema.dependenciesOf(entry));
  return schema.entries.filter(entry => selected.has(entry));
}

function findReachable(entries: Iterable<Entry>, next: (entry: Entry) => Iterable<Entry>): Set<Entry> {
  const reached = new Set(entries);
  for (const entry of reached) for (const other of next(entry)) reached.add(other); // the set grows during the loop
  return reached;
}

/** The part of a dump that names select; the complete dump if there are no names. */
export class NameSelection {
  readonly #isNamed: (candidate: Candidate) => boolean;
  /** A matcher for each name that has matched nothing yet. */
  readonly #unmatched: Map<string, (candidate: Candidate) => boolean>;
  readonly #existing = new Set<string>();
  /** The names that the selected statements mention. */
  readonly #needed = new NameSet();

  /** @param names globs, in any case @param withDeps whether to select what the named objects need, too */
  constructor(
    private readonly names: readonly string[],
    private readonly withDeps: boolean,
  ) {
    this.#isNamed = createMatcher({ patterns: names });
    this.#unmatched = new Map(names.map(name => [name, createMatcher({ patterns: [name] })]));
  }

  /** Selects the objects to read. With dependencies, these are all, because only definitions show what an object needs. */
  selectListed<T extends KindAndName>(listed: readonly T[]): readonly T[] {
    for (const { name } of listed) this.#existing.add(name);
    return this.withDeps ? listed : listed.filter(this.#isNamed);
  }

  async *select(batches: AsyncIterable<string[]>): AsyncGenerator<string[]> {
    if (!this.names.length) return yield* batches;
    if (!this.withDeps) {
      for await (const batch of batches)
        yield batch.filter(statement => this.#recordMatch(toUnambiguousEntry(statement)));
      return;
    }
    const schema = new Schema(await collectStatements(batches));
    const selected = selectWithRelated(schema, entry => this.#recordMatch(entry), { withDeps: true });
    const isView = (name: string) => schema.findObject(name)?.kind === 'view';
    for (const { kind, statement } of selected) {
      for (const name of findReferences(statement, isView)) this.#needed.add(name);
      for (const { name } of locateNamesInRights(statement, kind).objects) this.#needed.add(name);
    }
    yield selected.map(({ statement }) => statement);
  }

  /** Selects the absences that make the selection incomplete. Call this after all statements were selected. */
  selectAbsent<T extends { readonly object: KindAndName }>(absences: readonly T[]): T[] {
    return absences.filter(({ object }) => this.#recordMatch(object) || this.#needed.has(object.name));
  }

  /** Describes the names that matched nothing, with a suggestion; undefined if all matched. */
  formatUnmatched(): string | undefined {
    const names = [...this.#unmatched.keys()];
    if (!names.length) return undefined;
    const existing = [...this.#existing];
    const suggestion = names.map(name => formatSuggestion(name, existing)).find(Boolean) ?? '';
    return escapeControls(`nothing matches ${names.map(name => `'${name}'`).join(', ')}${suggestion}`);
  }

  /** @returns whether a name matches */
  #recordMatch(candidate: Candidate): boolean {
    for (const name of searchableNames(candidate)) this.#existing.add(name);
    for (const [name, matches] of this.#unmatched) if (matches(candidate)) this.#unmatched.delete(name);
    return this.#isNamed(candidate);
  }
}
