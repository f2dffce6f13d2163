/*! Finds which objects a statement creates, changes or drops. */
import { parseChange, parseRevocation } from '@sqlpipe/ddl';
import {
  type Identity,
  identify,
  isPrincipal,
  KINDS,
  kindKeywords,
  type ObjectKind,
  significantTokens,
  TokenReader,
} from '@sqlpipe/sql';

/** Finds the objects that a statement creates, changes or drops; empty if they are not known. The verb is the statement's. */
export function findChangedObjects(statement: string): Identity[] {
  const identity = identify(statement);
  if (identity.kind !== 'other') return [identity];
  const { verb } = identity;
  const change = parseChange(statement);
  if (!change) return findPrincipals(statement).map(each => ({ ...each, verb }));
  if (change.verb === 'drop all') return [];
  if (change.verb === 'alter') return change.alters.map(({ kind, name }) => ({ kind, name, verb }));
  const kind = 'kind' in change ? change.kind : (KINDS_OF_VIEWS[change.verb] ?? 'table');
  const names = 'names' in change ? change.names : [change.name, ...('to' in change ? [change.to] : [])];
  return names.map(name => ({ kind, name, verb }));
}

/** The kinds of views that statements are about. Other statements are about tables. */
const KINDS_OF_VIEWS: { readonly [verb: string]: ObjectKind } = {
  refresh: 'materialized view',
  'refresh range': 'materialized view',
  'set refresh limit': 'materialized view',
  compile: 'view',
};

function findPrincipals(statement: string): Omit<Identity, 'verb'>[] {
  const words = new TokenReader(significantTokens(statement));
  for (const kind of KINDS.filter(isPrincipal))
    if (words.accept(`ALTER ${kindKeywords(kind)}`)) return [{ kind, name: words.readName().name }];
  const [right] = parseRevocation(statement) ?? [];
  if (!right) return [];
  return [{ kind: right.kind, name: right.kind === 'membership' ? right.user : right.entity }];
}
