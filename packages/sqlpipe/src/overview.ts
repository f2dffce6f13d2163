/*! What `sqlpipe` prints itself: its help, its version, its completion, and the error for an unknown program. */
import { runProgram, UsageError, type World } from '@sqlpipe/cli';
import { suggestWord } from '@sqlpipe/text';
import { COMPLETION_WRITERS } from './completion-loader.js';
import { OWN_COMMANDS, PROGRAMS } from './programs.js';

const commands = [
  ...PROGRAMS.map(({ command, summary }) => [command, summary] as const),
  ...Object.entries(OWN_COMMANDS),
];
const names = commands.map(([name]) => name);

/** The program. The options after an unknown program's name belong to that program. */
export const main = (world: World): Promise<number> => {
  const [word = ''] = world.args;
  return runProgram(
    {
      name: 'sqlpipe',
      operands: '<program> [argument..]',
      summary: `Starts one of these programs:

${commands.map(([name, summary]) => `  ${name.padEnd(12)}${summary}`).join('\n')}`,
      examples: [
        ['sqlpipe dump http://localhost:9000 | sqlpipe apply http://other:9000', 'copy a schema'],
        ['sqlpipe diff --help', 'print the options of a program'],
        ['sqlpipe check localhost:9000', 'check an instance'],
      ],
      completions: COMPLETION_WRITERS,
      options: {},
      run: () => {
        throw new UsageError(`unknown program: ${word}; there are ${names.join(', ')}${suggestWord(word, names)}`);
      },
    },
    { ...world, args: word && !word.startsWith('-') ? [word] : world.args },
  );
};
