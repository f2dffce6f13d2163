/*! The licenses of the bundled packages, which have to be distributed with the bundles. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Locked {
  version?: string;
  license?: string;
  dev?: boolean;
  link?: boolean;
}

/** Name, version and license text of every package that the programs or the libraries import, as Markdown. */
export function notices(): string {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
  const inside = Object.entries(packages).filter(
    ([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link,
  );
  const sections = inside.map(([path, { version, license }]) => {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    return `## ${name} ${version} (${license})\n\n${licenseText(path)}\n`;
  });
  return `# Notices\n\nWhat others have written and this package holds.\n\n${sections.join('\n')}`;
}

function licenseText(folder: string): string {
  const file = readdirSync(folder).find(name => /^licen[cs]e/i.test(name));
  return file ? readFileSync(join(folder, file), 'utf8').replace(/^/gm, '    ').trimEnd() : '(no text)';
}
