/*! Rules that map names to new names: `fx_*=acme_*`, or one name to one name. */
import { UsageError } from '@sqlpipe/cli';
import { foldCase } from '@sqlpipe/sql';
import { formatMessage } from '@sqlpipe/text';

/** One side of a rule: a whole name, or the prefix and suffix around a star. */
interface Pattern {
  readonly prefix: string;
  readonly suffix: string | undefined;
}

interface Rule {
  /** What it matches, in lower case. */
  readonly from: Pattern;
  readonly to: Pattern;
  readonly foldedTo: Pattern;
}

/** @param folded a name, folded by `foldCase` */
function matches({ prefix, suffix }: Pattern, folded: string): boolean {
  if (suffix === undefined) return folded === prefix;
  return folded.length >= prefix.length + suffix.length && folded.startsWith(prefix) && folded.endsWith(suffix);
}

/** A side may be in double quotes, so that it can contain `=`. */
const RULE = /^("[^"]*"|[^"=]+)=("[^"]*"|[^"=]+)$/;

/** Rules in their order: the first one that matches a name applies. Names are compared without regard to case. */
export class RenameRules {
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
    this.#rulesToStar = this.#rules.filter(({ to }) => to.suffix !== undefined);
    for (const [index, { from, foldedTo }] of this.#rules.entries()) {
      if (from.suffix !== undefined) this.#globIndexes.push(index);
      else if (!this.#firstExactRule.has(from.prefix)) this.#firstExactRule.set(from.prefix, index);
      const { prefix, suffix } = foldedTo;
      if (suffix === undefined) this.#fixedTargetCounts.set(prefix, (this.#fixedTargetCounts.get(prefix) ?? 0) + 1);
    }
  }

  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  /** The new name; undefined if no rule matches. */
  apply(name: string): string | undefined {
    const rule = this.#find(name);
    if (!rule || rule.to.suffix === undefined) return rule?.to.prefix;
    const star = name.slice(rule.from.prefix.length, name.length - (rule.from.suffix ?? '').length);
    return rule.to.prefix + star + rule.to.suffix;
  }

  /** Whether another name could map to this name's result, or equal it. If not, the name need not be stored. */
  mayCollide(name: string): boolean {
    const ownRule = this.#find(name);
    const isFixed = ownRule !== undefined && ownRule.to.suffix === undefined;
    if (isFixed && ownRule.from.suffix !== undefined) return true;
    const folded = foldCase(this.apply(name) ?? name);
    if ((this.#fixedTargetCounts.get(folded) ?? 0) > (isFixed ? 1 : 0)) return true;
    return this.#rulesToStar.some(rule => rule !== ownRule && matches(rule.foldedTo, folded));
  }

  #find(name: string): Rule | undefined {
    const folded = foldCase(name);
    const exact = this.#firstExactRule.get(folded) ?? this.#rules.length;
    const glob =
      this.#globIndexes.find(index => index > exact || matches((this.#rules[index] as Rule).from, folded)) ?? exact;
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
  const toPattern = ([prefix = '', suffix]: readonly string[]): Pattern => ({ prefix, suffix });
  return { from: toPattern(from.map(foldCase)), to: toPattern(to), foldedTo: toPattern(to.map(foldCase)) };
}
