/*! Rules that map names to new names: `fx_*=acme_*`, or one name to one name. */
import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { UsageError } from '@sqlpipe/cli';
import { foldCase, systemErrorReason } from '@sqlpipe/sql';

/** One side of a rule: a whole name, or the prefix and suffix around a star. */
class Pattern {
  readonly #before: string;
  readonly #after: string;

  constructor(
    readonly before: string,
    /** Undefined if there is no star. */
    readonly after?: string,
  ) {
    this.#before = foldCase(before);
    this.#after = foldCase(after ?? '');
  }

  get hasStar(): boolean {
    return this.after !== undefined;
  }

  /** @param folded a name, folded by `foldCase` */
  matches(folded: string): boolean {
    if (!this.hasStar) return folded === this.#before;
    const shortest = this.#before.length + this.#after.length;
    return folded.length >= shortest && folded.startsWith(this.#before) && folded.endsWith(this.#after);
  }

  /** The part of a matching name that the star stands for. */
  starOf(name: string): string {
    return name.slice(this.before.length, name.length - (this.after ?? '').length);
  }
}

interface Rule {
  readonly from: Pattern;
  readonly to: Pattern;
}

/** A side may be in double quotes, so that it can contain `=`. */
const RULE = /^("[^"]*"|[^"=]+)=("[^"]*"|[^"=]+)$/;

/** Rules in their order: the first one that matches a name applies. Names are compared without regard to case. */
export class Rules {
  readonly #rules: Rule[];
  /** For each whole name on the left, the index of the first rule for it. */
  readonly #exact = new Map<string, number>();
  readonly #globs: number[] = [];
  /** For each whole name on the right, the number of rules that map to it. */
  readonly #constants = new Map<string, number>();
  readonly #patterns: Rule[];

  /**
   * @param given `OLD=NEW`
   * @param option the name of the rules in messages
   * @throws UsageError for an invalid rule
   */
  constructor(given: readonly string[], option: string) {
    this.#rules = given.map(rule => parseRule(rule, option));
    this.#patterns = this.#rules.filter(({ to }) => to.hasStar);
    for (const [at, { from, to }] of this.#rules.entries()) {
      const [old, name] = [from, to].map(({ before }) => foldCase(before)) as [string, string];
      if (from.hasStar) this.#globs.push(at);
      else if (!this.#exact.has(old)) this.#exact.set(old, at);
      if (!to.hasStar) this.#constants.set(name, (this.#constants.get(name) ?? 0) + 1);
    }
  }

  /** Whether there are no rules. */
  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  /** The new name; undefined if no rule matches. */
  apply(name: string): string | undefined {
    const rule = this.#find(name);
    return rule && (rule.to.hasStar ? rule.to.before + rule.from.starOf(name) + rule.to.after : rule.to.before);
  }

  /**
   * Whether another name could collide with this name's result: map to it, or already be equal to it. If not, the name
   * need not be stored: a rule with a star on both sides maps different names to different names.
   */
  isContested(name: string): boolean {
    const maker = this.#find(name);
    if (maker?.from.hasStar && !maker.to.hasStar) return true;
    const folded = foldCase(this.apply(name) ?? name);
    const own = maker && !maker.to.hasStar ? 1 : 0;
    if ((this.#constants.get(folded) ?? 0) > own) return true;
    return this.#patterns.some(rule => rule !== maker && rule.to.matches(folded));
  }

  #find(name: string): Rule | undefined {
    const folded = foldCase(name);
    const exact = this.#exact.get(folded) ?? this.#rules.length;
    const glob = this.#globs.find(at => at > exact || this.#rules[at]?.from.matches(folded)) ?? exact;
    return this.#rules[Math.min(exact, glob)];
  }
}

function parseRule(text: string, option: string): Rule {
  const sides = RULE.exec(text)?.slice(1) ?? [];
  const [from = [], to = []] = sides.map(side => side.replaceAll('"', '').split('*'));
  if (sides.length === 0 || from.length > 2 || to.length > from.length || from.join('*') === '' || to.join('*') === '')
    throw new UsageError(
      `${option}: '${text}' is not a rule; write OLD=NEW, with one * on the left or on both sides, and put a name that contains = in double quotes`,
    );
  return { from: new Pattern(...(from as [string, string?])), to: new Pattern(...(to as [string, string?])) };
}

/** A file of rules cannot be read. */
class RuleFileError extends Error {
  readonly code = 'NOINPUT';
}

/**
 * The rules in a UTF-8 file, one per line. Empty lines and lines that begin with `#` are ignored.
 * @throws RuleFileError if the file cannot be read
 */
export async function readRules(path: string): Promise<string[]> {
  const bytes = await readFile(path).catch(error => {
    throw new RuleFileError(`--rename-file ${path}: cannot be read: ${systemErrorReason(error)}`);
  });
  if (!isUtf8(bytes)) throw new RuleFileError(`--rename-file ${path}: not UTF-8; iconv converts other encodings`);
  return bytes
    .toString()
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .filter(line => line.trim() !== '' && !line.startsWith('#'));
}
