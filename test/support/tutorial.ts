/*! The tutorial of GUIDE.md: its commands, run on a terminal as a reader types them, and their output put back into the text. */
import type { Scope } from './scope.js';
import { startSqlserve } from './sqlserve.js';
import { terminal } from './terminal.js';

/** A command of the tutorial and what the terminal shows for it. */
export interface Step {
  command: string;
  /** With escape sequences for color, without those that move the cursor; lines end in LF. */
  output: string;
  /** Whether it belongs to the recording: its block follows a line `<!-- recording -->`. */
  recorded: boolean;
}

const RECORDED = '<!-- recording -->\n';

/** A block that is run: commands without output (sh), or commands after `$ ` with their output (console). */
const BLOCK = /(<!-- recording -->\n)?^```(sh|console)\n(.*?)^```$/gms;

/** The servers of the tutorial: each is started in a terminal of its own, on a port that the text names. */
const SERVER = /^sqlserve --port (\d+)$/;

/** The section that is run, from its heading to the next of its level. */
export const tutorialOf = (guide: string): string => /^## Tutorial.*?(?=^## )/ms.exec(guide)?.[0] ?? '';

/** Runs the tutorial in one bash, from top to bottom. Every server gets a free port; the output has the ports of the text. */
export async function runTutorial(scope: Scope, guide: string): Promise<Step[]> {
  const steps = commands(tutorialOf(guide));
  const ports = new Map<string, string>();
  for (const { command } of steps) {
    const [, port] = SERVER.exec(command) ?? [];
    if (port) ports.set(port, new URL((await startSqlserve(scope)).url).port);
  }
  const run = await terminal(scope);
  const script = steps.map(({ command }) => `printf '${SEPARATOR}'\n${SERVER.test(command) ? '' : command}\n`).join('');
  const { screen } = await run(replacePorts(script, ports));
  const [, ...outputs] = screen.split(SEPARATOR);
  const original = new Map(Array.from(ports, ([port, actual]) => [actual, port]));
  return steps.map((step, i) => {
    const [, port] = SERVER.exec(step.command) ?? [];
    const output = port ? `http://127.0.0.1:${port}\n` : replacePorts(visible(outputs[i] ?? ''), original);
    return { ...step, output };
  });
}

/** The guide with the output of each step in its place. */
export function insertOutput(guide: string, steps: readonly Step[]): string {
  const left = [...steps];
  const tutorial = tutorialOf(guide).replace(BLOCK, (block, mark = '', language, text) => {
    if (language === 'sh') {
      left.shift();
      return block;
    }
    const shown = typed(text).map(command => `$ ${command}\n${withoutColor(left.shift()?.output ?? '')}`);
    return `${mark}\`\`\`console\n${shown.join('')}\`\`\``;
  });
  return guide.replace(tutorialOf(guide), () => tutorial);
}

/** Text as a terminal without color shows it. */
export const withoutColor = (text: string): string => text.replace(/\x1b\[[\d;]*m/g, '');

/** Not a character that any program prints. */
const SEPARATOR = '\x1e';

const commands = (tutorial: string): Omit<Step, 'output'>[] =>
  Array.from(tutorial.matchAll(BLOCK), ([, mark, language, text = '']) =>
    (language === 'sh' ? [text] : typed(text)).map(command => ({ command, recorded: mark === RECORDED })),
  ).flat();

const typed = (text: string): string[] => Array.from(text.matchAll(/^\$ (.*)$/gm), ([, command = '']) => command);

const replacePorts = (text: string, ports: ReadonlyMap<string, string>): string =>
  text.replace(/(?<=\b(?:localhost|127\.0\.0\.1):)\d+/g, port => ports.get(port) ?? port);

/** What is left on the screen: a line of progress is overwritten by what comes after it. */
const visible = (output: string): string =>
  output
    .replaceAll('\r\n', '\n')
    .replace(/[^\n]*(?:\r|\x1b\[1G)/g, '')
    .replace(/\x1b\[(?:[0-2]?K|\?25[hl])/g, '');
