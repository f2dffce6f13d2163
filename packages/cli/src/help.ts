/*! Formats the text of `--help`: at most 80 columns, fewer on a narrower terminal. */
import { CONNECTION_GROUP } from './options.js';
import type { OptionSpec, OptionSpecs, ProgramDescription } from './program.js';

const WIDTH = 80;

/** The column at which descriptions start. */
const INDENT = 31;

/** Formats the help of a program with these options. @param columns the width of the terminal, if there is one */
export function formatHelp(
  { name, operands, summary, examples }: ProgramDescription,
  options: OptionSpecs,
  columns = WIDTH,
): string {
  const width = Math.min(WIDTH, columns || WIDTH);
  const groups = new Map<string, string[]>();
  for (const [option, spec] of Object.entries(options)) {
    const { group = 'Options:' } = spec;
    groups.set(group, [...(groups.get(group) ?? []), ...formatOption(option, spec, width)]);
  }
  const isLast = (group: string) => Number(group === CONNECTION_GROUP);
  const ordered = [...groups].sort(([a], [b]) => isLast(a) - isLast(b));
  return [
    `Usage: ${name} [options] ${operands}`.trimEnd(),
    '',
    ...summary.split('\n').flatMap(line => (line.length > width ? wrap(line, width) : line)),
    ...ordered.flatMap(([group, lines]) => ['', group, ...lines]),
    '',
    'Examples:',
    ...examples.flatMap(([line, effect]) => [`  ${line}`, `        ${effect}`]),
  ].join('\n');
}

/** `  -o, --output FILE           write this file`, on several lines if it is long. */
function formatOption(option: string, spec: OptionSpec, width: number): string[] {
  const { alias, type, choices, placeholder = 'FILE', describe = '', default: given } = spec;
  const takesValue = choices || type === 'string' || type === 'number';
  const value = takesValue ? ` ${choices?.join('|') ?? placeholder}` : '';
  const head = `  ${alias ? `-${alias}, ` : '    '}--${option}${value}`;
  const hasDefault = typeof given === 'string' || typeof given === 'number';
  const [first = '', ...rest] = wrap(hasDefault ? `${describe} (default: ${given})` : describe, width - INDENT);
  const below = rest.map(line => ' '.repeat(INDENT) + line);
  if (head.length < INDENT) return [head.padEnd(INDENT) + first, ...below];
  return [head, ' '.repeat(INDENT) + first, ...below];
}

function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) as string;
    if (line && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines;
}
