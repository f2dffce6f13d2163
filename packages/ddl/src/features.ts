/** For each feature, the last open source version without it. 8.1.4 to 9.3.4 and a build of 9.4.4 were tried; later ones are documented. */
const LAST_VERSION_WITHOUT = {
  TTL: '8.1.4',
  'materialized views': '8.1.4',
  arrays: '8.1.4',
  TIMESTAMP_NS: '9.0.3',
  DECIMAL: '9.1.1',
  views: '9.2.3',
  'PARQUET(…)': '9.3.0',
  /** ALTER COLUMN of a name in quotes. */
  'quoted ALTER COLUMN': '9.3.0',
  /** Quotes in line comments that do not pair. */
  'unpaired quotes': '9.3.1',
  dump: '9.3.4',
  BLOOM_FILTER: '9.3.4',
  'INDEX TYPE': '9.3.4',
  'FORMAT PARQUET': '9.3.4',
  'long TTL message': '9.3.4',
  rebase: '9.3.4',
  'refresh stats': '9.3.4',
  'live views': '9.4.4',
  /** SUSPEND WAL without the mode for developers. */
  suspend: '9.4.4',
  'EXPIRE ROWS': '9.4.4',
  /** ALTER of tables with Parquet partitions. */
  'ALTER of Parquet': '9.4.4',
  /** Materialized views without aggregation. */
  'passthrough views': '9.4.4',
  'drop remote': '10.0.0',
  /** No version of the open source edition has these. */
  owners: undefined,
  principals: undefined,
  'storage policies': undefined,
} as const;

export type FeatureName = keyof typeof LAST_VERSION_WITHOUT;

/** Whether a server has a feature. */
export type HasFeature = (feature: FeatureName) => boolean;

/** @param version such as `9.3.4`; by default, the newest @param isEnterprise false by default: the open source edition */
export const createFeatureCheck =
  ({ version, isEnterprise = false }: { version?: string | undefined; isEnterprise?: boolean }): HasFeature =>
  feature => {
    const last = LAST_VERSION_WITHOUT[feature];
    return last === undefined ? isEnterprise : version === undefined || isLaterVersion(version, last);
  };

/** Whether version A, such as `9.3.2`, is later than version B. */
function isLaterVersion(a: string, b: string): boolean {
  const [partsA, partsB] = [a, b].map(version => version.split('.').map(Number)) as [number[], number[]];
  const index = partsB.findIndex((part, i) => (partsA[i] ?? 0) !== part);
  return index >= 0 && (partsA[index] ?? 0) > (partsB[index] ?? 0);
}
