/*! Cases as text: a title, an input, an output and perhaps more, separated by `---`; cases are separated by `===`. */
import { readFileSync } from 'node:fs';

export interface Case {
  title: string;
  input: string;
  output: string;
  more: string;
}

export function cases(name: string): Case[] {
  const text = readFileSync(`test/cases/${name}.txt`, 'utf8');
  return text.split('\n===\n').map(block => {
    const [title = '', input = '', output = '', more = ''] = block.split('\n---\n');
    return { title: title.trim(), input, output: output.replace(/\n$/, ''), more };
  });
}
