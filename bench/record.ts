/*! The record of the last run: parts of bench/README.md, each between its markers. */
import { readFileSync, writeFileSync } from 'node:fs';

const README = 'bench/README.md';
const part = (mark: string): RegExp => new RegExp(`(?<=<!-- ${mark} -->\\n)[^]*(?=\\n<!-- /${mark} -->)`);

/** Replaces the recorded text at a marker. */
export const publish = (mark: string, text: string, file = README): void =>
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(part(mark), () => text),
  );
