import { quoteAclName } from '@sqlpipe/ddl';
import { isPrincipalKind, type KindAndName, kindKeywords, quoteLiteral } from '@sqlpipe/sql';

export const printDrop = ({ kind, name }: KindAndName): string =>
  `DROP ${kindKeywords(kind)} ${isPrincipalKind(kind) ? quoteAclName(name) : quoteLiteral(name)};`;

export const printTableRename = (from: string, to: string): string =>
  `RENAME TABLE ${quoteLiteral(from)} TO ${quoteLiteral(to)};`;

export const printFullRefresh = (view: string): string => `REFRESH MATERIALIZED VIEW ${quoteLiteral(view)} FULL;`;
