import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Exit, formatAnnotation, formatPropertyLines, type Io, paint, unifiedDiff } from '@sqlpipe/cli';
import { type Definition, printDefinition, tryParseDefinition } from '@sqlpipe/ddl';
import { isStdout, writeOutputs } from '@sqlpipe/files';
import { fetchHiddenDifferences } from '@sqlpipe/instance';
import {
  type ComparedProblem,
  differenceResult,
  type IgnoredDifference,
  type SchemaComparison,
  type SchemaDifference,
} from '@sqlpipe/schema';
import { displayName, isNamedKind, redactFully } from '@sqlpipe/sql';
import { escapeControls, formatCount, formatSafeJson } from '@sqlpipe/text';
import type { Locations } from './locations.js';
import type { DiffArgs } from './options.js';
import type { LoadedSides } from './sides.js';

/** @param locations set if findings are written as annotations @returns the exit status, which is negative if there is a finding */
export async function writeComparison(
  compared: SchemaComparison,
  sides: LoadedSides,
  { json, names, text, output }: DiffArgs,
  locations: Locations | undefined,
  io: Io,
): Promise<number> {
  const { differences, notComparable, problems } = compared;
  for (const { identity, properties } of notComparable)
    io.info(`${displayName(identity)}: cannot be compared: ${properties.join(', ')}`);
  const different = new Set([...differences, ...compared.ignored].map(each => each.a));
  const same = sides[0].statements.filter(statement => !different.has(statement));
  for (const warning of await fetchHiddenDifferences(...sides, same)) io.warn(warning);

  const format = { json, names, text, hasColors: io.hasColors && isStdout(output) };
  const labels = [sides[0].label, sides[1].label] as const;
  const findings = [
    ...differences.map(each => `${formatDifference(each, labels, format)}\n`),
    ...problems.map(each => `${formatProblem(each, labels, format)}\n`),
  ];
  const write = (out: Writable) => pipeline(Readable.from(findings), out, { end: false });
  if (locations) await io.write(toAnnotations(compared, labels, locations).join(''));
  if (!locations || !isStdout(output)) await writeOutputs([{ path: output, write }], io.stdout, io.catchSignals);
  if (!json) io.info(formatSummary(compared));
  return findings.length ? Exit.negative : Exit.ok;
}

function toAnnotations({ differences, problems }: SchemaComparison, labels: Labels, locations: Locations): string[] {
  return [
    ...differences.flatMap(difference => {
      const { identity, a, b, comparison } = difference;
      const head = formatName(difference, labels);
      const properties = comparison?.differences ?? [];
      if (properties.length === 0) return formatAnnotation({ ...locations.find(identity, a ?? b), message: head });
      return properties.map(each => {
        const message = `${head}: ${formatPropertyLines([each], labels)}`;
        return formatAnnotation({ ...locations.find(identity, a, each.property), message });
      });
    }),
    ...problems.map(problem =>
      formatAnnotation({ ...locations.find(problem.identity), message: formatProblem(problem, labels, {}) }),
    ),
  ];
}

/** `2 of 12 objects differ; 1 is invalid or suspended; 3 differences ignored` */
function formatSummary(compared: SchemaComparison): string {
  const { differences, total, problems, ignored } = compared;
  const verb = differences.length === 1 ? 'differs' : 'differ';
  const parts = [`${differences.length} of ${formatCount(total, 'object')} ${verb}`];
  if (problems.length > 0)
    parts.push(`${problems.length} ${problems.length === 1 ? 'is' : 'are'} invalid or suspended`);
  if (ignored.length > 0) parts.push(formatIgnoredCount(compared));
  return parts.join('; ');
}

export const formatIgnoredCount = ({ ignored }: SchemaComparison): string =>
  `${formatCount(ignored.length, 'difference')} ignored`;

/** `ignored: table 'trades': TTL` */
export const formatIgnored = ({ identity, property }: IgnoredDifference): string =>
  escapeControls(`ignored: ${displayName(identity)}${property === undefined ? '' : `: ${property}`}`);

type Labels = readonly [a: string, b: string];

interface FormatOptions extends Partial<Pick<DiffArgs, 'json' | 'names' | 'text'>> {
  readonly hasColors?: boolean;
}

/** `only in src: table 'trades'`, `differs: view 'spreads'`; a grant is shown as its statement. */
function formatName(difference: SchemaDifference, [labelA, labelB]: Labels): string {
  const { identity, a, b } = difference;
  const what = isNamedKind(identity.kind) ? displayName(identity) : redactFully(a ?? b ?? '').replace(/;$/, '');
  const how = { 'only-a': `only in ${labelA}`, 'only-b': `only in ${labelB}`, differs: 'differs' };
  return escapeControls(`${how[differenceResult(difference)]}: ${what}`);
}

/** `invalid in dst: materialized view 'm'`, or `suspended in dst: table 't'`; below it the server's reason. */
function formatProblem(problem: ComparedProblem, [labelA, labelB]: Labels, options: FormatOptions): string {
  const { identity, state, side, reason } = problem;
  const { kind, name } = identity;
  if (options.json) return formatSafeJson({ kind, name, result: state, side, reason });
  const head = escapeControls(`${state} in ${side === 'a' ? labelA : labelB}: ${displayName(identity)}`);
  return options.names ? head : `${paint(head, options.hasColors && 'bold')}\n  ${escapeControls(reason)}`;
}

/** The line of `formatName`, and below it the properties or lines that differ, in A and in B. With --json, a line of JSON instead. */
function formatDifference(difference: SchemaDifference, labels: Labels, options: FormatOptions): string {
  const { identity, a, b, comparison } = difference;
  const { json, names, text, hasColors = false } = options;
  if (json) {
    const { kind, name } = identity;
    const result = differenceResult(difference);
    const properties = comparison?.differences;
    return formatSafeJson({ kind, name, result, a: a && redactFully(a), b: b && redactFully(b), properties });
  }
  const head = formatName(difference, labels);
  if (names) return head;
  const bold = paint(head, hasColors && 'bold');
  if (a === undefined || b === undefined) return bold;
  const diff = text ? formatTextDiff(a, b, labels, hasColors) : [];
  if (diff.length > 0) return [bold, ...diff].join('\n');
  const lines = formatPropertyLines(comparison?.differences ?? [], labels, hasColors);
  return [bold, ...lines.map(line => `  ${line}`)].join('\n');
}

/** Lines with `-` are in A, lines with `+` in B. Empty if the texts are the same, and only the tables after LIKE differ. */
function formatTextDiff(a: string, b: string, [labelA, labelB]: Labels, hasColors: boolean): string[] {
  const names = [`--- ${labelA}`, `+++ ${labelB}`].map(name => paint(escapeControls(name), hasColors && 'bold'));
  const lines = unifiedDiff(printForDiff(a, b), printForDiff(b, a)).map(line =>
    paint(line.split('\t').map(escapeControls).join('\t'), hasColors && COLORS[line.charAt(0)]),
  );
  return lines.length === 0 ? [] : [...names, ...lines];
}

/** A statement as servers print it, if its definition is known. A property that it omits is printed as in the other statement. */
function printForDiff(statement: string, other: string): string {
  const [definition, otherDefinition] = [tryParseDefinition(statement), tryParseDefinition(other)];
  if (!definition) return redactFully(statement);
  const isCompletable = definition.kind === otherDefinition?.kind && !('like' in definition);
  const defined = Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== undefined));
  const own = { like: undefined, query: undefined, ...defined };
  const completed = isCompletable ? ({ ...otherDefinition, ...own } as Definition) : definition;
  return printDefinition(completed, { quoted: true });
}

/** git's colors of lines, by the first character of the line. */
const COLORS: Record<string, 'cyan' | 'red' | 'green'> = { '@': 'cyan', '-': 'red', '+': 'green' };
