import { UsageError } from '@sqlpipe/cli';
import {
  findCommonTableExpressions,
  findMentions,
  findUnknownNames,
  isBareName,
  isValidTableName,
  type Mention,
} from '@sqlpipe/ddl';
import { spool } from '@sqlpipe/records';
import { displayName, foldCase, isSameName, NameSet, readStatementHead } from '@sqlpipe/sql';
import { CodedError, formatExcerpt, formatMessage } from '@sqlpipe/text';
import { formatNumberedStatement, type NumberedStatement } from './adapt.js';

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

/** Rules that map names to new names: `fx_*=acme_*`, or one name to one name, in any case. The first one that matches a name applies. */
export class RenameRules {
  readonly #rules: Rule[];
  /** For each whole name on the left, the index of the first rule for it. */
  readonly #firstExactRule = new Map<string, number>();
  readonly #globIndexes: number[] = [];
  /** For each whole name on the right, the number of rules that map to it. */
  readonly #fixedNewNameCounts = new Map<string, number>();
  readonly #rulesToStar: Rule[];

  /** @param given `OLD=NEW` @param option the name of the rules in messages @throws UsageError for an invalid rule */
  constructor(given: readonly string[], option: string) {
    this.#rules = given.map(rule => parseRule(rule, option));
    this.#rulesToStar = this.#rules.filter(({ to }) => to.suffix !== undefined);
    for (const [index, { from, foldedTo }] of this.#rules.entries()) {
      if (from.suffix !== undefined) this.#globIndexes.push(index);
      else if (!this.#firstExactRule.has(from.prefix)) this.#firstExactRule.set(from.prefix, index);
      const { prefix, suffix } = foldedTo;
      if (suffix === undefined) this.#fixedNewNameCounts.set(prefix, (this.#fixedNewNameCounts.get(prefix) ?? 0) + 1);
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
    if ((this.#fixedNewNameCounts.get(folded) ?? 0) > (isFixed ? 1 : 0)) return true;
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
  // A side may be in double quotes, so that it can contain `=`.
  const sides = /^("[^"]*"|[^"=]+)=("[^"]*"|[^"=]+)$/.exec(text)?.slice(1) ?? [];
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

export interface RulesByRole {
  readonly objects: RenameRules;
  /** Only for OWNED BY. If none of these rules matches an owner, those for principals apply. */
  readonly owners: RenameRules;
  readonly principals: RenameRules;
}

/** Renames after all statements were read: only then are conflicts known. @throws CodedError for those, and for names in unknown syntax */
export async function* renameStatements(
  input: AsyncIterable<NumberedStatement>,
  rules: RulesByRole,
): AsyncGenerator<string> {
  const renaming = new Renaming(rules);
  // Finding the mentions takes longest, so they are stored with the statement, on the line before it.
  const surveyed = async function* () {
    for await (const each of input) yield `${JSON.stringify(renaming.survey(each))}\n${each.statement}`;
  };
  const all = await spool(surveyed());
  const canFail = renaming.canFail();
  const renamed = async function* () {
    for await (const packed of all) {
      const end = packed.indexOf('\n');
      const [statement, mentions] = [packed.slice(end + 1), JSON.parse(packed.slice(0, end)) as Mention[]];
      yield canFail ? renaming.checkAndReplaceNames(statement, mentions) : renaming.replaceNames(statement, mentions);
    }
  };
  yield* canFail ? await spool(renamed()) : renamed();
}

/** The renaming of a schema. All statements are surveyed before the first one is changed. */
class Renaming {
  /** The old name for each final name, existing or new. Only final names that another rule could produce are kept. */
  readonly #oldNames = new Map<string, string>();
  /** The old and new names of views. A view shadows a common table expression of its name. */
  readonly #views = new NameSet();
  readonly #newViews = new NameSet();
  readonly #expressions = new NameSet();
  #hasClash = false;
  readonly #searchesQueries: boolean;

  constructor(private readonly rules: RulesByRole) {
    this.#searchesQueries = !rules.objects.isEmpty;
  }

  /** Records the names in a statement, and returns its mentions. */
  survey({ n, statement }: NumberedStatement): Mention[] {
    const { kind, name } = readStatementHead(statement);
    const mentions = findMentions(statement, { inQueries: this.#searchesQueries });
    for (const mention of mentions) this.#claim(mention, true);
    this.#rejectUnknown(n, statement, mentions);
    if (kind === 'view' && this.#searchesQueries) {
      this.#views.add(detach(name));
      this.#newViews.add(detach(this.rules.objects.apply(name) ?? name));
    }
    for (const expression of this.#findExpressions(statement)) this.#expressions.add(detach(expression));
    this.#hasClash ||= this.#findClash(statement, mentions) !== undefined;
    return mentions;
  }

  canFail(): boolean {
    const isView = (name: string): boolean => this.#views.has(name) || this.#newViews.has(name);
    return this.#oldNames.size > 0 || this.#hasClash || [...this.#expressions].some(isView);
  }

  /** A statement with its new names. @param mentions the result of `survey` */
  replaceNames(statement: string, mentions: readonly Mention[]): string {
    let renamed = '';
    let end = 0;
    for (const mention of mentions) {
      const name = this.#changedName(mention);
      if (name === undefined) continue;
      renamed += statement.slice(end, mention.start) + quoteLike(statement, mention, name);
      end = mention.end;
    }
    return end === 0 ? statement : renamed + statement.slice(end);
  }

  /** Like `replaceNames`, with all checks: `survey` did not know later names and views yet. @throws CodedError */
  checkAndReplaceNames(statement: string, surveyed: readonly Mention[]): string {
    const expressions = this.#findExpressions(statement);
    const isShadowed = expressions.some(name => this.#views.has(name));
    const isView = (name: string): boolean => this.#views.has(name);
    const mentions = isShadowed ? findMentions(statement, { isView }) : surveyed;
    for (const mention of mentions) if (this.#changedName(mention) !== undefined) this.#claim(mention, false);
    const renamed = this.replaceNames(statement, mentions);
    const suspect = expressions.find(name => this.#newViews.has(name)) ?? this.#findClash(statement, mentions);
    if (isShadowed || suspect !== undefined) this.#rejectChangedMeaning(statement, mentions, renamed, suspect);
    return renamed;
  }

  #findExpressions(statement: string): string[] {
    return this.#searchesQueries ? [...findCommonTableExpressions(statement)] : [];
  }

  #newName({ role, name }: Mention): string | undefined {
    const { objects, owners, principals } = this.rules;
    if (role === 'object') return objects.apply(name);
    return (role === 'owner' ? owners.apply(name) : undefined) ?? principals.apply(name);
  }

  #changedName(mention: Mention): string | undefined {
    const name = this.#newName(mention);
    return name === mention.name ? undefined : name;
  }

  /** @param remember whether to record the new name @throws CodedError if another name has become the same */
  #claim(mention: Mention, remember: boolean): void {
    const { role, name } = mention;
    const { objects, owners, principals } = this.rules;
    const newName = this.#newName(mention) ?? name;
    const isValid = role === 'object' ? isValidTableName(newName) : !/^$|['"`\0-\x1f\x7f]/.test(newName);
    if (newName !== name && !isValid)
      throw rejection(`'${shorten(name)}' would become '${shorten(newName)}', which is not a valid name`);
    if (role === 'owner' && owners.apply(name) !== undefined) return; // several owners may become one
    const rules = role === 'object' ? objects : principals;
    if (rules.isEmpty) return;
    const key = `${role === 'object' ? 'object' : 'principal'} ${foldCase(newName)}`;
    const other = this.#oldNames.get(key);
    if (other !== undefined && !isSameName(other, name))
      throw rejection(
        `'${shorten(other)}' and '${shorten(name)}' would have the same name, '${shorten(newName)}'; choose another name, or remove one of them`,
      );
    if (remember && other === undefined && rules.mayCollide(name)) this.#oldNames.set(detach(key), detach(name));
  }

  /** @throws CodedError if a statement that is not understood may contain a name to change */
  #rejectUnknown(n: number, statement: string, mentions: readonly Mention[]): void {
    const { objects, owners, principals } = this.rules;
    const rules = [objects, principals, ...(/\bowned\b/i.test(statement) ? [owners] : [])].filter(
      each => !each.isEmpty,
    );
    if (rules.length === 0) return;
    const found = findUnknownNames(statement, mentions).find(name =>
      rules.some(each => each.apply(name) !== undefined),
    );
    if (found !== undefined)
      throw rejection(
        `${formatNumberedStatement(n, readStatementHead(statement))}: unknown syntax, where '${shorten(found)}' may be a name to change; remove the statement with sqlgrep -v`,
      );
  }

  /** A new name that already occurs in the statement, and may be an alias there. */
  #findClash(statement: string, mentions: readonly Mention[]): string | undefined {
    const folded = foldCase(statement);
    const newNames = mentions.map(mention => (mention.role === 'object' ? this.#changedName(mention) : undefined));
    return newNames.find(name => name !== undefined && folded.includes(foldCase(name)));
  }

  /** Parses a renamed statement again: in it, a new name may be an alias, or a renamed view may now hide a common table expression. */
  #rejectChangedMeaning(statement: string, mentions: readonly Mention[], renamed: string, suspect = ''): void {
    const expected = mentions.map(mention => this.#newName(mention) ?? mention.name);
    const isView = (name: string): boolean => this.#newViews.has(name);
    const found = findMentions(renamed, { isView }).map(({ name }) => name);
    if (found.length === expected.length && found.every((name, i) => name === expected[i])) return;
    throw rejection(
      `${shorten(displayName(readStatementHead(statement)))}: the new name '${shorten(suspect)}' is also that of an alias or a common table expression in it; choose another name`,
    );
  }
}

const rejection = (message: string): CodedError => new CodedError('REJECTED', message);

const shorten = (name: string): string => formatExcerpt(name, 140);

/** Copies a name, because a substring in V8 keeps the complete statement in memory. */
const detach = (name: string): string => Buffer.from(name).toString();

function quoteLike(statement: string, { usage, start, end }: Mention, name: string): string {
  if (usage === 'quoted-qualifier') return name;
  const written = statement.slice(start, end);
  const isBare = !/^['"`]/.test(written);
  const isAfterPublic = statement.charAt(start - 1) === '.';
  const mayHaveDots = usage === 'qualifier' || (usage === 'table' && !isAfterPublic);
  // In a join, the server fails on a quoted name with a dot before a column (observed on 9.3.4).
  const wantsBare = isBare || (usage === 'qualifier' && name.includes('.'));
  if (wantsBare && (mayHaveDots ? name.split('.') : [name]).every(isBareName)) return name;
  const quote = isBare || (written.startsWith('`') && name.includes('`')) ? '"' : written.charAt(0);
  return quote + name + quote;
}
