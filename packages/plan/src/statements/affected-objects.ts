import { objectsOf, parseCommand, parseRevocation } from '@sqlpipe/ddl';
import {
  type Identity,
  identify,
  isPrincipal,
  KINDS,
  kindKeywords,
  significantTokens,
  TokenReader,
} from '@sqlpipe/sql';

/** The objects that a statement creates, changes or drops; empty if they are not known. */
export function findAffectedObjects(statement: string): Identity[] {
  const identity = identify(statement);
  if (identity.kind !== 'other') return [identity];
  const { verb } = identity;
  const parsed = parseCommand(statement);
  if (!parsed) return findPrincipals(statement).map(each => ({ ...each, verb }));
  return objectsOf(parsed).map(({ kind, name }) => ({ kind, name, verb }));
}

function findPrincipals(statement: string): Omit<Identity, 'verb'>[] {
  const words = new TokenReader(significantTokens(statement));
  for (const kind of KINDS.filter(isPrincipal))
    if (words.accept(`ALTER ${kindKeywords(kind)}`)) return [{ kind, name: words.readName().name }];
  const [right] = parseRevocation(statement) ?? [];
  if (!right) return [];
  return [{ kind: right.kind, name: right.kind === 'membership' ? right.user : right.entity }];
}
