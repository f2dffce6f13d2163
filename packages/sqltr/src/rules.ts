/*! Rules that map names to new names: `fx_*=acme_*`, or one name to one name. */
import { UsageError } from '@sqlpipe/cli';
import { foldCase } from '@sqlpipe/sql';
import { formatMessage } from '@sqlpipe/text';

/** One side of a rule: a whole name, or the prefix and suffix around a star. */
class Pattern {
  readonly #foldedPrefix: string;
  readonly #foldedSuffix: string;

  constructor(
    /** The whole name if there is no star. */
    readonly prefix: string,
    /** Undefined if there is no star. */
    readonly suffix?: string,
  ) {
    this.#foldedPrefix = foldCase(prefix);
    this.#foldedSuffix = foldCase(suffix ?? '');
  }

  get hasStar(): boolean {
    return this.suffix !== undefined;
  }

  /** @param folded a name, folded by `foldCase` */
  matches(folded: string): boolean {
    if (!this.hasStar) return folded === this.#foldedPrefix;
    const minimum = this.#foldedPrefix.length + this.#foldedSuffix.length;
    return folded.length >= minimum && folded.startsWith(this.#foldedPrefix) && folded.endsWith(this.#foldedSuffix);
  }

  /** The part of a matching name that the star stands for. */
  starOf(name: string): string {
    return name.slice(this.prefix.length, name.length - (this.suffix ?? '').length);
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
  readonly #firstExactRule = new Map<string, number>();
  readonly #globIndexes: number[] = [];
  /** For each whole name on the right, the number of rules that map to it. */
  readonly #fixedTargetCounts = new Map<string, number>();
  readonly #rulesToStar: Rule[];

  /** @param given `OLD=NEW` @param option the name of the rules in messages @throws UsageError for an invalid rule */
  constructor(given: readonly string[], option: string) {
    this.#rules = given.map(rule => parseRule(rule, option));
    this.#rulesToStar = this.#rules.filter(({ to }) => to.hasStar);
    for (const [index, { from, to }] of this.#rules.entries()) {
      const [oldName, newName] = [from, to].map(({ prefix }) => foldCase(prefix)) as [string, string];
      if (from.hasStar) this.#globIndexes.push(index);
      else if (!this.#firstExactRule.has(oldName)) this.#firstExactRule.set(oldName, index);
      if (!to.hasStar) this.#fixedTargetCounts.set(newName, (this.#fixedTargetCounts.get(newName) ?? 0) + 1);
    }
  }

  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  /** The new name; undefined if no rule matches. */
  apply(name: string): string | undefined {
    const rule = this.#find(name);
    return rule && (rule.to.hasStar ? rule.to.prefix + rule.from.starOf(name) + rule.to.suffix : rule.to.prefix);
  }

  /**
   * Whether another name could collide with this name's result: map to it, or already be equal to it. If not, the name
   * need not be stored: a rule with a star on both sides maps different names to different names.
   */
  mayCollide(name: string): boolean {
    const ownRule = this.#find(name);
    if (ownRule?.from.hasStar && !ownRule.to.hasStar) return true;
    const folded = foldCase(this.apply(name) ?? name);
    const ownCount = ownRule && !ownRule.to.hasStar ? 1 : 0;
    if ((this.#fixedTargetCounts.get(folded) ?? 0) > ownCount) return true;
    return this.#rulesToStar.some(rule => rule !== ownRule && rule.to.matches(folded));
  }

  #find(name: string): Rule | undefined {
    const folded = foldCase(name);
    const exact = this.#firstExactRule.get(folded) ?? this.#rules.length;
    const glob = this.#globIndexes.find(index => index > exact || this.#rules[index]?.from.matches(folded)) ?? exact;
    return this.#rules[Math.min(exact, glob)];
  }
}

function parseRule(text: string, option: string): Rule {
  const sides = RULE.exec(text)?.slice(1) ?? [];
  const [from = [], to = []] = sides.map(side => side.replaceAll('"', '').split('*'));
  if (sides.length === 0 || from.length > 2 || to.length > from.length || from.join('*') === '' || to.join('*') === '')
    throw new UsageError(
      formatMessage(`${option}: '${text}' is not a rule`, [
        'hint: write OLD=NEW, with one * on the left or on both sides',
        'hint: put a name that contains = in double quotes',
      ]),
    );
  return { from: new Pattern(...(from as [string, string?])), to: new Pattern(...(to as [string, string?])) };
}
