/*! Differences as people read them, and as programs do: without the secrets that statements hold. */
import { formatPropertyLines, unifiedDiff } from '@sqlpipe/cli';
import { type Definition, parseMeaning, printDefinition } from '@sqlpipe/ddl';
import type { Difference } from '@sqlpipe/schema';
import { displayName, escapeControls, formatSafeJson, hasName, redact } from '@sqlpipe/sql';
import type { Sides } from './operands.js';

/** A line per difference: `only in src: table 'trades'`, `differs: view 'spreads'`; a grant is shown as its statement. */
export function formatName({ identity, a, b }: Difference, sides: Sides): string {
  const what = hasName(identity) ? displayName(identity) : redactFully(a ?? b ?? '').replace(/;$/, '');
  const how = b === undefined ? `only in ${sides[0].label}` : a === undefined ? `only in ${sides[1].label}` : 'differs';
  return `${escapeControls(`${how}: ${what}`)}\n`;
}

/** How to show what differs. */
export interface FormatOptions {
  /** Line by line, in the form that servers print, and not property by property. */
  text: boolean;
  colors: boolean;
}

/** The same, and below what differs how: in A, in B. */
export function formatDifference(difference: Difference, sides: Sides, { text, colors }: FormatOptions): string {
  const { a, b, comparison } = difference;
  const head = paint(formatName(difference, sides), colors ? BOLD : undefined);
  if (a === undefined || b === undefined) return head;
  if (text) return head + formatTextDiff(a, b, sides, colors);
  const lines = formatPropertyLines(comparison?.differences ?? [], [sides[0].label, sides[1].label], colors);
  return head + lines.map(line => `  ${line}\n`).join('');
}

/** A unified diff below the names of the two sides: `-` is in A, `+` is in B. */
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

/** A statement in the form that servers print, where its meaning is known; what it leaves open is as in the other. */
function printStatement(statement: string, other: string): string {
  const [definition, filling] = [parseMeaning(statement), parseMeaning(other)];
  if (!definition) return redactFully(statement);
  const isOpen = definition.kind === filling?.kind;
  return printDefinition(isOpen ? ({ ...filling, ...definedProperties(definition) } as Definition) : definition, {
    quoted: true,
  });
}

/** What a definition does not leave open. */
const definedProperties = (definition: Definition): Partial<Definition> =>
  Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== undefined));

/** Not even how long a secret is. */
const redactFully = (statement: string): string => redact(statement, () => '***');

const BOLD = 1;
/** By the first character of a line, as git has them. */
const COLORS: Record<string, number> = { '@': 36, '-': 31, '+': 32 };

const paint = (line: string, code: number | undefined): string =>
  code === undefined ? line : `\x1b[${code}m${line.slice(0, -1)}\x1b[m\n`;

/**
 * A line of JSON: an object with `kind`, `name`, `result` (`only-a`, `only-b` or `differs`), the statements `a` and `b`
 * where there is one, and of what differs the `properties`, each with `property`, `a` and `b`.
 */
export function formatJsonLine({ identity: { kind, name }, a, b, comparison }: Difference): string {
  const result = b === undefined ? 'only-a' : a === undefined ? 'only-b' : 'differs';
  const properties = comparison?.differences;
  return `${formatSafeJson({ kind, name, result, a: a && redactFully(a), b: b && redactFully(b), properties })}\n`;
}
