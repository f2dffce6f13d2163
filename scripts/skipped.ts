/*!
 * The last line of `make test`: the tests that were skipped because a tool is not installed, and how to install it. With
 * `--packages` only the Debian packages of these tools.
 */
import { spawnSync } from 'node:child_process';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

/** Tools that some tests need, with the subject of these tests and the Debian package of the tool. */
const TOOLS = {
  dot: ['drawings of graphs', 'graphviz'],
  'dpkg-deb': ['Debian packages', 'dpkg'],
  fish: ['completion in fish', 'fish'],
  jq: ['the executable', 'jq'],
  java: ['a real QuestDB', 'default-jre-headless'],
  mandoc: ['the man pages', 'mandoc'],
  mvn: ['a real QuestDB', 'maven'],
  parallel: ['copies to a fleet', 'parallel'],
  rsync: ['copies to a fleet', 'rsync'],
  strace: ['system calls', 'strace'],
  zsh: ['completion in zsh', 'zsh'],
} as const;

export type Tool = keyof typeof TOOLS;

/** Whether a tool is not on the PATH. */
export const isMissing = (tool: string): boolean =>
  spawnSync(tool, ['--version'], { stdio: 'ignore' }).error !== undefined;

const missing = (): Tool[] => (Object.keys(TOOLS) as Tool[]).filter(isMissing);
const packagesOf = (tools: readonly Tool[]): string => tools.map(tool => TOOLS[tool][1]).join(' ');

/** One line for all tools that are missing; undefined for none. */
function formatSkipped(): string | undefined {
  const tools = missing();
  if (tools.length === 0) return undefined;
  const tests = tools.map(tool => `${TOOLS[tool][0]} (no ${tool})`);
  return `skipped: tests of ${tests.join(', ')}; to run them: sudo apt-get install ${packagesOf(tools)}`;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const line = argv[2] === '--packages' ? packagesOf(missing()) : formatSkipped();
  if (line) console.log(line);
}
