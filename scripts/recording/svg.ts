/*! A terminal session as an SVG picture: commands and their output appear one after another, and stay. */
import type { Step } from '../../test/support/tutorial.js';

/** Characters in a line; longer lines wrap, as on a terminal. */
const COLUMNS = 100;
/** Pixels. */
const [WIDTH, HEIGHT, MARGIN] = [8.43, 20, 16];
/** Seconds before a command and before its output appear: fixed, so that the same session gives the same bytes. */
const [BEFORE_COMMAND, BEFORE_OUTPUT] = [1.6, 0.6];
const TAB = 8;

/** Classes in the picture for escape codes; other codes reset the style. */
const CLASSES: Readonly<Record<string, string>> = {
  1: 'bold',
  31: 'red',
  32: 'green',
  33: 'yellow',
  36: 'cyan',
};

/** Characters with the same style. */
interface Span {
  text: string;
  className: string | undefined;
}

interface Line {
  spans: Span[];
  appears: number;
}

/** Draws commands and their output. Viewers without CSS animation, or whose user wants less motion, show all lines at once. */
export function drawRecording(steps: readonly Step[]): string {
  const lines: Line[] = [];
  let time = 0;
  const add = (text: string) => {
    for (const line of wrap(text)) lines.push({ spans: parseColors(line), appears: time });
  };
  for (const { command, output } of steps) {
    if (lines.length) lines.push({ spans: [], appears: time });
    time += BEFORE_COMMAND;
    for (const text of command.split('\n')) add(`\x1b[32m$ \x1b[1m${text}`);
    time += BEFORE_OUTPUT;
    for (const text of output.replace(/\n$/, '').split('\n')) add(expandTabs(text));
  }
  return drawLines(lines);
}

const expandTabs = (line: string): string =>
  line.replace(/([^\t]*)\t/g, (_, before: string) => before.padEnd((Math.floor(before.length / TAB) + 1) * TAB));

function parseColors(line: string): Span[] {
  const [first = '', ...rest] = line.split('\x1b[');
  const colored = rest.map(part => {
    const [, code = '', text = ''] = /^([\d;]*)m(.*)$/s.exec(part) ?? [];
    return { text, className: CLASSES[code] };
  });
  return [{ text: first, className: undefined }, ...colored].filter(({ text }) => text);
}

/** Wraps a long line at blanks, or anywhere if it has none; escape codes have no width, and end with their line. */
function wrap(line: string): readonly string[] {
  const code = '(?:\\x1b\\[[\\d;]*m)*';
  const piece = `(?:${code}.){1,${COLUMNS}}${code}`;
  return line.match(new RegExp(`${piece}(?= |$) ?|${piece}`, 'g')) ?? [''];
}

function drawLines(lines: readonly Line[]): string {
  const width = Math.ceil(COLUMNS * WIDTH + 2 * MARGIN);
  const height = lines.length * HEIGHT + 2 * MARGIN;
  const texts = lines.map(({ spans, appears }, i) => {
    const y = MARGIN + HEIGHT * (i + 0.75);
    return `<text x="${MARGIN}" y="${y}" style="animation-delay:${appears.toFixed(1)}s">${spans.map(markUp).join('')}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>A terminal session: a schema is copied, compared, and protected from a truncated dump</title>
<style>
rect { fill: #1b1f27; stroke: #57606a }
text { fill: #d8dee9; font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; animation: appear 0.01s backwards }
.bold { font-weight: bold } .red { fill: #ff7b72 } .green { fill: #7ee787 } .yellow { fill: #e3b341 } .cyan { fill: #76e3ea }
@keyframes appear { from { opacity: 0 } }
@media (prefers-reduced-motion: reduce) { text { animation: none } }
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${texts.filter(text => !text.includes('"></text>')).join('\n')}
</svg>
`;
}

const markUp = ({ text, className }: Span): string => {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return className ? `<tspan class="${className}">${escaped}</tspan>` : escaped;
};
