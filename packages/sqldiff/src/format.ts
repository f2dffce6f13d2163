/*! Differences as text and as JSON, without the secrets that statements contain. */
import { formatPropertyLines, unifiedDiff } from '@sqlpipe/cli';
import { type Definition, parseMeaning, printDefinition } from '@sqlpipe/ddl';
import type { ComparedProblem, Difference, IgnoredDifference } from '@sqlpipe/schema';
import { displayName, hasName, redact } from '@sqlpipe/sql';
import { escapeControls, formatSafeJson } from '@sqlpipe/text';
import type { Sides } from './operands.js';

/**
 * A line per difference: `only in src: table 'trades'`, `differs: view 'spreads'`; a grant is shown as its statement.
 */
export function formatName({ identity, a, b }: Difference, sides: Sides): string {
  const what = hasName(identity) ? displayName(identity) : redactFully(a ?? b ?? '').replace(/;$/, '');
  const how = b === undefined ? `only in ${sides[0].label}` : a === undefined ? `only in ${sides[1].label}` : 'differs';
  return `${escapeControls(`${how}: ${what}`)}\n`;
}

/** `ignored: table 'trades': TTL` */
export const formatIgnored = ({ identity, property }: IgnoredDifference): string =>
  escapeControls(`ignored: ${displayName(identity)}${property === undefined ? '' : `: ${property}`}`);

/** `invalid in dst: materialized view 'm'`, or `suspended in dst: table 't'` */
export const formatProblemName = ({ identity, state, side }: ComparedProblem, [a, b]: Sides): string =>
  `${escapeControls(`${state} in ${(side === 'a' ? a : b).label}: ${displayName(identity)}`)}\n`;

/** The line of `formatProblemName`, and below it the server's reason. */
export const formatProblem = (problem: ComparedProblem, sides: Sides, colors: boolean): string =>
  `${paint(formatProblemName(problem, sides), colors ? BOLD : undefined)}  ${escapeControls(problem.reason)}\n`;

/** A line of JSON: `kind`, `name`, `result` (`invalid` or `suspended`), `side` (`a` or `b`) and the server's `reason`. */
export const formatProblemJson = ({ identity: { kind, name }, state, side, reason }: ComparedProblem): string =>
  `${formatSafeJson({ kind, name, result: state, side, reason })}\n`;

/** How to show differences. */
export interface FormatOptions {
  /** Compare the statements line by line, in the form that servers print, instead of property by property. */
  text: boolean;
  colors: boolean;
}

/** The line of `formatName`, and below it the properties or lines that differ, as they are in A and in B. */
export function formatDifference(difference: Difference, sides: Sides, { text, colors }: FormatOptions): string {
  const { a, b, comparison } = difference;
  const head = paint(formatName(difference, sides), colors ? BOLD : undefined);
  if (a === undefined || b === undefined) return head;
  if (text) return head + formatTextDiff(a, b, sides, colors);
  const lines = formatPropertyLines(comparison?.differences ?? [], [sides[0].label, sides[1].label], colors);
  return head + lines.map(line => `  ${line}\n`).join('');
}

/** The names of the two sides and a unified diff: lines with `-` are in A, lines with `+` in B. */
function formatTextDiff(a: string, b: string, sides: Sides, colors: boolean): string {
  const names = [`--- ${escapeControls(sides[0].label)}`, `+++ ${escapeControls(sides[1].label)}`];
  const lines = unifiedDiff(printStatement(a, b), printStatement(b, a)).map(line =>
    line.split('\t').map(escapeControls).join('\t'),
  );
  const format = (line: string, code: number | undefined) => paint(`${line}\n`, colors ? code : undefined);
  return [...names.map(name => format(name, BOLD)), ...lines.map(line => format(line, COLORS[line.charAt(0)]))].join(
    '',
  );
}

/**
 * A statement in the form that servers print, if its meaning is known. A property that the statement does not define
 * is printed as in the other statement.
 */
function printStatement(statement: string, other: string): string {
  const [definition, otherDefinition] = [parseMeaning(statement), parseMeaning(other)];
  if (!definition) return redactFully(statement);
  const isSameKind = definition.kind === otherDefinition?.kind;
  return printDefinition(
    isSameKind ? ({ ...otherDefinition, ...definedProperties(definition) } as Definition) : definition,
    {
      quoted: true,
    },
  );
}

/** The properties that a definition defines. */
const definedProperties = (definition: Definition): Partial<Definition> =>
  Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== undefined));

/** Redacts secrets, and their lengths too. */
const redactFully = (statement: string): string => redact(statement, () => '***');

const BOLD = 1;
/** git's colors of lines, by the first character of the line. */
const COLORS: Record<string, number> = { '@': 36, '-': 31, '+': 32 };

const paint = (line: string, code: number | undefined): string =>
  code === undefined ? line : `\x1b[${code}m${line.slice(0, -1)}\x1b[m\n`;

/**
 * A line of JSON: an object with `kind`, `name`, `result` (`only-a`, `only-b` or `differs`), the statements `a` and `b`
 * if they exist, and for `differs` the `properties` that differ, each with `property`, `a` and `b`.
 */
export function formatJsonLine({ identity: { kind, name }, a, b, comparison }: Difference): string {
  const result = b === undefined ? 'only-a' : a === undefined ? 'only-b' : 'differs';
  const properties = comparison?.differences;
  return `${formatSafeJson({ kind, name, result, a: a && redactFully(a), b: b && redactFully(b), properties })}\n`;
}
