/*! Runs the commands of the tutorial in GUIDE.md on a terminal, as a reader types them, and inserts their output into the text. */
import type { Scope } from './scope.js';
import { startSqlserve } from './sqlserve.js';
import { terminal } from './terminal.js';

export interface Step {
  command: string;
  /** The output with escape sequences for color, but without those that move the cursor; lines end with LF. */
  output: string;
  /** Whether it belongs to the recording: its block follows a line `<!-- recording -->`. */
  recorded: boolean;
}

const RECORDED = '<!-- recording -->\n';

/** A block that is run: commands without output (sh), or commands after `$ ` with their output (console). */
const BLOCK = /(<!-- recording -->\n)?^```(sh|console)\n(.*?)^```$/gms;

/** The servers of the tutorial: each is started in a terminal of its own, on a port that the text names. */
const SERVER = /^sqlserve --port (\d+)$/;

/** The section with the tutorial, from its heading to the next heading of the same level. */
export const tutorialOf = (guide: string): string => /^## Tutorial.*?(?=^## )/ms.exec(guide)?.[0] ?? '';

/** Runs the tutorial in one bash, from top to bottom. Every server gets a free port; the output has the ports of the text. */
export async function runTutorial(scope: Scope, guide: string): Promise<Step[]> {
  const steps = parseCommands(tutorialOf(guide));
  const ports = new Map<string, string>();
  for (const { command } of steps) {
    const [, port] = SERVER.exec(command) ?? [];
    if (port) ports.set(port, new URL((await startSqlserve(scope)).url).port);
  }
  const [name, email] = ['A reader', 'reader@example.com'];
  const run = await terminal(scope, {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  });
  const script = steps.map(({ command }) => `printf '${SEPARATOR}'\n${SERVER.test(command) ? '' : command}\n`).join('');
  const { screen } = await run(replacePorts(script, ports));
  const [, ...outputs] = screen.split(SEPARATOR);
  const original = new Map(Array.from(ports, ([port, actual]) => [actual, port]));
  return steps.map((step, i) => {
    const [, port] = SERVER.exec(step.command) ?? [];
    const output = port ? `http://127.0.0.1:${port}\n` : replacePorts(visibleText(outputs[i] ?? ''), original);
    return { ...step, output };
  });
}

export function insertOutput(guide: string, steps: readonly Step[]): string {
  const left = [...steps];
  const tutorial = tutorialOf(guide).replace(BLOCK, (block, mark = '', language, text) => {
    if (language === 'sh') {
      left.shift();
      return block;
    }
    const session = typedCommands(text).map(command => `$ ${command}\n${withoutColor(left.shift()?.output ?? '')}`);
    return `${mark}\`\`\`console\n${session.join('')}\`\`\``;
  });
  return guide.replace(tutorialOf(guide), () => tutorial);
}

const withoutColor = (text: string): string => text.replace(/\x1b\[[\d;]*m/g, '');

const SEPARATOR = '\x1e';

const parseCommands = (tutorial: string): Omit<Step, 'output'>[] =>
  Array.from(tutorial.matchAll(BLOCK), ([, mark, language, text = '']) =>
    (language === 'sh' ? [text] : typedCommands(text)).map(command => ({ command, recorded: mark === RECORDED })),
  ).flat();

const typedCommands = (text: string): string[] =>
  Array.from(text.matchAll(/^\$ (.*)$/gm), ([, command = '']) => command);

const replacePorts = (text: string, ports: ReadonlyMap<string, string>): string =>
  text.replace(/(?<=\b(?:localhost|127\.0\.0\.1):)\d+/g, port => ports.get(port) ?? port);

/** The text that remains on the screen: a line of progress is overwritten by what follows. */
const visibleText = (output: string): string =>
  output
    .replaceAll('\r\n', '\n')
    .replace(/[^\n]*(?:\r|\x1b\[1G)/g, '')
    .replace(/\x1b\[(?:[0-2]?K|\?25[hl])/g, '');
