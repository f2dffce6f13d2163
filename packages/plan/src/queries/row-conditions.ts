/*! What an ALTER requires of the rows of its table: it harms no partition, and no value. Each case was tried on 9.3.4. */
import {
  type Alteration,
  canConvert,
  createFeatureCheck,
  findColumn,
  losesLoneSurrogates,
  type TableDefinition,
} from '@sqlpipe/ddl';
import type { Conversion } from '@sqlpipe/engine';
import {
  type CountingAssertion,
  conversionAssertion,
  emptyAssertion,
  formatMisfits,
  noPartitionAssertion,
} from './assertions.js';
import { printMisfit } from './conversions.js';
import { PARTITION_STATES, type PartitionState } from './partition-states.js';

/** Asserts something that an ALTER requires of the rows of its table. Its question counts the partitions or values that the ALTER harms. */
export interface RowCondition extends CountingAssertion {
  /** Says what would happen to them, and what to do first. */
  formatProblem(count: number): readonly [problem: string, ...hints: string[]];
  /** Whether values would be lost. Otherwise the table would be suspended, or partitions could not be read. */
  readonly losesValues?: boolean;
}

/** The name of the table is that on the server. @param actions those of the ALTER, or `fill` for the UPDATE of `printFill` */
export function findPartitionConditions(table: TableDefinition, actions: readonly string[], version?: string) {
  const { name, partitionBy, timestamp } = table;
  if (partitionBy === 'NONE') return [];
  const canAlterParquet = version !== undefined && createFeatureCheck({ version })('ALTER of Parquet');
  return (Object.keys(PARTITION_STATES) as PartitionState[]).flatMap((state): RowCondition | [] => {
    const { adjective, formatAdvice, problems } = PARTITION_STATES[state];
    const problem = Object.entries(problems).find(([action]) => actions.includes(action))?.[1];
    if (problem === undefined || (state === 'isParquet' && canAlterParquet)) return [];
    return {
      ...noPartitionAssertion(name, state),
      formatProblem: count => [
        `${count} ${count === 1 ? 'partition is' : 'partitions are'} ${adjective}, ${problem}`,
        `${formatAdvice(name, `"${timestamp}"`)} first`,
      ],
    };
  });
}

/** The values that a conversion would not fit into the new type. Whether values that fit would change is another question. */
export function findMisfitConditions(conversion: Conversion): RowCondition[] {
  if (printMisfit(conversion) === undefined) return [];
  const losesValues = losesLoneSurrogates(conversion.from, conversion.to);
  const formatProblem = (count: number) => [formatMisfits(count, conversion)] as const;
  return [{ ...conversionAssertion(conversion), formatProblem, losesValues }];
}

/** As `findMisfitConditions`, and for conversions that no plan contains. */
export function findValueConditions(conversion: Conversion): RowCondition[] {
  const { table, from, to } = conversion;
  if (canConvert(from, to)) return findMisfitConditions(conversion);
  const problem = `the server accepts ${from} to ${to}, but suspends a table that has rows`;
  return [{ ...emptyAssertion(table), formatProblem: () => [problem] }];
}

/** The conversion of an ALTER; undefined for an ALTER that keeps the types. */
export function findConversion(table: TableDefinition, alteration: Alteration): Conversion | undefined {
  if (alteration.action !== 'type') return undefined;
  const column = findColumn(table, alteration.column);
  return column && { table: table.name, column: column.name, from: column.type, to: alteration.type };
}
