/*!
 * The command lines that tests run without a shell: pipelines, `;`, `&&` and `||` between them, quotes, `$NAME`, `$?`,
 * `${PIPESTATUS[0]}`, redirections, `<<'END'`, `NAME=value`, and ` # …`. Anything else is an error, and is for a real shell.
 */

/** A part of a word: text, or the name of a variable. Only a variable without quotes is split at blanks. */
interface Part {
  readonly text?: string;
  readonly variable?: string;
  readonly isQuoted: boolean;
  readonly isGlob?: boolean;
}

export type Word = readonly Part[];

export interface Command {
  readonly assignments: [name: string, value: Word][];
  readonly words: Word[];
  readonly redirections: { operator: string; target: Word }[];
}

/** A pipeline, and how it depends on the status of the one before it. */
interface Pipeline {
  readonly after: ';' | '&&' | '||';
  readonly commands: Command[];
}

const VARIABLE = String.raw`\$(?:\w+|\?|\{\w+(?:\[[\d@]\])?\})`;
const QUOTED = String.raw`'[^']*'|"(?:[^"\\$\x60]|\\[^]|${VARIABLE})*"`;
const BARE = String.raw`\\[^]|\$(?=[\s]|$)|[^\s'"\\$\x60|&;<>(){}]`;
const TOKEN = new RegExp(
  String.raw`[ \t]+(?:#.*)?|\\\n|(?<operator>&&|\|\||[;|\n])|(?<here><<'\w+')|(?<redirection>2>&1|>&2|<<<|2?>>?|<)|(?<word>(?![#~!])(?:${QUOTED}|${VARIABLE}|${BARE})+)`,
  'y',
);
const PART = new RegExp(`(?<quoted>${QUOTED})|(?<variable>${VARIABLE})|(?<bare>(?:${BARE})+)`, 'g');

const IN_QUOTES = new RegExp(String.raw`${VARIABLE}|(?:\\[^]|[^\\$])+`, 'g');

/** The pipelines of a script in order. @throws if it has anything else */
export function parseScript(script: string): Pipeline[] {
  let command = newCommand();
  let pipeline: Pipeline = { after: ';', commands: [command] };
  const pipelines = [pipeline];
  let redirection: string | undefined;
  let here: { end: string; command: Command } | undefined;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < script.length) {
    const start = TOKEN.lastIndex;
    const found = TOKEN.exec(script)?.groups;
    if (!found) throw new Error(`only a real shell can run ${script.slice(start, start + 20)}… of ${script}`);
    const { operator, redirection: opened, here: begun, word } = found;
    if (operator === '\n' && here) {
      const end = script.indexOf(`\n${here.end}\n`.slice(0, -1), start);
      const text = script.slice(start + 1, end);
      here.command.redirections.push({ operator: '<<<', target: [{ text, isQuoted: true }] });
      TOKEN.lastIndex = end + here.end.length + 1;
      here = undefined;
    }
    if (operator === '|') {
      command = newCommand();
      pipeline.commands.push(command);
    } else if (operator) {
      command = newCommand();
      pipeline = { after: operator === '\n' ? ';' : (operator as Pipeline['after']), commands: [command] };
      pipelines.push(pipeline);
    } else if (opened?.includes('&')) command.redirections.push({ operator: opened, target: [] });
    else if (begun) here = { end: begun.slice(3, -1), command };
    else if (opened) redirection = opened;
    else if (word) {
      const parts = parseWord(word);
      const [, name, value = ''] = /^([A-Za-z_]\w*)=([^]*)$/.exec(word) ?? [];
      if (redirection) command.redirections.push({ operator: redirection, target: parts });
      else if (name && !command.words.length) command.assignments.push([name, parseWord(value)]);
      else command.words.push(parts);
      redirection = undefined;
    }
  }
  return pipelines.filter(({ commands }) =>
    commands.some(({ words, assignments }) => words.length || assignments.length),
  );
}

const newCommand = (): Command => ({ assignments: [], words: [], redirections: [] });

const parseWord = (word: string): Part[] =>
  [...word.matchAll(PART)].flatMap(({ groups }) => {
    const { quoted, variable, bare = '' } = groups ?? {};
    if (variable) return parseVariable(variable, false);
    if (quoted?.startsWith("'")) return { text: quoted.slice(1, -1), isQuoted: true };
    if (quoted) return parseDoubleQuoted(quoted.slice(1, -1));
    return {
      text: bare.replace(/\\([^])/g, '$1'),
      isQuoted: true,
      isGlob: /[*?]|\[.*\]/.test(bare.replace(/\\[^]/g, '')),
    };
  });

const parseVariable = (text: string, isQuoted: boolean): Part => ({
  variable: text.replace(/^\$\{?|\}$/g, ''),
  isQuoted,
});

const parseDoubleQuoted = (text: string): Part[] => [
  { text: '', isQuoted: true }, // a word even if there is nothing in the quotes
  ...Array.from(text.matchAll(IN_QUOTES), ([part]) =>
    part.startsWith('$')
      ? parseVariable(part, true)
      : { text: part.replace(/\\\n/g, '').replace(/\\([\\"$`])/g, '$1'), isQuoted: true },
  ),
];
