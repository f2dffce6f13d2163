import {
  canHaveComments,
  displayName,
  isObjectKind,
  isPrincipalKind,
  type Kind,
  NameSet,
  type NameSpan,
  readStatementHead,
  serverTokens,
  significantTokens,
  type Token,
  TokenReader,
  unquote,
} from '@sqlpipe/sql';
import { CodedError } from '@sqlpipe/text';
import { parsePrincipal } from './acl/principal.js';
import { locateNamesInRights, parseRights } from './acl/rights.js';
import { tryParseDefinition } from './compare.js';
import { findOwnerClause } from './parser/owner-clause.js';
import { type NameUsage, QueryNames } from './queries/query-names.js';
import { mayHaveReferences, ReferenceFinder } from './queries/references.js';
import { isCleanTable } from './repair.js';

/** A name in a statement, without quotes. `[start, end)` includes quotes of its own, but not the schema `public`. */
export interface Mention extends NameSpan {
  /** `principal`: a user, group or service account that is not the owner. */
  readonly role: 'object' | 'owner' | 'principal';
  readonly usage: NameUsage;
}

/**
 * Finds the names of objects and principals in a statement, in the order of the text. Aliases, common table expressions, columns and
 * strings do not count. For a statement of the kind `other`, the result is empty.
 * @param options `isView` is that of `findReferences`; without `inQueries`, queries are not searched, which is faster
 * @throws CodedError if a comment hides from SQL what QuestDB reads
 */
export function findMentions(
  statement: string,
  { isView = () => false, inQueries = true }: { isView?: (name: string) => boolean; inQueries?: boolean } = {},
): Mention[] {
  const head = readStatementHead(statement);
  const { kind, located } = head;
  if (kind === 'other') return [];
  if (!located) {
    const { objects, principals } = locateNamesInRights(statement, kind);
    return [...objects.map(name => toMention(name, 'object')), ...principals.map(name => toMention(name, 'principal'))];
  }
  const created = toMention(located, isObjectKind(kind) ? 'object' : 'principal');
  const owner = findOwnerClause(statement)?.owner;
  const sources =
    inQueries && mayHaveReferences(kind, statement) ? findQueryMentions(statement, isView, displayName(head)) : [];
  return [created, ...sources, ...(owner ? [toMention(owner, 'owner')] : [])];
}

function toMention({ name, start, end }: NameSpan, role: Mention['role'], usage: NameUsage = 'name'): Mention {
  return { name, start, end, role, usage };
}

function findQueryMentions(statement: string, isView: (name: string) => boolean, label: string): Mention[] {
  const walk = (tokens: Iterable<Token>): Mention[] | undefined => {
    const names = new QueryNames();
    const isComplete = new ReferenceFinder(tokens, isView, names).findNames();
    return isComplete && names.names().map(name => toMention(name, 'object', name.usage));
  };
  const bySql = walk(significantTokens(statement));
  if (bySql && !canHaveComments(statement)) return bySql;
  const byServer = walk(serverTokens(statement));
  if (bySql && byServer && !haveSameSpans(bySql, byServer))
    throw new CodedError(
      'REJECTED',
      `${label}: SQL and QuestDB read different names in it; remove quotes and dashes from its comments`,
    );
  return byServer ?? bySql ?? [];
}

const haveSameSpans = (a: readonly Mention[], b: readonly Mention[]): boolean =>
  a.length === b.length && a.every(({ start, end }, i) => start === b[i]?.start && end === b[i]?.end);

/** Finds the names of all common table expressions of a statement. */
export function findCommonTableExpressions(statement: string): NameSet {
  if (!/\bwith\b/i.test(statement)) return new NameSet();
  const finder = new ReferenceFinder(significantTokens(statement), () => false);
  finder.findNames();
  return finder.cteNames;
}

/** For a statement of unknown syntax: finds all words, names and strings besides `mentions`, because each may be a name. */
export function findUnknownNames(statement: string, mentions: readonly Mention[]): string[] {
  const { kind } = readStatementHead(statement);
  if (isUnderstood(statement, kind)) return [];
  const known = new Set(mentions.map(({ start }) => start));
  const names = new Set<string>();
  const words = new TokenReader(significantTokens(statement));
  for (let token = words.peek(); token; token = words.peek()) {
    if (token.type !== 'punctuation' && !known.has(token.start))
      names.add(unquote(token.text)).add(words.peekName().name);
    words.next();
  }
  return [...names];
}

/** A view in printed form. Its query may have any syntax. */
const PRINTED_VIEW = /^CREATE VIEW '[^']+' AS \( ?\n[^]*\n\)(?:\nOWNED BY '[^']+')?;$/;

/** Whether the syntax of a statement is known. The syntax of a query in it does not matter. */
export function isUnderstood(statement: string, kind: Kind): boolean {
  if (isObjectKind(kind))
    return isCleanTable(statement) || PRINTED_VIEW.test(statement) || tryParseDefinition(statement) !== undefined;
  if (isPrincipalKind(kind)) {
    const principal = parsePrincipal(statement);
    return principal !== undefined && (principal.owner === undefined || findOwnerClause(statement) !== undefined);
  }
  return kind !== 'other' && parseRights(statement) !== undefined;
}
