/**
 * States in which a partition forbids some changes of its table. The keys are columns of `table_partitions()`.
 * - `problems`: what would go wrong, by the change: an action of ALTER, or `fill` for the UPDATE of `printFill`.
 * - `problem`: a summary for the assertion, which does not know the change.
 * If a version can alter tables with Parquet partitions, a plan for this version has no `all_native`.
 */
export const PARTITION_STATES = {
  isParquet: {
    alias: 'all_native',
    adjective: 'Parquet',
    problem: 'a change of columns would make them unreadable or suspend the table',
    problems: {
      type: 'over which a change of a type suspends the table',
      'add column': 'which cannot be read after a column was added',
      'drop column': 'which cannot be read after a column was dropped',
      'rename column': 'whose renamed column cannot be read after a conversion to native',
    },
    formatAdvice: (table: string, timestamp = '…') =>
      `use ALTER TABLE '${table}' CONVERT PARTITION TO NATIVE WHERE ${timestamp} IS NOT NULL`,
  },
  /** DROP TABLE deletes detached partitions too. Queries do not return their rows, so no other assertion notices these rows. */
  detached: {
    alias: 'all_attached',
    adjective: 'detached',
    problem: 'they could not be attached afterwards',
    problems: {
      type: 'which cannot be attached after a change of a type',
      'rename column': 'in which a renamed column would read NULL',
      'add index': 'in which an index added now would have no files',
    },
    formatAdvice: () => 'attach them',
  },
  /** A partition is read-only if it was attached through a symbolic link. */
  readOnly: {
    alias: 'all_writable',
    adjective: 'read-only',
    problem: 'an UPDATE would suspend the table',
    problems: { fill: 'over which the UPDATE that stores the 0 or false of older rows would suspend the table' },
    formatAdvice: () => 'attach copies of their folders instead of symbolic links',
  },
} as const;

export type PartitionState = keyof typeof PARTITION_STATES;
