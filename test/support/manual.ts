/*! The man pages that the package manifests name, as mandoc displays them. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMissing } from '../../scripts/skipped.js';
import { testWith } from './test.js';

/** The paths of all man pages, such as `packages/sqldump/sqldump.1`. */
export const manPages: string[] = readdirSync('packages').flatMap(name => {
  const folder = join('packages', name);
  const { man = [] } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { man?: string[] };
  return man.map(page => join(folder, page));
});

/** The text of one section of a man page as a terminal shows it, without its heading; empty if there is no such section. */
export function manSection(page: string, heading: string): string {
  if (!hasMandoc || !existsSync(page)) return '';
  const shown = execFileSync('mandoc', ['-T', 'ascii', page], { encoding: 'utf8' }).replace(/.\x08/g, '');
  const [, section = ''] = shown.split(`\n${heading}\n`);
  return section.split(/^\S/m, 1)[0] ?? '';
}

/** The examples of a man page: the displays in its EXAMPLES, as a user types them. */
export const manExamples = (page: string): string[] =>
  Array.from(manSection(page, 'EXAMPLES').matchAll(/(?:^ {11}.*\n)+/gm), ([display]) =>
    display.replace(/^ {11}/gm, ''),
  );

const hasMandoc = !isMissing('mandoc');

export const testWithMandoc = testWith('mandoc');
