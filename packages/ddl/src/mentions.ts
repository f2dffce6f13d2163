/*! Where a statement names objects and principals, down to the character: what it takes to give them other names. */
import {
  AmbiguousStatementError,
  displayName,
  foldCase,
  isObject,
  isPrincipal,
  type Kind,
  keywordOf,
  type LocatedName,
  parseName,
  readStatementHead,
  serverTokens,
  significantTokens,
  type Token,
  unquote,
} from '@sqlpipe/sql';
import { parseMeaning } from './compare-statements.js';
import { locateGrantTargets } from './grant-targets.js';
import { findOwnerClause } from './owner.js';
import { parsePrincipal } from './principal.js';
import { type NamePlace, QueryNames } from './query-names.js';
import { hasReferences, ReferenceFinder } from './references.js';
import { isCleanTable } from './repair-table.js';
import { parseRights } from './rights.js';

/** A name in a statement, without its quotes; `[start, end)` holds these too, but not the schema `public`. */
export interface Mention extends LocatedName {
  /** A table, view, materialized or live view; who owns what is made; any other user, group or service account. */
  readonly role: 'object' | 'owner' | 'principal';
  readonly place: NamePlace;
}

/**
 * All places in which a statement names an object or a principal, in the order of the text: what it makes, what its query
 * reads from, a base, LIKE, the owner, the objects and receivers of a grant. Aliases, common table expressions, columns
 * and strings are none of them. Statements that a schema dump does not hold have none.
 *
 * @param options.isView whether a name is that of a view, as `references` has it
 * @param options.inQueries whether to look into queries, which takes its time
 * @throws AmbiguousStatementError where a comment hides from SQL what QuestDB reads; LimitError as `references`
 */
export function findMentions(
  statement: string,
  { isView = () => false, inQueries = true }: { isView?: (name: string) => boolean; inQueries?: boolean } = {},
): Mention[] {
  const head = readStatementHead(statement);
  const { kind, located } = head;
  if (kind === 'other') return [];
  if (!located) {
    const { objects, principals } = locateGrantTargets(statement, kind);
    return [...objects.map(name => mention(name, 'object')), ...principals.map(name => mention(name, 'principal'))];
  }
  const made = mention(located, isObject(kind) ? 'object' : 'principal');
  const owner = findOwnerClause(statement)?.owner;
  const read = inQueries && hasReferences(kind, statement) ? readNames(statement, isView, displayName(head)) : [];
  return [made, ...read, ...(owner ? [mention(owner, 'owner')] : [])];
}

const mention = ({ name, start, end }: LocatedName, role: Mention['role'], place: NamePlace = 'name'): Mention => ({
  name,
  start,
  end,
  role,
  place,
});

/** What has to be there for comments to be read in two ways. */
const COMMENT = /--|\/\*/;

function readNames(statement: string, isView: (name: string) => boolean, title: string): Mention[] {
  const walk = (tokens: Iterable<Token>): Mention[] | undefined => {
    const names = new QueryNames();
    const isWhole = new ReferenceFinder(tokens, isView, title, names).reads();
    return isWhole && names.names().map(name => mention(name, 'object', name.place));
  };
  const bySql = walk(significantTokens(statement));
  if (bySql && !COMMENT.test(statement)) return bySql;
  const byServer = walk(serverTokens(statement, '9.3.2'));
  if (bySql && byServer && !isSame(bySql, byServer))
    throw new AmbiguousStatementError(
      `${title}: SQL and QuestDB read different names in it; remove quotes and dashes from its comments`,
    );
  return byServer ?? bySql ?? [];
}

const isSame = (a: readonly Mention[], b: readonly Mention[]): boolean =>
  a.length === b.length && a.every(({ start, end }, i) => start === b[i]?.start && end === b[i]?.end);

/** The common table expressions that a statement may define, in lower case, and some aliases; fast where there is none. */
export function findCommonTableExpressions(statement: string): Set<string> {
  const found = new Set<string>();
  if (!/\bwith\b/i.test(statement)) return found;
  let last: Token | undefined;
  let isAfterWith = false;
  for (const token of significantTokens(statement)) {
    if (keywordOf(token) === 'WITH') isAfterWith = true;
    if (isAfterWith && keywordOf(token) === 'AS' && last && last.type !== 'sign')
      found.add(foldCase(unquote(last.text)));
    last = token;
  }
  return found;
}

/**
 * The words, names and strings of a statement that may be names as well, for all that is known: those of no mention, of a
 * statement in a syntax that is not known here. None where it is known.
 */
export function findUnknownNames(statement: string, mentions: readonly Mention[]): string[] {
  const { kind } = readStatementHead(statement);
  if (isUnderstood(statement, kind)) return [];
  const known = new Set(mentions.map(({ start }) => start));
  const tokens = [...significantTokens(statement)];
  return tokens.flatMap((token, at) => {
    if (token.type === 'sign' || known.has(token.start)) return [];
    return [...new Set([unquote(token.text), parseName(distance => tokens[at + distance]).name])];
  });
}

/** In the form of a server, with a query of which nothing has to be known. */
const PRINTED_VIEW = /^CREATE VIEW '[^']+' AS \( ?\n[^]*\n\)(?:\nOWNED BY '[^']+')?;$/;

/** Whether a statement is in a syntax that is known here; of a query nothing has to be known. */
export function isUnderstood(statement: string, kind: Kind): boolean {
  if (isObject(kind))
    return isCleanTable(statement) || PRINTED_VIEW.test(statement) || parseMeaning(statement) !== undefined;
  if (isPrincipal(kind)) {
    const principal = parsePrincipal(statement);
    return principal !== undefined && (principal.owner === undefined || findOwnerClause(statement) !== undefined);
  }
  return kind !== 'other' && parseRights(statement) !== undefined;
}
