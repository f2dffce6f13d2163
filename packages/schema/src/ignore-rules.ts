/*! Rules by which a user ignores differences between two schemas, such as `tmp_*` and `trades: TTL`. */
import { COLUMN_ORDER, type Comparison, listComparedProperties, type PropertyName } from '@sqlpipe/ddl';
import { foldCase, KINDS, type Kind, type KindAndName, namespaceKey, unquote } from '@sqlpipe/sql';
import { formatSuggestion } from '@sqlpipe/text';
import { canMatchSameText, matchesGlob } from './glob.js';
import { statesOf } from './health.js';
import { type Candidate, searchableNames } from './matcher.js';
import type { Entry } from './schema.js';
import { InvalidOptionError, parseKind } from './selection.js';

/** In lower case. A rule without a property ignores complete objects. */
interface IgnoreRule {
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  readonly property?: string | undefined;
}

/** The rules of `--ignore`. */
export class IgnoreRules {
  readonly #rules: readonly IgnoreRule[];

  /**
   * @param patterns names (`tmp_*`), kinds (`grant`), properties (`trades: TTL`, `materialized view: TTL`, `column order`). A kind in
   *   quotes is a name. `*` and `?` match as in a shell, in any case
   * @param exceptions the keys of objects and principals that no rule ignores
   * @throws InvalidOptionError for a pattern without an object, and for a property that does not exist
   */
  constructor(
    private readonly patterns: readonly string[] = [],
    private readonly exceptions: ReadonlySet<string> = new Set(),
  ) {
    this.#rules = patterns.map(parseIgnoreRule);
  }

  get hasRules(): boolean {
    return this.#rules.length > 0;
  }

  /** Whether there is a rule for complete objects, principals or rights. */
  get hasObjectRules(): boolean {
    return this.#rules.some(({ property }) => property === undefined);
  }

  ignoresObject(object: Candidate): boolean {
    const isIgnored = this.#rules.some(rule => rule.property === undefined && matchesRule(rule, object));
    return isIgnored && !this.exceptions.has(namespaceKey(object));
  }

  /** These rules and another one. @throws InvalidOptionError */
  and(pattern: string): IgnoreRules {
    return new IgnoreRules([...this.patterns, pattern], this.exceptions);
  }

  /** The same rules, except that they do not ignore these objects and principals. */
  except(entries: Iterable<Entry>): IgnoreRules {
    return new IgnoreRules(this.patterns, new Set(Array.from(entries, namespaceKey)));
  }

  /** Whether a property of an object is ignored, named as in a comparison: `TTL`, `column 'price'`. */
  ignoresProperty(object: KindAndName, property: PropertyName): boolean {
    return this.#rules.some(
      rule =>
        rule.property !== undefined && matchesRule(rule, object) && matchesGlob(rule.property, foldCase(property)),
    );
  }

  /** Removes the ignored differences from a comparison of two statements. */
  withoutIgnored<T extends Comparison>(object: KindAndName, comparison: T): T {
    const differences = comparison.differences.filter(({ property }) => !this.ignoresProperty(object, property));
    return { ...comparison, differences };
  }
}

function parseIgnoreRule(pattern: string): IgnoreRule {
  const [, object = '', property] = /^\s*((?:'[^']*'|"[^"]*"|[^:'"])+?)\s*(?::\s*(.+?)\s*)?$/s.exec(pattern) ?? [];
  if (!object || (property === undefined && /:\s*$/.test(pattern)))
    throw new InvalidOptionError(
      `--ignore '${pattern}': not a pattern; write a name such as tmp_*, a kind such as grant, or a property such as 'trades: TTL'`,
    );
  const word = foldCase(object);
  if (property === undefined && word === COLUMN_ORDER) return { name: '*', property: word };
  const kind = parseKind(word);
  const what = kind ? { kind } : { name: foldCase(unquote(object)) };
  if (property !== undefined) requireProperty(pattern, property, kind);
  return { ...what, property: property && foldCase(property) };
}

/** The pattern for one object. Without quotes, `grant` would be the kind. */
export const formatIgnorePattern = (name: string): string =>
  /^[\w-]+$/.test(name) && !parseKind(name) ? name : `'${name}'`;

/** @throws InvalidOptionError for a property that no object of a kind has */
function requireProperty(pattern: string, property: string, kind: Kind | undefined): void {
  const all = (kind ? [kind] : KINDS).flatMap(each => [...listComparedProperties(each), ...statesOf(each)]);
  if (all.some(each => canMatchSameText(foldCase(property), foldCase(each)))) return;
  const names = [...new Set(all)];
  const has = kind ? `a ${kind} has ` : 'there are ';
  throw new InvalidOptionError(
    `--ignore '${pattern}': no such property; ${has}${names.join(', ') || 'none'}${formatSuggestion(property, names)}`,
  );
}

const matchesRule = ({ kind, name }: IgnoreRule, entry: Candidate): boolean =>
  kind === undefined
    ? searchableNames(entry).some(each => matchesGlob(name ?? '', foldCase(each)))
    : entry.kind === kind;

/** An ignored difference: an object, or one of its properties. */
export interface IgnoredDifference {
  readonly identity: KindAndName;
  readonly property?: string;
  /** The statement of A, if it is there. */
  readonly a?: string;
}
