/*! Writes what differs and what does not work, on standard output or in a file. */
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Exit, formatAnnotation, formatPropertyLines, type Io } from '@sqlpipe/cli';
import { isStdout, writeOutput } from '@sqlpipe/files';
import type { SchemaComparison } from '@sqlpipe/schema';
import { displayName } from '@sqlpipe/sql';
import { formatDifference, formatName, formatProblem } from './format.js';
import { findHiddenDifferences, selectUnchanged } from './hidden-differences.js';
import type { Locations } from './locations.js';
import type { Sides } from './operands.js';
import type { DiffArgs } from './options.js';

export interface ComparisonOptions extends Pick<DiffArgs, 'json' | 'names' | 'text' | 'output'> {
  /** Where the statements of files are, if findings are written as annotations. */
  readonly locations?: Locations | undefined;
}

/** Writes the findings, and warnings about the rest. @returns the exit status, which is negative if there is a finding */
export async function writeComparison(
  compared: SchemaComparison,
  inA: string[],
  sides: Sides,
  { json, names, text, output, locations }: ComparisonOptions,
  io: Io,
): Promise<number> {
  const { differences, notComparable, problems, ignored } = compared;
  for (const { identity, properties } of notComparable)
    io.info(`${displayName(identity)}: cannot be compared: ${properties.join(', ')}`);
  for (const warning of await findHiddenDifferences(sides, selectUnchanged(inA, [...differences, ...ignored])))
    io.warn(warning);

  const colors = io.colors && isStdout(output);
  const format = { json, names, text, colors };
  const findings = [
    ...differences.map(each => formatDifference(each, sides, format)),
    ...problems.map(each => formatProblem(each, sides, format)),
  ];
  const write = (out: Writable) => pipeline(Readable.from(findings), out, { end: false });
  if (locations) await io.print(annotate(compared, sides, locations).join(''));
  if (!locations || !isStdout(output)) await writeOutput(output, io.stdout, write, () => io.interrupted);
  if (!json) io.info(summarize(compared));
  return findings.length ? Exit.negative : Exit.ok;
}

/** An annotation for each difference, one for each property that differs, and for each problem. */
function annotate({ differences, problems }: SchemaComparison, sides: Sides, locations: Locations): string[] {
  const labels = [sides[0].label, sides[1].label] as const;
  return [
    ...differences.flatMap(difference => {
      const { identity, a, b, comparison } = difference;
      const head = formatName(difference, sides).trimEnd();
      const properties = comparison?.differences ?? [];
      if (properties.length === 0) return formatAnnotation({ ...locations.find(identity, a ?? b), message: head });
      return properties.map(each => {
        const message = `${head}: ${formatPropertyLines([each], labels)}`;
        return formatAnnotation({ ...locations.find(identity, a, each.property), message });
      });
    }),
    ...problems.map(problem =>
      formatAnnotation({ ...locations.find(problem.identity), message: formatProblem(problem, sides, {}).trimEnd() }),
    ),
  ];
}

/** `2 of 12 objects differ; 1 is invalid or suspended; 3 differences ignored` */
function summarize(compared: SchemaComparison): string {
  const { differences, total, problems, ignored } = compared;
  const parts = [
    `${differences.length} of ${total} ${total === 1 ? 'object' : 'objects'} ${differences.length === 1 ? 'differs' : 'differ'}`,
  ];
  if (problems.length > 0)
    parts.push(`${problems.length} ${problems.length === 1 ? 'is' : 'are'} invalid or suspended`);
  if (ignored.length > 0) parts.push(countIgnored(compared));
  return parts.join('; ');
}

/** `3 differences ignored` */
export const countIgnored = ({ ignored }: SchemaComparison): string =>
  `${ignored.length} ${ignored.length === 1 ? 'difference' : 'differences'} ignored`;
