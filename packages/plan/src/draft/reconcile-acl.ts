import {
  compareStatements,
  findColumn,
  parsePrincipal,
  printAliasChanges,
  printRevocation,
  printRight,
  type Right,
  sortByScope,
} from '@sqlpipe/ddl';
import { dumpOrder, type Entry, RightSet, type Schema, toEntry } from '@sqlpipe/schema';
import { displayName, identify, isPrincipal } from '@sqlpipe/sql';
import type { PlanContext } from '../context/plan-context.js';
import { changeOf, type Draft } from './draft.js';
import { omitProperty } from './unalterable.js';

const rightsIn = (schema: Schema): RightSet =>
  new RightSet(schema.entries.flatMap(entry => schema.rightsOf(entry) ?? []));

const addStatement = (draft: Draft, statement: string): boolean => draft.addStatement(statement, identify(statement));

/** Whether the plan keeps a right that only B has. */
const keepsRight = (right: Right, { ignoreExtra, ignore }: PlanContext): boolean =>
  ignoreExtra || ignore.ignoresObject(toEntry(printRight(right)));

export function revokeRights(draft: Draft): void {
  const wanted = rightsIn(draft.context.a);
  for (const right of [...draft.engine.acl.rights])
    if (!wanted.has(right) && !keepsRight(right, draft.context)) addStatement(draft, printRevocation(right));
}

/** The rights that only B has and the plan keeps, but that the server has removed with a renamed, rebuilt or recreated object. */
function findRemovedGrants({ engine, context }: Draft): Right[] {
  const { engineOfB, renames } = context;
  return [...engineOfB.acl.rights].flatMap(right => {
    if (right.kind !== 'grant' || right.table === undefined || !keepsRight(right, context)) return [];
    const table = renames.nameAfterPlan(right.table);
    const column = right.column && renames.columnAfterPlan(table, right.column);
    const kept = { ...right, table, column };
    if (engine.acl.rights.has(kept) || !engine.acl.find(right.entity)) return [];
    const object = engine.catalogue.findCompiled(table);
    return object && (column === undefined || findColumn(object, column)) ? [kept] : [];
  });
}

/** Wider rights come first, because they replace narrower ones. If a narrower one would lose its grant option, it is revoked first. */
export function grantRights(draft: Draft): void {
  const { rights } = draft.engine.acl;
  for (const right of sortByScope([...rightsIn(draft.context.a), ...findRemovedGrants(draft)], printRight)) {
    if (rights.has(right)) continue;
    for (const replaced of rights.findLostOptions(right)) addStatement(draft, printRevocation(replaced));
    addStatement(draft, printRight(right));
  }
}

export function createPrincipals(draft: Draft): void {
  for (const entry of dumpOrder(draft.context.a)) {
    if (!isPrincipal(entry.kind)) continue;
    const inB = draft.context.b.findPrincipal(entry.name);
    if (!inB) addStatement(draft, entry.statement);
    else if (inB.kind === entry.kind) alterPrincipal(entry, inB, draft);
    else
      draft.omit(
        changeOf(entry, `CREATE ${displayName(entry)}`),
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
    if (difference.property !== 'external alias' && !draft.isIgnored(entry, difference.property))
      omitProperty(entry, difference, draft);
}
