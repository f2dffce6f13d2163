/*! The features that older versions of QuestDB do not have. */
import { parseMeaning } from './compare-statements.js';
import type { Definition, TableDefinition } from './definition.js';

/** A feature that a statement may need, and the last version that rejects it (tried on 8.1.4 to 9.3.4). */
interface Feature {
  readonly name: string;
  readonly lastWithout: string;
  readonly isIn: (definition: Definition) => boolean;
}

const inTable = (isIn: (table: TableDefinition) => boolean) => (definition: Definition) =>
  definition.kind === 'table' && isIn(definition);

const hasType = (type: RegExp) => inTable(({ columns }) => columns.some(column => type.test(column.type)));

const FEATURES: readonly Feature[] = [
  { name: 'views', lastWithout: '9.2.3', isIn: ({ kind }) => kind === 'view' },
  { name: 'materialized views', lastWithout: '8.1.4', isIn: ({ kind }) => kind === 'materialized view' },
  { name: 'live views', lastWithout: '9.3.4', isIn: ({ kind }) => kind === 'live view' },
  { name: 'DECIMAL', lastWithout: '9.1.1', isIn: hasType(/^DECIMAL/) },
  { name: 'TIMESTAMP_NS', lastWithout: '9.0.3', isIn: hasType(/^TIMESTAMP_NS$/) },
  { name: 'arrays', lastWithout: '8.1.4', isIn: hasType(/\[/) },
  { name: 'TTL', lastWithout: '8.1.4', isIn: inTable(({ ttl }) => ttl !== 0) },
  { name: 'PARQUET(…)', lastWithout: '9.3.0', isIn: inTable(({ columns }) => columns.some(each => each.parquet)) },
  { name: 'FORMAT PARQUET', lastWithout: '9.3.4', isIn: inTable(({ parquet }) => parquet) },
  {
    name: 'INDEX TYPE',
    lastWithout: '9.3.4',
    isIn: inTable(({ columns }) => columns.some(({ index }) => index && index.capacity === undefined)),
  },
];

/** A statement without any of these words needs no such feature. Most statements therefore need not be parsed. */
const FEATURE_WORDS = /view|decimal|timestamp_ns|\[|ttl|parquet|type/i;

/** Whether only some versions of the server support a statement. */
export const dependsOnVersion = (statement: string): boolean =>
  FEATURE_WORDS.test(statement) && findFeatures(statement).length > 0;

/**
 * Finds the features that a statement needs and a version of QuestDB does not have: `views`, `DECIMAL`. Returns nothing
 * if the syntax of the statement is unknown.
 * @param version such as `9.2.3`
 */
export const findMissingFeatures = (statement: string, version: string): string[] =>
  findFeatures(statement)
    .filter(({ lastWithout }) => !isLaterVersion(version, lastWithout))
    .map(({ name }) => name);

function findFeatures(statement: string): Feature[] {
  const definition = parseMeaning(statement);
  return definition ? FEATURES.filter(({ isIn }) => isIn(definition)) : [];
}

/** Whether version A, such as `9.3.2`, is later than version B. */
export function isLaterVersion(a: string, b: string): boolean {
  const [partsA, partsB] = [a, b].map(version => version.split('.').map(Number)) as [number[], number[]];
  const at = partsB.findIndex((part, i) => (partsA[i] ?? 0) !== part);
  return at >= 0 && (partsA[at] ?? 0) > (partsB[at] ?? 0);
}
