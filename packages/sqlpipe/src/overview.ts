/*! What `sqlpipe` prints itself: its help, its version, its completion, and the error for an unknown program. */
import { type ProcessLike, runProgram, SCRIPTS, UsageError } from '@sqlpipe/cli';
import { suggestWord } from '@sqlpipe/text';
import { OWN_COMMANDS, OWN_PROGRAMS, PROGRAMS } from './programs.js';

const COMMANDS = [
  ...PROGRAMS.map(({ command, summary }) => [command, summary] as const),
  ...Object.entries(OWN_COMMANDS),
];
const NAMES = COMMANDS.map(([name]) => name);
const COMMANDS_WITH_HELP = [...PROGRAMS.map(({ command }) => command), ...Object.keys(OWN_PROGRAMS)];

/** The program. The options after an unknown program's name belong to that program. */
export const main = (host: ProcessLike): Promise<number> => {
  const [word = ''] = host.args;
  return runProgram(
    {
      name: 'sqlpipe',
      operands: '<program> [argument..]',
      summary: `Starts one of these programs:

${COMMANDS.map(([name, summary]) => `  ${name.padEnd(12)}${summary}`).join('\n')}`,
      examples: [
        ['sqlpipe dump http://localhost:9000 | sqlpipe apply http://other:9000', 'copy a schema'],
        ['sqlpipe diff --help', 'print the options of a program'],
        ['sqlpipe check localhost:9000', 'check an instance'],
      ],
      completedCommands: ['sqlpipe', ...PROGRAMS.map(({ name }) => name)].join(' '),
      offers: () => listOffers(host.args.slice(1)),
      options: {},
      run: () => {
        throw new UsageError(`unknown program: ${word}; there are ${NAMES.join(', ')}${suggestWord(word, NAMES)}`);
      },
    },
    { ...host, args: word && !word.startsWith('-') ? [word] : host.args },
  );
};

/** What may replace the last argument; undefined for the options of sqlpipe itself. The programs complete their own arguments. */
function listOffers([word = '', second]: readonly string[]): string[] | undefined {
  if (word.startsWith('-')) return undefined;
  if (second === undefined) return COMMANDS.map(([name, summary]) => `${name}\t${summary}`);
  if (word === 'completion') return Object.keys(SCRIPTS);
  return word === 'help' ? COMMANDS_WITH_HELP : [];
}
