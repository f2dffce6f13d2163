/*! Rules by which a user ignores differences between two schemas, such as `tmp_*` and `trades: TTL`. */
import {
  COLUMN_ORDER,
  type Comparison,
  listComparedProperties,
  type PropertyName,
  parseRights,
  printRight,
  readGrantTargets,
} from '@sqlpipe/ddl';
import {
  displayName,
  foldCase,
  givesRight,
  type Identity,
  identify,
  identityKey,
  isObject,
  KINDS,
  type Kind,
  type NamedObject,
  unquote,
} from '@sqlpipe/sql';
import { suggestWord } from '@sqlpipe/text';
import { statesOf } from './health.js';
import { type Entry, Schema } from './schema.js';
import { InvalidSelectionError, kindOf } from './selection.js';

/** The kind and the name of what a statement creates, and the statement, from which the names in a grant are read. */
export type NamedStatement = NamedObject & { readonly statement?: string };

/** A rule: the objects of a kind or with a name, and, if it has one, the properties of them. In lower case. */
interface IgnoreRule {
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  readonly property?: string | undefined;
}

/** The rules of `--ignore`. */
export class IgnoreRules {
  readonly #rules: readonly IgnoreRule[];

  /**
   * @param patterns names (`tmp_*`), kinds (`grant`) and properties (`trades: TTL`, `materialized view: TTL`, `column order`); quotes make
   *   a kind a name. `*` and `?` match as in a shell, in any case
   * @param exceptions the keys of objects and principals that are not ignored in spite of the rules
   * @throws InvalidSelectionError for a pattern without an object, and for a property that does not exist
   */
  constructor(
    private readonly patterns: readonly string[] = [],
    private readonly exceptions: ReadonlySet<string> = new Set(),
  ) {
    this.#rules = patterns.map(parseRule);
  }

  /** Whether there is a rule for complete objects, principals or rights. */
  get haveObjects(): boolean {
    return this.#rules.some(({ property }) => property === undefined);
  }

  ignoresObject(entry: NamedStatement): boolean {
    const isIgnored = this.#rules.some(rule => rule.property === undefined && matchesEntry(rule, entry));
    return isIgnored && !this.exceptions.has(identityKey(entry));
  }

  /** The same rules, except that they do not ignore these objects and principals. */
  except(entries: Iterable<Entry>): IgnoreRules {
    return new IgnoreRules(this.patterns, new Set(Array.from(entries, identityKey)));
  }

  /** Whether a property of an object is ignored, named as in a comparison: `TTL`, `column 'price'`. */
  ignoresProperty(object: NamedObject, property: PropertyName): boolean {
    return this.#rules.some(
      rule =>
        rule.property !== undefined && matchesEntry(rule, object) && matchesGlob(rule.property, foldCase(property)),
    );
  }

  /** A comparison of two statements for an object, without the differences that are ignored. */
  withoutIgnored<T extends Comparison>(identity: Identity, comparison: T): T {
    const differences = comparison.differences.filter(({ property }) => !this.ignoresProperty(identity, property));
    return { ...comparison, differences };
  }
}

function parseRule(pattern: string): IgnoreRule {
  const [, object = '', property] = /^\s*((?:'[^']*'|"[^"]*"|[^:'"])+?)\s*(?::\s*(.+?)\s*)?$/s.exec(pattern) ?? [];
  if (!object || (property === undefined && /:\s*$/.test(pattern)))
    throw new InvalidSelectionError(
      `--ignore '${pattern}': not a pattern; write a name such as tmp_*, a kind such as grant, or a property such as 'trades: TTL'`,
    );
  const word = foldCase(object);
  if (property === undefined && word === COLUMN_ORDER) return { name: '*', property: word };
  const kind = kindOf(word);
  const what = kind ? { kind } : { name: foldCase(unquote(object)) };
  if (property !== undefined) requireProperty(pattern, property, kind);
  return { ...what, property: property && foldCase(property) };
}

/** @throws InvalidSelectionError for a property that no object of a kind has */
function requireProperty(pattern: string, property: string, kind: Kind | undefined): void {
  const all = (kind ? [kind] : KINDS).flatMap(each => [...listComparedProperties(each), ...statesOf(each)]);
  if (all.some(each => canMatchSame(foldCase(property), foldCase(each)))) return;
  const names = [...new Set(all)];
  const has = kind ? `a ${kind} has ` : 'there are ';
  throw new InvalidSelectionError(
    `--ignore '${pattern}': no such property; ${has}${names.join(', ') || 'none'}${suggestWord(property, names)}`,
  );
}

const matchesEntry = ({ kind, name }: IgnoreRule, entry: NamedStatement): boolean =>
  kind === undefined
    ? searchableNames(entry).some(each => matchesGlob(name ?? '', foldCase(each)))
    : entry.kind === kind;

/**
 * The names by which a statement is selected: for a grant its objects, or its entity if it has none; for a membership its user, for an
 * assumption its service account, for others the name of the object.
 */
export function searchableNames({ kind, name, statement = '' }: NamedStatement): string[] {
  const { objects, principals } = readGrantTargets(statement, kind);
  return objects.length ? objects : [principals[0] ?? name];
}

/** The ignored entries that others need, each with one of those. @param exists whether an ignored one need not be created */
export function findNeeded(
  schema: Schema,
  isIgnored: (entry: Entry) => boolean,
  exists: (entry: Entry) => boolean = () => false,
): ReadonlyMap<Entry, Entry> {
  const needed = new Map<Entry, Entry>();
  const ignored = new Set(schema.entries.filter(isIgnored));
  const wanted = schema.entries.filter(entry => !ignored.has(entry));
  for (const entry of wanted)
    for (const prerequisite of schema.prerequisites(entry)) {
      if (!ignored.delete(prerequisite) || exists(prerequisite)) continue;
      needed.set(prerequisite, entry);
      wanted.push(prerequisite); // the list grows during the loop
    }
  return needed;
}

/**
 * Leaves out what is ignored of A, unless B lacks it and something else needs it.
 * @returns what B has to get, rules that do not ignore it, and notes about what is created although it is ignored
 */
export function selectWanted(a: readonly string[], b: Iterable<string>, ignore: IgnoreRules) {
  if (!ignore.haveObjects) return { statements: a, rules: ignore, notes: [] };
  const [schema, existing] = [new Schema(a.flatMap(splitRights)), new Schema(b)];
  const exists = ({ kind, name }: Entry) =>
    (isObject(kind) ? existing.findObject(name) : existing.findPrincipal(name)) !== undefined;
  const needed = findNeeded(schema, entry => ignore.ignoresObject(entry), exists);
  const rules = ignore.except(needed.keys());
  return {
    statements: schema.entries.filter(entry => !rules.ignoresObject(entry)).map(({ statement }) => statement),
    rules,
    notes: Array.from(
      needed,
      ([entry, by]) => `${displayName(entry)} is created although it is ignored: ${displayName(by)} needs it`,
    ),
  };
}

/** A statement that gives several rights, as one for each, because rules are about single rights; any other as it is. */
export function splitRights(statement: string): string[] {
  const rights = givesRight(identify(statement).kind) ? parseRights(statement) : undefined;
  return rights ? rights.map(printRight) : [statement];
}

/** An ignored difference: an object, or one of its properties. */
export interface IgnoredDifference {
  readonly identity: Identity;
  readonly property?: string;
  /** The statement of A, if it is there. */
  readonly a?: string;
}

/**
 * `*` matches any characters, `?` one character. There is no escape for them, because no name contains them. After a mismatch only the last
 * `*` is tried with one character more, so the time stays polynomial.
 */
export function matchesGlob(glob: string, text: string): boolean {
  const [pattern, characters] = [[...glob], [...text]];
  let star = -1;
  let starEnd = 0;
  let next = 0;
  for (let i = 0; i < characters.length; ) {
    if (pattern[next] === '*') {
      star = next++;
      starEnd = i;
    } else if (pattern[next] === '?' || pattern[next] === characters[i]) {
      next++;
      i++;
    } else if (star >= 0) {
      next = star + 1;
      i = ++starEnd;
    } else return false;
  }
  return pattern.slice(next).every(rest => rest === '*');
}

/** Whether there is a text that two globs match. The time is the product of their lengths. */
export function canMatchSame(one: string, other: string): boolean {
  const [a, b] = [[...one], [...other]];
  let next: boolean[] = []; // of the rest of `a` after its next character, and the rest of `b` from each character
  for (let i = a.length; i >= 0; i--) {
    const row: boolean[] = [];
    for (let j = b.length; j >= 0; j--) {
      const [x, y] = [a[i], b[j]];
      const skipsX = x !== undefined && next[j] === true;
      const skipsY = y !== undefined && row[j + 1] === true;
      if (x === '*' || y === '*') row[j] = skipsX || skipsY;
      else
        row[j] =
          x === undefined || y === undefined ? x === y : (x === y || x === '?' || y === '?') && next[j + 1] === true;
    }
    next = row;
  }
  return next[0] === true;
}
