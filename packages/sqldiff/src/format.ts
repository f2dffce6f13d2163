/*! Formats differences as text and as JSON, without the secrets that statements contain. */
import { formatPropertyLines, unifiedDiff } from '@sqlpipe/cli';
import { type Definition, printDefinition, tryParseDefinition } from '@sqlpipe/ddl';
import type { ComparedProblem, Difference, IgnoredDifference } from '@sqlpipe/schema';
import { displayName, hasName, redact } from '@sqlpipe/sql';
import { escapeControls, formatSafeJson } from '@sqlpipe/text';
import type { Sides } from './operands.js';

/** A line per difference: `only in src: table 'trades'`, `differs: view 'spreads'`; a grant is shown as its statement. */
export function formatName({ identity, a, b }: Difference, sides: Sides): string {
  const what = hasName(identity) ? displayName(identity) : redactFully(a ?? b ?? '').replace(/;$/, '');
  const how = b === undefined ? `only in ${sides[0].label}` : a === undefined ? `only in ${sides[1].label}` : 'differs';
  return `${escapeControls(`${how}: ${what}`)}\n`;
}

/** `ignored: table 'trades': TTL` */
export const formatIgnored = ({ identity, property }: IgnoredDifference): string =>
  escapeControls(`ignored: ${displayName(identity)}${property === undefined ? '' : `: ${property}`}`);

export interface FormatOptions {
  readonly json?: boolean;
  /** Only the line that names it. */
  readonly names?: boolean;
  /** Compare the statements line by line, in the form that servers print, instead of property by property. */
  readonly text?: boolean;
  readonly colors?: boolean;
}

/** `invalid in dst: materialized view 'm'`, or `suspended in dst: table 't'`; below it the server's reason. */
export function formatProblem(problem: ComparedProblem, [a, b]: Sides, options: FormatOptions): string {
  const { identity, state, side, reason } = problem;
  const { kind, name } = identity;
  if (options.json) return `${formatSafeJson({ kind, name, result: state, side, reason })}\n`;
  const head = `${escapeControls(`${state} in ${(side === 'a' ? a : b).label}: ${displayName(identity)}`)}\n`;
  return options.names ? head : `${paint(head, options.colors && BOLD)}  ${escapeControls(reason)}\n`;
}

/** The line of `formatName`, and below it the properties or lines that differ, as they are in A and in B. */
export function formatDifference(difference: Difference, sides: Sides, options: FormatOptions): string {
  const { a, b, comparison } = difference;
  if (options.json) return formatJsonLine(difference);
  if (options.names) return formatName(difference, sides);
  const { text, colors = false } = options;
  const head = paint(formatName(difference, sides), colors && BOLD);
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
  const format = (line: string, code: number | undefined) => paint(`${line}\n`, colors && code);
  return [...names.map(name => format(name, BOLD)), ...lines.map(line => format(line, COLORS[line.charAt(0)]))].join(
    '',
  );
}

/**
 * A statement in the form that servers print, if its meaning is known. A property that the statement does not define
 * is printed as in the other statement.
 */
function printStatement(statement: string, other: string): string {
  const [definition, otherDefinition] = [tryParseDefinition(statement), tryParseDefinition(other)];
  if (!definition) return redactFully(statement);
  const isSameKind = definition.kind === otherDefinition?.kind;
  const defined = Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== undefined));
  const completed = isSameKind ? ({ ...otherDefinition, ...defined } as Definition) : definition;
  return printDefinition(completed, { quoted: true });
}

/** Redacts secrets, and their lengths too. */
const redactFully = (statement: string): string => redact(statement, () => '***');

const BOLD = 1;
/** git's colors of lines, by the first character of the line. */
const COLORS: Record<string, number> = { '@': 36, '-': 31, '+': 32 };

const paint = (line: string, code: number | false | undefined): string =>
  code ? `\x1b[${code}m${line.slice(0, -1)}\x1b[m\n` : line;

/** A line of JSON. `a` and `b` are the statements, if they exist, and `properties` those that differ, if both exist. */
function formatJsonLine({ identity: { kind, name }, a, b, comparison }: Difference): string {
  const result = b === undefined ? 'only-a' : a === undefined ? 'only-b' : 'differs';
  const properties = comparison?.differences;
  return `${formatSafeJson({ kind, name, result, a: a && redactFully(a), b: b && redactFully(b), properties })}\n`;
}
