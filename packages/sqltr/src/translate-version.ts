/*! Adapts statements to a version of QuestDB that does not support all of their features. */
import { findMissingFeatures, isLaterVersion, isUnderstood } from '@sqlpipe/ddl';
import { identify, isObject, keywordOf } from '@sqlpipe/sql';
import type { Adapted } from './adapt.js';
import { columnClauses, replaceClauses, tableClause } from './clauses.js';
import { UNKNOWN } from './translate-edition.js';

/** By feature, how to remove one that a table does not need. */
const DISPENSABLE: Record<string, (statement: string) => string> = {
  TTL: statement => without(statement, 'TTL'),
  'FORMAT PARQUET': statement => without(statement, 'FORMAT'),
  'PARQUET(…)': statement => replaceClauses(statement, columnClauses(statement, 'PARQUET'), () => ''),
};

/** The last version without INDEX TYPE. */
const WITHOUT_INDEX_TYPES = '9.3.4';

/** Adapts statements to a version. @param version such as `9.3`, which means 9.3.0 */
export const toVersion =
  (version: string) =>
  (given: string): Adapted => {
    const { kind } = identify(given);
    if (!isObject(kind)) return { statement: given, losses: [] };
    if (!isUnderstood(given, kind)) return { statement: given, losses: [UNKNOWN] };
    const losses: string[] = [];
    let statement = isLaterVersion(version, WITHOUT_INDEX_TYPES) ? given : withPlainIndexes(given, /^BITMAP$/i);
    for (const feature of findMissingFeatures(given, version)) {
      const lack = `because QuestDB ${version} has no ${feature}`;
      if (feature === 'INDEX TYPE') {
        statement = withPlainIndexes(statement, /./);
        losses.push(`its posting indexes become plain ones, ${lack}`);
      } else if (feature in DISPENSABLE) {
        statement = DISPENSABLE[feature]?.(statement) as string;
        losses.push(`${feature} is removed, ${lack}`);
      }
    }
    const [missing] = findMissingFeatures(statement, version);
    return missing === undefined
      ? { statement, losses }
      : { losses: [`removed, because QuestDB ${version} has no ${missing}`] };
  };

function without(statement: string, word: string): string {
  const clause = tableClause(statement, word);
  return clause ? replaceClauses(statement, [clause], () => '') : statement;
}

/** Replaces indexes of some types by indexes without a type, as they were before there were types. */
function withPlainIndexes(statement: string, types: RegExp): string {
  if (!/\bindex\s/i.test(statement)) return statement;
  const typed = columnClauses(statement, 'INDEX').filter(({ tokens }) => {
    const [, type, name] = tokens;
    return keywordOf(type) === 'INCLUDE'
      ? types.test('POSTING')
      : keywordOf(type) === 'TYPE' && types.test(name?.text ?? '');
  });
  return replaceClauses(statement, typed, ({ tokens }) => {
    const capacity = tokens.findIndex(token => keywordOf(token) === 'CAPACITY');
    return capacity < 0 ? ' INDEX' : ` INDEX CAPACITY ${tokens[capacity + 1]?.text}`;
  });
}
