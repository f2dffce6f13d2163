/*! The charts as pictures, drawn by gnuplot: time on the left, memory on the right. */
import { execFileSync } from 'node:child_process';
import type { Chart, Curve } from './growth.js';

/** Writes bench/NAME.svg for a chart. @throws if gnuplot is missing */
export function draw({ name, curves }: Chart): void {
  const plots = [
    ['seconds', 2],
    ['MiB', 3],
  ].map(([label, column]) => {
    const lines = curves.map(
      ({ script }, i) => `$curve${i} using 1:${column} with linespoints title '${escapeQuotes(script)}'`,
    );
    return `set ylabel '${label}'\nplot ${lines.join(', ')}`;
  });
  const input = [
    "set terminal svg size 960,360 font 'sans-serif,12' background rgb 'white'",
    `set output 'bench/${name}.svg'`,
    'set logscale xy',
    'set grid',
    'set key left top noenhanced',
    "set xlabel 'objects'",
    ...curves.map((curve, i) => `$curve${i} << END\n${points(curve)}\nEND`),
    'set multiplot layout 1,2',
    ...plots,
    'unset multiplot',
    '',
  ].join('\n');
  execFileSync('gnuplot', { input, stdio: ['pipe', 'inherit', 'inherit'] });
}

const points = ({ points: all }: Curve): string =>
  all.map(([objects, { seconds, mebibytes }]) => `${objects} ${seconds} ${mebibytes}`).join('\n');

/** Escapes quotes for gnuplot. */
const escapeQuotes = (text: string): string => text.replaceAll("'", "''");
