/*! Which objects a statement creates or changes. */
import { parseChange, parseRevocation } from '@sqlpipe/ddl';
import {
  type Identity,
  identify,
  isPrincipal,
  KINDS,
  kindKeywords,
  significantTokens,
  TokenReader,
} from '@sqlpipe/sql';

/** The objects that a statement creates, changes or drops; empty if they are not known. The verb is the statement's. */
export function changedObjects(statement: string): Identity[] {
  const identity = identify(statement);
  if (identity.kind !== 'other') return [identity];
  const { verb } = identity;
  const table = (name: string): Identity => ({ kind: 'table', name, verb });
  const change = parseChange(statement);
  if (!change) return principalsOf(statement).map(each => ({ ...each, verb }));
  switch (change.verb) {
    case 'alter':
      return change.alters.map(({ kind, name }) => ({ kind, name, verb }));
    case 'drop':
      return [{ kind: change.kind, name: change.name, verb }];
    case 'drop all':
      return [];
    case 'rename':
      return [change.name, change.to].map(table);
    case 'truncate':
      return change.names.map(table);
    case 'refresh':
    case 'refresh range':
    case 'set refresh limit':
      return [{ kind: 'materialized view', name: change.name, verb }];
    case 'compile':
      return [{ kind: 'view', name: change.name, verb }];
    default:
      return [table(change.name)];
  }
}

function principalsOf(statement: string): Omit<Identity, 'verb'>[] {
  const words = new TokenReader(significantTokens(statement));
  for (const kind of KINDS.filter(isPrincipal))
    if (words.accept(`ALTER ${kindKeywords(kind)}`)) return [{ kind, name: words.readName().name }];
  const [right] = parseRevocation(statement) ?? [];
  if (!right) return [];
  return [{ kind: right.kind, name: right.kind === 'membership' ? right.user : right.entity }];
}
