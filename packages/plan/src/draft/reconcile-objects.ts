/*! Drafts the RENAME, CREATE, ALTER and DROP of tables and views. If an object is blocked, its readers are left out too. */
import {
  compareDefinitions,
  compareStatements,
  type Definition,
  EXPLICIT,
  expiresRows,
  keepExpiry,
  keepProperties,
  type MaterializedViewDefinition,
  parseDefinition,
  printDefinition,
  propertiesOf,
  spellOutDefaults,
  withoutExpiry,
} from '@sqlpipe/ddl';
import type { CatalogueObject, MaterializedView } from '@sqlpipe/engine';
import { dumpOrder, type Entry, type Schema } from '@sqlpipe/schema';
import { displayName, isObjectKind, isPrincipalKind, isStoredViewKind } from '@sqlpipe/sql';
import { isAuxiliaryTable } from '../auxiliary.js';
import { ignoresProperty, keepsProperty, type PlanContext } from '../context/plan-context.js';
import { describeChange } from '../losses.js';
import { printDrop, printTableRename } from '../statements.js';
import { alterObject, dropColumns, isTableAsSelect } from './alter-object.js';
import { type Draft, formatExecutionError } from './draft.js';

export const listObjects = (schema: Schema): Entry[] => dumpOrder(schema).filter(({ kind }) => isObjectKind(kind));

/**
 * Leaves out objects whose rename comments contradict A or B, because a wrong rename would give one object the columns of another. The
 * objects are not dropped either: with one of them gone, the next plan would take the comment for a valid rename.
 */
export function omitContradictoryRenames(draft: Draft): void {
  const { a, b, renames } = draft.context;
  for (const [name, reason] of renames.contradictions) {
    const entry = a.findObject(name) ?? b.findObject(name);
    draft.blocked.add(name);
    if (entry) draft.omit(describeChange(entry), reason);
  }
}

/** Drops objects whose names A gives to objects of another kind, and views that get another name. Readers of a view are dropped first. */
export function dropToFreeNames(draft: Draft): void {
  const { a, b, renames } = draft.context;
  for (const entry of listObjects(b).reverse()) {
    const newName = renames.pending.get(entry.name);
    const isRenamedTable = newName !== undefined && entry.kind === 'table' && a.findObject(newName)?.kind === 'table';
    const wanted = a.findObject(entry.name);
    const hasOtherKind = wanted !== undefined && wanted.kind !== entry.kind;
    const mustGo = newName !== undefined || hasOtherKind;
    if (isRenamedTable || !mustGo || draft.blocked.has(entry.name)) continue;
    if (!draft.addStatement(printDrop(entry), entry)) draft.blocked.add(entry.name).add(newName ?? entry.name);
  }
}

/** Renames tables, in any order: B has none of the new names. */
export function renameTables(draft: Draft): void {
  for (const [from, to] of draft.context.renames.pending) {
    const table = draft.engine.find(from);
    if (table?.kind !== 'table' || draft.context.a.findObject(to)?.kind !== 'table') continue;
    if (draft.addStatement(printTableRename(table.name, to), { kind: table.kind, name: table.name })) continue;
    draft.blocked.add(to);
    draft.omit(describeChange({ kind: table.kind, name: to }), `it is still called '${table.name}'`);
  }
}

/** Changes tables and the plain views over them. Columns are dropped last, because by then no plain view reads them. */
export function reconcileTables(draft: Draft): void {
  const { context } = draft;
  const reconciledLast = findStoredViewsAndReaders(context);
  const entries = listObjects(context.a).filter(entry => !reconciledLast.has(entry));
  const unblockedAtStart = entries.filter(({ name }) => !draft.blocked.has(name));
  for (const entry of entries) reconcileObject(entry, draft);
  // A table that the loop above has blocked loses its columns too, because their DROP does not depend on the changes that are left out.
  for (const { name } of unblockedAtStart) {
    const [wanted, current] = [context.a.definitionOf(name), draft.engine.definitionOf(name)];
    const isToAlter = wanted?.kind === 'table' && current?.kind === 'table' && !context.tablesToRebuild.has(name);
    if (isToAlter && !isTableAsSelect(wanted)) dropColumns(wanted, draft);
  }
}

export function findStoredViewsAndReaders({ a }: PlanContext): ReadonlySet<Entry> {
  const found = new Set<Entry>();
  for (const entry of listObjects(a))
    if (isStoredViewKind(entry.kind) || a.dependenciesOf(entry).some(needed => found.has(needed))) found.add(entry);
  return found;
}

export function reconcileObject(entry: Entry, draft: Draft): void {
  const { context } = draft;
  const current = draft.engine.find(entry.name);
  const change = describeChange(entry);
  if (draft.blocked.has(entry.name)) {
    const oldName = current ? undefined : context.renames.otherName(entry.name);
    const why = oldName === undefined ? 'another object still has this name' : `it is still called '${oldName}'`;
    if (current?.kind !== entry.kind && !draft.omits(entry)) draft.omit(change, why);
    return;
  }
  const blocker = context.a.dependenciesOf(entry).find(each => isObjectKind(each.kind) && draft.blocked.has(each.name));
  if (blocker) {
    draft.blocked.add(entry.name);
    if (!isAsWanted(entry, draft))
      draft.omit(change, `it reads from ${displayName(blocker)}, which the plan cannot change as needed`);
    return;
  }
  if (!current) {
    const former = context.engineOfB.definitionOf(context.renames.otherName(entry.name) ?? entry.name);
    if (!draft.addStatement(findCreation(entry, former, draft).statement, entry)) draft.blocked.add(entry.name);
    return;
  }
  const wanted = context.a.definitionOf(entry);
  // A view may lack its base, for example because the plan has renamed it. If A names no base, the query of the view decides.
  const isView = current.kind === 'materialized view' && wanted?.kind === current.kind;
  const lacksBase = isView && wanted.base === undefined && !draft.engine.find(current.base);
  const needsRecreation = lacksBase || readsRecreatedView(current, draft);
  if (isAsWanted(entry, draft) && !needsRecreation) return;
  if (!draft.engine.definitionOf(entry.name)) return draft.omit(change, UNKNOWN_SYNTAX);
  if (!wanted) return draft.omit(change, findSyntaxProblem(entry));
  if (isTableAsSelect(wanted)) return draft.omit(change, 'its columns follow from a query, so they cannot be compared');
  if (needsRecreation || mustRecreate(wanted, draft)) recreateObject(entry, draft);
  else alterObject(entry, wanted, draft);
}

const UNKNOWN_SYNTAX = 'its syntax is unknown';

function findSyntaxProblem({ statement }: Entry): string {
  try {
    parseDefinition(statement);
    return UNKNOWN_SYNTAX;
  } catch (error) {
    return formatExecutionError(error, statement);
  }
}

function isAsWanted(entry: Entry, draft: Draft): boolean {
  const [wanted, current] = [draft.context.a.definitionOf(entry), draft.engine.definitionOf(entry.name)];
  if (!wanted || !current) {
    const opaque = draft.engine.statementOf(entry.name);
    return opaque !== undefined && compareStatements(entry.statement, opaque).differences.length === 0;
  }
  return compareDefinitions(wanted, current).differences.every(({ property }) =>
    ignoresProperty(draft.context, entry, property),
  );
}

/** A view is not recreated for its owner or the case of its name, because that costs its history. */
function mustRecreate(wanted: Definition, { engine, context: { ignore } }: Draft): boolean {
  const { kind, name } = wanted;
  const current = engine.definitionOf(name);
  if (current?.kind !== kind || !isStoredViewKind(kind)) return false;
  return compareDefinitions(wanted, current).differences.some(({ property }) => {
    const rules = propertiesOf(kind).find(each => each.name === property || each.alter?.sets.includes(property));
    const isAlterable =
      rules?.alter?.between(wanted, current, engine.hasFeature) ?? (kind === 'live view' && rules?.alter);
    return !isAlterable && !rules?.isOptional && property !== 'name' && !ignore.ignoresProperty(wanted, property);
  });
}

/**
 * Whether a view reads a view that the plan recreates. Such a reader is recreated too: if the plan was interrupted while the recreated view
 * is empty, the next plan could not compare the rows of the reader with its query.
 */
function readsRecreatedView(current: CatalogueObject, { engine, context: { engineOfB, renames } }: Draft): boolean {
  if (current.kind !== 'materialized view' || !engineOfB.catalogue.findById(current.id)) return false;
  return [...engine.catalogue.closure(current)].some(name => {
    const source = engine.catalogue.find(name);
    const isCreatedByPlan = source?.kind === 'materialized view' && !engineOfB.catalogue.findById(source.id);
    return isCreatedByPlan && engineOfB.find(renames.nameBeforePlan(name))?.kind === source.kind;
  });
}

function recreateObject(entry: Entry, draft: Draft): void {
  const { kind, name } = entry;
  // Suppose B has the view as `M`, and A as `m`. Then the DROP says `M`, because sqlapply checks the state of B first, and 9.3.4 shows an
  // invalid view only under its exact name.
  const statement = printDrop({ kind, name: draft.engine.find(name)?.name ?? name });
  const creation = findCreation(entry, draft.engine.definitionOf(name), draft);
  if (!draft.add({ ...describeChange(entry, 'DROP and CREATE'), id: 'recreate' }, [statement, creation.statement]))
    draft.blocked.add(name);
}

/** Drops what only B has: first objects, readers before what they read, then principals. */
export function dropExtra(draft: Draft): void {
  const { a, b, renames, ignore, ignoreExtra } = draft.context;
  const isKept = ({ name }: Entry): boolean =>
    a.findObject(name) !== undefined ||
    renames.pending.has(name) ||
    draft.blocked.has(name) ||
    isAuxiliaryTable(name, draft.context);
  const objects = listObjects(b).filter(entry => !isKept(entry));
  const principals = dumpOrder(b).filter(({ kind, name }) => isPrincipalKind(kind) && !a.findPrincipal(name));
  for (const entry of ignoreExtra ? [] : [...objects.reverse(), ...principals])
    if (!ignore.ignoresObject(entry)) draft.addStatement(printDrop(entry), entry);
}

/**
 * Finds the CREATE statement of an object. A recreated view keeps some properties (`keepsProperty`). Until `alterExpiry` sets the
 * expiry of A, a materialized view has another one in two cases:
 * - If A expires more rows, a recreated view keeps that of B.
 * - A new view has none (`withholdExpiry`) if rows of B reach it, and from there other materialized views.
 *
 * @param replaced the definition that the new object replaces, in B or after the steps so far
 */
export function findCreation(entry: Entry, replaced: Definition | undefined, draft: Draft) {
  const { context } = draft;
  const { a, defaults } = context;
  const definition = a.definitionOf(entry);
  const asWanted = { definition, statement: defaults ? spellOutDefaults(entry.statement, defaults) : entry.statement };
  if (!definition || ('query' in definition && definition.query !== undefined)) return asWanted;
  const { owner } = replaced ?? {};
  // An object of another kind keeps the owner too.
  const isOwnerKept = owner !== undefined && keepsProperty(context, definition, 'owner');
  const owned: Definition = isOwnerKept ? { ...definition, owner } : definition;
  let created = owned;
  if (definition.kind !== 'table' && replaced?.kind === definition.kind) {
    created = keepProperties(definition, replaced, property => keepsProperty(context, definition, property));
    if (created.kind === 'materialized view' && replaced.kind === created.kind)
      created = keepExpiry(created, replaced) ?? created;
  } else if (owned.kind === 'materialized view' && expiresRows(owned)) {
    const { wantedEngine } = context;
    const view = wantedEngine.find(entry.name);
    const isRead = wantedEngine.catalogue.materializedReadersOf(entry.name).length > 0;
    if (isRead && view?.kind === 'materialized view' && readsTableOfB(view, context))
      created = withholdExpiry(entry, owned, draft);
  }
  if (created === definition) return asWanted;
  return { definition: created, statement: printDefinition(created, EXPLICIT) };
}

/**
 * Removes the expiry from a view. Otherwise the view would drop the expired rows of B before the views that read it are filled. An
 * interrupted plan may have dropped these views, and the next plan cannot know which rows they had.
 */
function withholdExpiry(entry: Entry, wanted: MaterializedViewDefinition, { engine, context }: Draft) {
  const unlimited = withoutExpiry(wanted);
  const withheld = propertiesOf(wanted.kind).flatMap(({ name, alter }) => {
    const wouldExpire = alter?.changesExpiry && alter.between(wanted, unlimited, engine.hasFeature);
    return wouldExpire && !ignoresProperty(context, entry, name) ? [name] : [];
  });
  return keepProperties(wanted, unlimited, name => withheld.includes(name));
}

/** Whether a view reads a table of B, directly or through views. Any other table is new and empty, so it has no rows for a view. */
export const readsTableOfB = (view: MaterializedView, { wantedEngine, engineOfB, renames }: PlanContext): boolean => {
  const isComputed = (object?: CatalogueObject) => object?.kind === 'view' || object?.kind === 'materialized view';
  return [...wantedEngine.catalogue.closure([view.name], isComputed)].some(
    name => !isComputed(wantedEngine.find(name)) && engineOfB.find(renames.nameBeforePlan(name)) !== undefined,
  );
};
