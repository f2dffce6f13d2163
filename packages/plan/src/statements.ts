import { objectsOf, parseCommand, parseRevocation, quoteAclName } from '@sqlpipe/ddl';
import {
  identify,
  isPrincipalKind,
  joinTokens,
  KINDS,
  type KindAndName,
  kindKeywords,
  quoteLiteral,
  type StatementIdentity,
  significantTokens,
  TokenReader,
} from '@sqlpipe/sql';

export const withoutLeadingComments = (statement: string): string => {
  const [first] = significantTokens(statement);
  return statement.slice(first?.start);
};

/** No column of a question may begin with this prefix of its aliases. */
export function chooseAliasPrefix(columns: readonly string[]): string {
  const lengths = columns.map(name => /^sqlpipe(_+)/i.exec(name)?.[1]?.length ?? 0);
  return `sqlpipe_${'_'.repeat(lengths.reduce((longest, length) => Math.max(longest, length), 0))}`;
}

export const printDrop = ({ kind, name }: KindAndName): string =>
  `DROP ${kindKeywords(kind)} ${isPrincipalKind(kind) ? quoteAclName(name) : quoteLiteral(name)};`;

export const printTableRename = (from: string, to: string): string =>
  `RENAME TABLE ${quoteLiteral(from)} TO ${quoteLiteral(to)};`;

export const printFullRefresh = (view: string): string => `REFRESH MATERIALIZED VIEW ${quoteLiteral(view)} FULL;`;

/** Without comments, and with one space for any white space. */
export const printOnOneLine = (statement: string): string => joinTokens(significantTokens(statement.replace(/;$/, '')));

/** The objects that a statement creates, changes or drops; empty if they are not known. */
export function findAffectedObjects(statement: string): StatementIdentity[] {
  const identity = identify(statement);
  if (identity.kind !== 'other') return [identity];
  const { verb } = identity;
  const parsed = parseCommand(statement);
  if (!parsed) return findPrincipals(statement).map(each => ({ ...each, verb }));
  return objectsOf(parsed).map(({ kind, name }) => ({ kind, name, verb }));
}

function findPrincipals(statement: string): KindAndName[] {
  const words = new TokenReader(significantTokens(statement));
  for (const kind of KINDS.filter(isPrincipalKind))
    if (words.accept(`ALTER ${kindKeywords(kind)}`)) return [{ kind, name: words.readName().name }];
  const [right] = parseRevocation(statement) ?? [];
  if (!right) return [];
  return [{ kind: right.kind, name: right.kind === 'membership' ? right.user : right.entity }];
}
