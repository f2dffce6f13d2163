/*! Handwritten statements, and small changes that change their meaning: the cases of `meaning.txt`. */
import { readFileSync } from 'node:fs';

/** A replacement in the text, and the property that it changes. */
export type Change = readonly [from: string, to: string, property: string];

/** The name of an object, the statement that creates it, and changes of the statement. */
export type Case = readonly [name: string, statement: string, ...changes: Change[]];

export const CASES: readonly Case[] = readFileSync('test/cases/meaning.txt', 'utf8')
  .trimEnd()
  .split('\n\n')
  .map(block => {
    const [text = '', ...changes] = block.split('\n=> ');
    const [name = '', ...lines] = text.split('\n');
    return [name, lines.join('\n'), ...changes.map(change => JSON.parse(change) as Change)];
  });
