/*! Formats the text of `--help`: at most 80 columns, fewer on a narrower terminal; the program's own options first. */
import type { Flag } from './completion-spec.js';
import { CONNECTION_FLAGS } from './instance-options.js';
import type { Program } from './program.js';

const WIDTH = 80;

/** The column at which descriptions start. */
const INDENT = 31;

/** The placeholders for values of options; the others are FILE. */
const VALUE_NAMES: Record<string, string> = {
  '--address': 'ADDRESS',
  '--allow': 'VERBS',
  '--allow-host': 'HOST',
  '--allow-loss': 'NAME',
  '--completion': 'SHELL',
  '--connect-timeout': 'SECS',
  '--directory': 'DIR',
  '--data': 'DIR',
  '--exclude': 'KINDS',
  '--ignore': 'PATTERN',
  '--include': 'KINDS',
  '--jobs': 'NUMBER',
  '--kind': 'KINDS',
  '--label': 'NAME',
  '--max-record': 'BYTES',
  '--owner': 'OLD=NEW',
  '--port': 'PORT',
  '--principal': 'OLD=NEW',
  '--rebuild': 'TABLE',
  '--regexp': 'REGEXP',
  '--rename': 'OLD=NEW',
  '--renamed': 'OLD=NEW',
  '--request-limit': 'BYTES',
  '--retries': 'NUMBER',
  '--timeout': 'SECS',
  '--to': 'SERVER',
  '--user': 'NAME',
  '--wait': 'SECS',
  '--yes-to': 'NAME',
};

/** An option and its default. */
export interface HelpFlag extends Flag {
  default?: unknown;
}

/** Formats the help of a program with these options. @param columns the width of the terminal, if there is one */
export function formatHelp(
  { name, operands, summary, examples }: Pick<Program<unknown>, 'name' | 'operands' | 'summary' | 'examples'>,
  flags: readonly HelpFlag[],
  columns = WIDTH,
): string {
  const width = Math.min(WIDTH, columns || WIDTH);
  const isConnection = ({ names }: Flag) => names.some(each => CONNECTION_FLAGS.includes(each));
  const own = flags.filter(flag => !isConnection(flag));
  const connection = flags.filter(isConnection);
  return [
    `Usage: ${name} [options] ${operands}`.trimEnd(),
    '',
    ...summary.split('\n').flatMap(line => (line.length > width ? wrap(line, width) : line)),
    '',
    'Options:',
    ...own.flatMap(flag => formatFlag(flag, width)),
    ...(connection.length ? ['', 'Connection options:', ...connection.flatMap(flag => formatFlag(flag, width))] : []),
    '',
    'Examples:',
    ...examples.flatMap(([line, effect]) => [`  ${line}`, `        ${effect}`]),
  ].join('\n');
}

/** `  -o, --output FILE           write this file`, on several lines if it is long. */
function formatFlag({ names, describe, value, default: given }: HelpFlag, width: number): string[] {
  const [long = '', short] = names.toSorted((a, b) => b.length - a.length);
  const placeholder = Array.isArray(value) && long !== '--completion' ? value.join('|') : (VALUE_NAMES[long] ?? 'FILE');
  const head = `  ${short ? `${short}, ` : '    '}${long}${value ? ` ${placeholder}` : ''}`;
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
