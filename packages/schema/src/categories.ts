/*! The service's categories of statements, as --include and --exclude take them. */
import { isAcl, isObject, KINDS, type Kind } from '@sqlpipe/sql';

/** What each category selects (SHOW CREATE DATABASE, INCLUDE and EXCLUDE). */
const SELECTS: Record<string, Kind[]> = {
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
export const CATEGORIES: readonly string[] = Object.keys(SELECTS);

/** Lists of categories that select nothing sensible. */
export class InvalidSelectionError extends Error {
  readonly code = 'USAGE';
}

/** What a dump is to hold. */
export interface Selection {
  /** The clause behind SHOW CREATE DATABASE; empty for all. */
  clause: string;
  /** Whether a kind is selected, for servers that do not know the clause. */
  selects(kind: Kind): boolean;
  /** Whether access control was asked for by name. */
  requestsAcl: boolean;
}

/**
 * The selection that lists of categories stand for: any case, separated by commas or given again.
 * @throws InvalidSelectionError for an unknown category, and for both lists at once, as the service takes one clause
 */
export function selection(include: string[] = [], exclude: string[] = []): Selection {
  if (include.length && exclude.length) throw new InvalidSelectionError('--include and --exclude can not be combined');
  const mode = include.length ? 'INCLUDE' : 'EXCLUDE';
  const categories = [...include, ...exclude].flatMap(list => list.split(',')).map(name => name.trim().toUpperCase());
  for (const category of categories)
    if (!SELECTS[category])
      throw new InvalidSelectionError(`no such category: ${category}; there are ${CATEGORIES.join(', ')}`);
  const named = new Set(categories.flatMap(category => SELECTS[category] ?? []));
  return {
    clause: categories.length ? ` ${mode} (${categories.join(', ')})` : '',
    selects: kind => named.has(kind) === include.length > 0,
    requestsAcl:
      mode === 'INCLUDE' && categories.some(category => category !== 'ALL' && SELECTS[category]?.some(isAcl)),
  };
}
