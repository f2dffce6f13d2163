import { quoteAclName } from '@sqlpipe/ddl';
import { isPrincipalKind, type KindAndName, kindKeywords, quoteLiteral } from '@sqlpipe/sql';

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
