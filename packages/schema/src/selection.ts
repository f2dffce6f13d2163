import { CATEGORY_KINDS, isAclKind, isPrincipalKind, isRightKind, KINDS, type Kind, OBJECT_KINDS } from '@sqlpipe/sql';
import { CodedError } from '@sqlpipe/text';

/** An option of a program or of the library has an invalid value. */
export class InvalidOptionError extends CodedError {
  override name = 'InvalidOptionError';

  constructor(message: string) {
    super('USAGE', message);
  }
}

/** The selection of what a dump contains. */
export interface Selection {
  /** The clause after SHOW CREATE DATABASE; empty for everything. It may select more access control than `selects`. */
  clause: string;
  /** Whether a kind is selected; needed for servers that do not support the clause. */
  selects(kind: Kind): boolean;
  /** Whether access control was selected explicitly. */
  requestsAcl: boolean;
}

/** The kind of a word, in any case: on a command line, `materialized-view` needs no quotes. */
export const parseKind = (word: string): Kind | undefined =>
  KINDS.find(kind => kind === word.toLowerCase().replaceAll('-', ' '));

/** @param word a kind or a category, in any case @throws InvalidOptionError for an unknown word */
function kindsOf(word: string): readonly Kind[] {
  const kind = parseKind(word);
  const kinds = CATEGORY_KINDS.get(word.toUpperCase()) ?? (kind && [kind]);
  if (kinds) return kinds;
  throw new InvalidOptionError(
    `unknown kind: '${word}'; there are ${KINDS.map(each => each.replace(' ', '-')).join(', ')}, and ${[...CATEGORY_KINDS.keys()].join(', ')}`,
  );
}

/** The words of an option that may be given several times, each time with words separated by commas. */
export const splitWords = (lists: readonly string[]): string[] =>
  lists.flatMap(list => list.split(',')).map(word => word.trim());

/** @param lists categories and kinds, in any case and separated by commas @throws InvalidOptionError for an unknown word */
export const parseKinds = (lists: readonly string[]): Set<Kind> => new Set(splitWords(lists).flatMap(kindsOf));

/** The category of a word for the server's clause; undefined if an EXCLUDE of that category would omit other kinds too. */
function categoryOf(word: string, isExcluded: boolean): string | undefined {
  if (CATEGORY_KINDS.has(word.toUpperCase())) return word.toUpperCase();
  const [category, kinds] = [...CATEGORY_KINDS].find(([, each]) => each.includes(parseKind(word) as Kind)) ?? [];
  return isExcluded && kinds?.length !== 1 ? undefined : category;
}

/** @throws InvalidOptionError for an unknown word, and if both lists are used, because the server accepts one clause */
export function parseSelection(include: readonly string[] = [], exclude: readonly string[] = []): Selection {
  if (include.length && exclude.length) throw new InvalidOptionError('--include and --exclude cannot be combined');
  const mode = include.length ? 'INCLUDE' : 'EXCLUDE';
  const words = splitWords([...include, ...exclude]);
  const named = parseKinds([...include, ...exclude]);
  if (named.has('other')) throw new InvalidOptionError('a dump contains no statements of the kind other');
  const categories = new Set(words.flatMap(word => categoryOf(word, mode === 'EXCLUDE') ?? []));
  return {
    clause: categories.size ? ` ${mode} (${[...categories].join(', ')})` : '',
    selects: kind => named.has(kind) === include.length > 0,
    requestsAcl:
      mode === 'INCLUDE' && words.some(word => word.toUpperCase() !== 'ALL' && kindsOf(word).some(isAclKind)),
  };
}

/**
 * The selection for a plan, which has to know more than it may change, and ignores the rest: all objects if it changes some, because others
 * may read these; and all principals if it changes rights.
 * @returns `unselected`: the kinds that the lists leave out, but the selection has
 * @throws InvalidOptionError as `parseSelection` does
 */
export function parsePlanSelection(include: readonly string[], exclude: readonly string[]) {
  const { selects, requestsAcl } = parseSelection(include, exclude);
  const needed: Kind[] = [
    ...(OBJECT_KINDS.some(selects) ? OBJECT_KINDS : []),
    ...(KINDS.some(kind => isRightKind(kind) && selects(kind)) ? KINDS.filter(isPrincipalKind) : []),
  ];
  const unselected = needed.filter(kind => !selects(kind));
  const included = include.length > 0 ? [...include, ...unselected] : [];
  const excluded = splitWords(exclude).filter(word => !kindsOf(word).some(kind => unselected.includes(kind)));
  return { selection: { ...parseSelection(included, excluded), requestsAcl }, unselected };
}
