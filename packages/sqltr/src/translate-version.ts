/*! Adapts statements to a version of QuestDB that does not support all of their features. */
import { columnProperty, findColumnProperty, findMissingFeatures, findProperty, isUnderstood } from '@sqlpipe/ddl';
import { featuresOf } from '@sqlpipe/ddl/grammar';
import { identify, isObject } from '@sqlpipe/sql';
import type { Adapted } from './adapt.js';
import { replaceClauses } from './clauses.js';
import { UNKNOWN } from './translate-edition.js';

/** Adapts statements to a version. @param version such as `9.3`, which means 9.3.0 */
export const toVersion =
  (version: string) =>
  (given: string): Adapted => {
    const { kind } = identify(given);
    if (!isObject(kind)) return { statement: given, losses: [] };
    if (!isUnderstood(given, kind)) return { statement: given, losses: [UNKNOWN] };
    const losses: string[] = [];
    let statement = featuresOf(version)('INDEX TYPE') ? given : withPlainIndexes(given, /^BITMAP$/i);
    for (const feature of findMissingFeatures(given, version)) {
      const lack = `because QuestDB ${version} has no ${feature}`;
      if (feature === 'INDEX TYPE') {
        statement = withPlainIndexes(statement, /./);
        losses.push(`its posting indexes become plain ones, ${lack}`);
      } else {
        const without = withoutFeature(statement, feature);
        if (without !== undefined) losses.push(`${feature} is removed, ${lack}`);
        statement = without ?? statement;
      }
    }
    const [missing] = findMissingFeatures(statement, version);
    return missing === undefined
      ? { statement, losses }
      : { losses: [`removed, because QuestDB ${version} has no ${missing}`] };
  };

/** Removes the clauses that a feature adds to a statement; undefined if the object is of no use without them. */
function withoutFeature(statement: string, feature: string): string | undefined {
  let isRemoved = false;
  const without = replaceClauses(statement, ({ property }, { kind }) => {
    const found = findProperty(property, kind)?.feature ?? findColumnProperty(property)?.feature;
    if (found?.name !== feature || !found.isDispensable) return undefined;
    isRemoved = true;
    return '';
  });
  return isRemoved ? without : undefined;
}

/** Replaces indexes of some types by indexes without a type, as they were before there were types. */
function withPlainIndexes(statement: string, types: RegExp): string {
  if (identify(statement).kind !== 'table' || !/\bindex\s/i.test(statement)) return statement;
  return replaceClauses(statement, ({ property, text }, { kind, definition }) => {
    if (kind !== 'table' || !/\b(?:type|include)\b/i.test(text)) return undefined;
    const column = definition.columns.find(({ name }) => property === columnProperty(name, ' index'));
    if (!column?.index || !types.test(column.index.type)) return undefined;
    const isSized = column.index.capacity !== undefined && /\bcapacity\b/i.test(text);
    return isSized ? ` INDEX CAPACITY ${column.index.capacity}` : ' INDEX';
  });
}
