/*! Differences as people read them, and as programs do: without the secrets that statements hold. */
import { type Difference, hasName } from '@sqlpipe/catalog';
import { unifiedDiff } from '@sqlpipe/cli';
import { conceal, formatSafeJson, printable, title } from '@sqlpipe/sql';
import type { Sides } from './side.js';

/** A line per difference: `only in src: table 'trades'`, `differs: view 'spreads'`; a grant is shown as its statement. */
export function named({ identity, a, b }: Difference, sides: Sides): string {
  const what = hasName(identity) ? title(identity) : redact(a ?? b ?? '');
  const how = b === undefined ? `only in ${sides[0].label}` : a === undefined ? `only in ${sides[1].label}` : 'differs';
  return `${printable(`${how}: ${what}`)}\n`;
}

/** The same, and below what differs a unified diff: `-` is in A, `+` is in B. */
export function shown(difference: Difference, sides: Sides, colors: boolean): string {
  const { a, b } = difference;
  const lines = a !== undefined && b !== undefined ? diffLines(redact(a), redact(b)) : [];
  const text = lines.map(line => `${line.split('\t').map(printable).join('\t')}\n`);
  const head = named(difference, sides);
  return colors
    ? paint(head, BOLD) + text.map(line => paint(line, COLORS[line.charAt(0)])).join('')
    : head + text.join('');
}

/** Not even how long a secret is. */
const redact = (statement: string): string => conceal(statement, () => '***');

const diffLines = (a: string, b: string): string[] =>
  a === b ? ['  only secrets differ; they are not shown'] : unifiedDiff(a, b);

const BOLD = 1;
/** By the first character of a line, as git has them. */
const COLORS: Record<string, number> = { '@': 36, '-': 31, '+': 32 };

const paint = (line: string, code: number | undefined): string =>
  code === undefined ? line : `\x1b[${code}m${line.slice(0, -1)}\x1b[m\n`;

/**
 * A line of JSON: an object with `kind`, `name`, `result` (`only-a`, `only-b` or `differs`) and the statements `a` and `b`
 * where there is one.
 */
export function jsonLine({ identity: { kind, name }, a, b }: Difference): string {
  const result = b === undefined ? 'only-a' : a === undefined ? 'only-b' : 'differs';
  return `${formatSafeJson({ kind, name, result, a: a && redact(a), b: b && redact(b) })}\n`;
}
