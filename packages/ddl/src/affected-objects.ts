import {
  identify,
  isPrincipalKind,
  KINDS,
  type KindAndName,
  kindKeywords,
  type StatementIdentity,
  significantTokens,
  TokenReader,
} from '@sqlpipe/sql';
import { parseRevocation } from './acl/rights.js';
import { objectsOf } from './command/command.js';
import { parseCommand } from './command/parse-command.js';

/** The objects that a statement creates, changes or drops; empty if they are not known. */
export function findAffectedObjects(statement: string): StatementIdentity[] {
  const identity = identify(statement);
  if (identity.kind !== 'other') return [identity];
  const { verb } = identity;
  const command = parseCommand(statement);
  if (!command) return findPrincipals(statement).map(each => ({ ...each, verb }));
  return objectsOf(command).map(({ kind, name }) => ({ kind, name, verb }));
}

function findPrincipals(statement: string): KindAndName[] {
  const words = new TokenReader(significantTokens(statement));
  for (const kind of KINDS.filter(isPrincipalKind))
    if (words.accept(`ALTER ${kindKeywords(kind)}`)) return [{ kind, name: words.readName().name }];
  const [right] = parseRevocation(statement) ?? [];
  if (!right) return [];
  return [{ kind: right.kind, name: right.kind === 'membership' ? right.user : right.entity }];
}
