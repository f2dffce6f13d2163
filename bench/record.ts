/*! The record of the last run: parts of bench/README.md, each between its marks. */
import { readFileSync, writeFileSync } from 'node:fs';

const README = 'bench/README.md';
const part = (mark: string): RegExp => new RegExp(`(?<=<!-- ${mark} -->\\n)[^]*(?=\\n<!-- /${mark} -->)`);

/** What an earlier run has recorded under a mark. */
export const recorded = (mark: string): string => part(mark).exec(readFileSync(README, 'utf8'))?.[0] ?? '';

/** Puts a text in the place of what is recorded under a mark. */
export const publish = (mark: string, text: string, file = README): void =>
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(part(mark), () => text),
  );
