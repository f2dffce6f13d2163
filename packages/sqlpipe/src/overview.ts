/*! What `sqlpipe` prints itself: its help, its version, its completion, and the error for an unknown program. */
import { type ProcessLike, runProgram, SCRIPTS, UsageError } from '@sqlpipe/cli';
import { formatSuggestion } from '@sqlpipe/text';
import { OWN_PROGRAMS, PROGRAMS } from './programs.js';

const COMMANDS_WITH_HELP = [...PROGRAMS, ...OWN_PROGRAMS];
const COMMANDS = [
  ...COMMANDS_WITH_HELP,
  { command: 'completion', summary: 'print a shell completion script for all programs' },
  { command: 'help', summary: 'print the options of a program' },
];
const NAMES = COMMANDS.map(({ command }) => command);

/** The program. The options after an unknown program's name belong to that program. */
export const main = (host: ProcessLike): Promise<number> => {
  const [word = ''] = host.args;
  return runProgram(
    {
      name: 'sqlpipe',
      operands: '<program> [argument..]',
      summary: `Starts one of these programs:

${COMMANDS.map(({ command, summary }) => `  ${command.padEnd(12)}${summary}`).join('\n')}`,
      examples: [
        ['sqlpipe dump http://localhost:9000 | sqlpipe apply http://other:9000', 'copy a schema'],
        ['sqlpipe diff --help', 'print the options of a program'],
        ['sqlpipe check localhost:9000', 'check an instance'],
      ],
      completedCommands: ['sqlpipe', ...PROGRAMS.map(({ name }) => name)].join(' '),
      completions: () => listCommands(host.args.slice(1)),
      options: {},
      run: () => {
        throw new UsageError(`unknown program: ${word}; there are ${NAMES.join(', ')}${formatSuggestion(word, NAMES)}`);
      },
    },
    { ...host, args: word && !word.startsWith('-') ? [word] : host.args },
  );
};

/** What may replace the last argument; undefined for the options of sqlpipe itself. The programs complete their own arguments. */
function listCommands([word = '', second]: readonly string[]): string[] | undefined {
  if (word.startsWith('-')) return undefined;
  if (second === undefined) return COMMANDS.map(({ command, summary }) => `${command}\t${summary}`);
  if (word === 'completion') return Object.keys(SCRIPTS);
  return word === 'help' ? COMMANDS_WITH_HELP.map(({ command }) => command) : [];
}
