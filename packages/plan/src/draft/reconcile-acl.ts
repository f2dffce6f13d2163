import {
  compareStatements,
  parsePrincipal,
  printAliasChanges,
  printRevocation,
  printRight,
  sortByScope,
} from '@sqlpipe/ddl';
import { dumpOrder, type Entry, RightSet, type Schema } from '@sqlpipe/schema';
import { displayName, identify, isPrincipalKind } from '@sqlpipe/sql';
import { findRemovedGrants, ignoresProperty, keepsRight } from '../context/plan-context.js';
import { describeChange } from '../losses.js';
import { type Draft, omitProperty } from './draft.js';

const rightsIn = (schema: Schema): RightSet =>
  new RightSet(schema.entries.flatMap(entry => schema.rightsOf(entry) ?? []));

const addStatement = (draft: Draft, statement: string): boolean => draft.addStatement(statement, identify(statement));

export function revokeRights(draft: Draft): void {
  const wanted = rightsIn(draft.context.a);
  for (const right of [...draft.engine.acl.rights])
    if (!wanted.includes(right) && !keepsRight(right, draft.context)) addStatement(draft, printRevocation(right));
}

/** Wider rights come first and replace narrower ones. One that would lose its grant option is revoked before, and given again if kept. */
export function grantRights(draft: Draft): void {
  const { context, engine } = draft;
  const { rights } = engine.acl;
  const removed = [...context.keptGrants.keys()].flatMap(name => findRemovedGrants(name, engine, context));
  for (const right of sortByScope([...rightsIn(context.a), ...removed], printRight)) {
    if (rights.includes(right)) continue;
    for (const replaced of rights.findLostOptions(right)) addStatement(draft, printRevocation(replaced));
    addStatement(draft, printRight(right));
  }
}

export function createPrincipals(draft: Draft): void {
  for (const entry of dumpOrder(draft.context.a)) {
    if (!isPrincipalKind(entry.kind)) continue;
    const inB = draft.context.b.findPrincipal(entry.name);
    if (!inB) addStatement(draft, entry.statement);
    else if (inB.kind === entry.kind) alterPrincipal(entry, inB, draft);
    else
      draft.omit(
        describeChange(entry, `CREATE ${displayName(entry)}`),
        `there is already a ${displayName(inB)}, which no statement converts`,
      );
  }
}

function alterPrincipal(entry: Entry, inB: Entry, draft: Draft): void {
  const [wanted, former] = [parsePrincipal(entry.statement), parsePrincipal(inB.statement)];
  if (wanted && former && wanted.alias !== former.alias)
    for (const statement of printAliasChanges(inB.name, former.alias, wanted.alias))
      draft.addStatement(statement, entry, ['external alias']);
  for (const difference of compareStatements(entry.statement, inB.statement).differences)
    if (difference.property !== 'external alias' && !ignoresProperty(draft.context, entry, difference.property))
      omitProperty(entry, difference, draft);
}
