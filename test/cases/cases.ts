/*! Cases as text: a title, an input and an output, separated by `---`; cases are separated by `===`. */
import { readFileSync } from 'node:fs';

export interface Case {
  title: string;
  input: string;
  output: string;
}

/** The cases of `test/cases/NAME.txt`. */
export function cases(name: string): Case[] {
  const text = readFileSync(`test/cases/${name}.txt`, 'utf8');
  return text.split('\n===\n').map(block => {
    const [title = '', input = '', output = ''] = block.split('\n---\n');
    return { title: title.trim(), input, output: output.replace(/\n$/, '') };
  });
}
