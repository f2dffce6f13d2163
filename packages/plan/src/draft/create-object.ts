/*! Finds the CREATE statements of objects. A materialized view may get its expiry later, by an ALTER at the end of the plan. */
import {
  type Definition,
  EXPLICIT,
  expiresRows,
  keepExpiry,
  keepProperties,
  type MaterializedViewDefinition,
  printDefinition,
  propertiesOf,
  spellOutDefaults,
  withoutExpiry,
} from '@sqlpipe/ddl';
import type { CatalogueObject, MaterializedView } from '@sqlpipe/engine';
import type { Entry } from '@sqlpipe/schema';
import { ignoresProperty, keepsProperty } from '../context/kept-of-b.js';
import type { Schemas } from '../context/plan-context.js';
import type { Draft } from './draft.js';

/**
 * Finds the CREATE statement of an object. A recreated view keeps some properties (`keepsProperty`). Until `alterExpiry` sets the
 * expiry of A, a materialized view has another one in two cases:
 * - If A expires more rows, a recreated view keeps that of B.
 * - A new view from which other views are filled has none (`withholdExpiry`).
 *
 * @param replaced the definition that the new object replaces, in B or after the steps so far
 */
export function findCreation(
  entry: Entry,
  replaced: Definition | undefined,
  draft: Draft,
): { readonly definition: Definition | undefined; readonly statement: string } {
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
  } else if (owned.kind === 'materialized view' && expiresRows(owned) && feedsViews(entry, context))
    created = withholdExpiry(entry, owned, draft);
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

/** Whether rows of B reach a materialized view, and from there other materialized views. */
function feedsViews({ name }: Entry, schemas: Schemas): boolean {
  const view = schemas.wantedEngine.find(name);
  const isRead = schemas.wantedEngine.catalogue.materializedReadersOf(name).length > 0;
  return isRead && view?.kind === 'materialized view' && readsTableOfB(view, schemas);
}

/** Whether a view reads a table of B, directly or through views. Any other table is new and empty, so it has no rows for a view. */
export const readsTableOfB = (view: MaterializedView, { wantedEngine, engineOfB, renames }: Schemas): boolean => {
  const isComputed = (object?: CatalogueObject) => object?.kind === 'view' || object?.kind === 'materialized view';
  return [...wantedEngine.catalogue.closure([view.name], isComputed)].some(
    name => !isComputed(wantedEngine.find(name)) && engineOfB.find(renames.nameBeforePlan(name)) !== undefined,
  );
};
