/*! Rules by which a name becomes another: `fx_*=acme_*`, or one name for one. */
import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { UsageError } from '@sqlpipe/cli';
import { foldCase, systemErrorReason } from '@sqlpipe/sql';

/** One side of a rule: a whole name, or what stands before and after a star. */
class Pattern {
  readonly #before: string;
  readonly #after: string;

  constructor(
    readonly before: string,
    /** Undefined where there is no star. */
    readonly after?: string,
  ) {
    this.#before = foldCase(before);
    this.#after = foldCase(after ?? '');
  }

  get hasStar(): boolean {
    return this.after !== undefined;
  }

  /** @param folded a name as `foldCase` has it */
  matches(folded: string): boolean {
    if (!this.hasStar) return folded === this.#before;
    const shortest = this.#before.length + this.#after.length;
    return folded.length >= shortest && folded.startsWith(this.#before) && folded.endsWith(this.#after);
  }

  /** What stands for the star in a name that matches. */
  starOf(name: string): string {
    return name.slice(this.before.length, name.length - (this.after ?? '').length);
  }
}

interface Rule {
  readonly from: Pattern;
  readonly to: Pattern;
}

/** A side is bare, or in double quotes so that it may hold `=`. */
const RULE = /^("[^"]*"|[^"=]+)=("[^"]*"|[^"=]+)$/;

/** Rules in the order given: the first that matches a name decides. Names are compared without regard to case. */
export class Rules {
  readonly #rules: Rule[];
  /** Of the rules for one name the first for each. */
  readonly #exact = new Map<string, number>();
  readonly #globs: number[] = [];
  /** How many rules make one name, whatever from. */
  readonly #constants = new Map<string, number>();
  readonly #patterns: Rule[];

  /**
   * @param given `OLD=NEW`
   * @param option what they are called in messages
   * @throws UsageError for what is no rule
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

  /** Whether there is none. */
  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  /** The new name; undefined where no rule matches. */
  apply(name: string): string | undefined {
    const rule = this.#find(name);
    return rule && (rule.to.hasStar ? rule.to.before + rule.from.starOf(name) + rule.to.after : rule.to.before);
  }

  /**
   * Whether another name may become what this one becomes, or be it already. Where that is not so the name need not be
   * remembered: the names that one rule with a star on both sides makes are as different as those it makes them from.
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

/** A file of rules that can not be read. */
class RuleFileError extends Error {
  readonly code = 'NOINPUT';
}

/**
 * The rules in a UTF-8 file, one per line; lines that are empty or begin with `#` are none.
 * @throws RuleFileError where it can not be read
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
