import { identify, isAclKind } from '@sqlpipe/sql';
import { COLUMN_PROPERTIES } from './columns/column-properties.js';
import { tryParseDefinition } from './compare.js';
import type { Definition, TableDefinition } from './definition.js';
import { createFeatureCheck, type FeatureName } from './features.js';
import { ownerOf } from './parser/owner-clause.js';
import { ALL_PROPERTIES } from './properties/object-properties.js';
import type { Feature } from './property.js';

const isInTable = (isIn: (table: TableDefinition) => boolean) => (definition: Definition) =>
  definition.kind === 'table' && isIn(definition);

const hasType = (type: RegExp) => isInTable(({ columns }) => columns.some(column => type.test(column.type)));

const FEATURES: readonly Feature<Definition>[] = [
  { name: 'views', pattern: /view/i, isIn: ({ kind }) => kind === 'view' },
  { name: 'materialized views', pattern: /view/i, isIn: ({ kind }) => kind === 'materialized view' },
  { name: 'live views', pattern: /\blive\b/i, isIn: ({ kind }) => kind === 'live view' },
  { name: 'DECIMAL', pattern: /decimal/i, isIn: hasType(/^DECIMAL/) },
  { name: 'TIMESTAMP_NS', pattern: /timestamp_ns/i, isIn: hasType(/^TIMESTAMP_NS$/) },
  { name: 'arrays', pattern: /\[/, isIn: hasType(/\[/) },
  ...COLUMN_PROPERTIES.flatMap(({ features = [] }) =>
    features.map(each => ({ ...each, isIn: isInTable(({ columns }) => columns.some(each.isIn)) })),
  ),
  ...ALL_PROPERTIES.flatMap(({ features = [] }) => features),
];

/** Whether statements come from the enterprise edition: only this edition has access control, owners and storage policies. */
export const isEnterpriseSchema = (statements: readonly string[]): boolean =>
  statements.some(statement => {
    // Parsing is slow, so only a statement with the word is parsed.
    const definition = /\bstorage\b/i.test(statement) ? tryParseDefinition(statement) : undefined;
    const hasPolicy = definition?.kind === 'table' && definition.policy !== undefined;
    return hasPolicy || isAclKind(identify(statement).kind) || ownerOf(statement) !== undefined;
  });

/** Whether only some versions of the server support a statement. */
export const dependsOnVersion = (statement: string): boolean => findFeatures(statement).length > 0;

/** A fast check, which does not parse: whether a statement may have a clause that a version such as `9.2.3` lacks. */
export function mayLackFeature(statement: string, version: string): boolean {
  const hasFeature = createFeatureCheck({ version });
  return FEATURES.some(({ name, pattern }) => !hasFeature(name) && pattern.test(statement));
}

/** Finds the features that a statement needs and a version such as `9.2.3` lacks. Empty for a statement of unknown syntax. */
export function findMissingFeatures(statement: string, version: string): FeatureName[] {
  const hasFeature = createFeatureCheck({ version });
  const missing = FEATURES.filter(({ name }) => !hasFeature(name));
  return findFeatures(statement, missing).map(({ name }) => name);
}

function findFeatures(statement: string, features = FEATURES): Feature<Definition>[] {
  const possible = features.filter(({ pattern }) => pattern.test(statement));
  const definition = possible.length > 0 ? tryParseDefinition(statement) : undefined;
  return definition ? possible.filter(({ isIn }) => isIn(definition)) : [];
}
