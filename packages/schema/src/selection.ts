/*! The service's categories of statements, as --include and --exclude accept them. */
import { isAcl, isObject, KINDS, type Kind } from '@sqlpipe/sql';

/** What each category selects (SHOW CREATE DATABASE, INCLUDE and EXCLUDE). */
const CATEGORY_KINDS: Record<string, Kind[]> = {
  TABLES: ['table'],
  VIEWS: ['view'],
  MATERIALIZED_VIEWS: ['matview'],
  LIVE_VIEWS: ['liveview'],
  USERS: ['user'],
  GROUPS: ['group'],
  SERVICE_ACCOUNTS: ['service-account'],
  PERMISSIONS: ['membership', 'assumption', 'grant'],
  SCHEMA: KINDS.filter(isObject),
  ACL: KINDS.filter(isAcl),
  ALL: KINDS.filter(kind => kind !== 'other'),
};

/** The categories by name. */
export const CATEGORIES: readonly string[] = Object.keys(CATEGORY_KINDS);

/** Lists of categories that select nothing sensible. */
export class InvalidSelectionError extends Error {
  override name = 'InvalidSelectionError';
  readonly code = 'USAGE';
}

/** What a dump is to hold. */
export interface Selection {
  /** The clause after SHOW CREATE DATABASE; empty for all. It may select more of access control than `selects`. */
  clause: string;
  /** Whether a kind is selected, for servers that do not know the clause. */
  selects(kind: Kind): boolean;
  /** Whether access control was selected explicitly. */
  requestsAcl: boolean;
}

/** The kinds that a word stands for: those of a category (`TABLES`), or one kind (`table`), in any case. */
function kindsOf(word: string): readonly Kind[] | undefined {
  const [category, kind] = [word.toUpperCase(), word.toLowerCase() as Kind];
  if (Object.hasOwn(CATEGORY_KINDS, category)) return CATEGORY_KINDS[category];
  return KINDS.includes(kind) ? [kind] : undefined;
}

const wordsOf = (lists: string[]): string[] => lists.flatMap(list => list.split(',')).map(word => word.trim());

/**
 * The kinds that lists of categories and kinds stand for: any case, separated by commas or given again.
 * @throws InvalidSelectionError for a word that is neither
 */
export function parseKinds(lists: string[]): Set<Kind> {
  return new Set(
    wordsOf(lists).flatMap(word => {
      const kinds = kindsOf(word);
      if (kinds) return kinds;
      throw new InvalidSelectionError(
        `unknown kind: '${word}'; there are ${KINDS.join(', ')}, and ${Object.keys(CATEGORY_KINDS).join(', ')}`,
      );
    }),
  );
}

/** The category for a word in the service's clause; undefined where an EXCLUDE would leave out more than the word says. */
function categoryOf(word: string, isExcluded: boolean): string | undefined {
  if (Object.hasOwn(CATEGORY_KINDS, word.toUpperCase())) return word.toUpperCase();
  const [category, kinds] =
    Object.entries(CATEGORY_KINDS).find(([, each]) => each.includes(word.toLowerCase() as Kind)) ?? [];
  return isExcluded && kinds?.length !== 1 ? undefined : category;
}

/**
 * The selection that lists of categories and kinds stand for: any case, separated by commas or given again.
 * @throws InvalidSelectionError for an unknown word, and for both lists at once, as the service accepts one clause
 */
export function parseSelection(include: string[] = [], exclude: string[] = []): Selection {
  if (include.length && exclude.length) throw new InvalidSelectionError('--include and --exclude cannot be combined');
  const mode = include.length ? 'INCLUDE' : 'EXCLUDE';
  const words = wordsOf([...include, ...exclude]);
  const named = parseKinds([...include, ...exclude]);
  if (named.has('other')) throw new InvalidSelectionError('a dump contains no statements of the kind other');
  const categories = new Set(words.flatMap(word => categoryOf(word, mode === 'EXCLUDE') ?? []));
  return {
    clause: categories.size ? ` ${mode} (${[...categories].join(', ')})` : '',
    selects: kind => named.has(kind) === include.length > 0,
    requestsAcl: mode === 'INCLUDE' && words.some(word => word.toUpperCase() !== 'ALL' && kindsOf(word)?.some(isAcl)),
  };
}
