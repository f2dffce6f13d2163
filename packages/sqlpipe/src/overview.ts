/*! What `sqlpipe` prints itself: its help, its version, its completion, and the error for an unknown program. */
import { type CompletionSpec, fishFlag, type ProcessLike, runProgram, UsageError, zshBootstrap } from '@sqlpipe/cli';
import { suggestWord } from '@sqlpipe/text';
import { OWN_COMMANDS, OWN_PROGRAMS, PROGRAMS } from './programs.js';

const COMMANDS = [
  ...PROGRAMS.map(({ command, summary }) => [command, summary] as const),
  ...Object.entries(OWN_COMMANDS),
];
const NAMES = COMMANDS.map(([name]) => name);

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
      completions: COMPLETION_WRITERS,
      options: {},
      run: () => {
        throw new UsageError(`unknown program: ${word}; there are ${NAMES.join(', ')}${suggestWord(word, NAMES)}`);
      },
    },
    { ...host, args: word && !word.startsWith('-') ? [word] : host.args },
  );
};

const PROGRAM_NAMES = PROGRAMS.map(({ name }) => name).join(' ');
const OWN_NAMES = Object.keys(OWN_PROGRAMS);
/** The commands with options: each has a script, whose functions are named `sqldump` or `sqlpipe_copy`. */
const WITH_OPTIONS = [...PROGRAMS.map(({ command }) => command), ...OWN_NAMES];
const flagsOf = ({ flags }: CompletionSpec) => flags.flatMap(({ names }) => names).join(' ');

/** bash repeats a completion that returns 124. */
const bash = (
  self: CompletionSpec,
) => `# bash completion for sqlpipe; source it: it completes all programs of the family
_sqlpipe_load() { source <(sqlpipe "\${1#sql}" --completion bash) && return 124; }
_sqlpipe() {
  local word=\${COMP_WORDS[COMP_CWORD]} command=\${COMP_WORDS[1]}
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    COMPREPLY=($(compgen -W '${NAMES.join(' ')} ${flagsOf(self)}' -- "$word"))
    [[ $word == -* ]] || COMPREPLY=(\${COMPREPLY[@]/#-*})
    return
  fi
  local name=sql$command
  case $command in ${OWN_NAMES.join(' | ')}) name=sqlpipe_$command ;; esac
  case $command in
    ${WITH_OPTIONS.join(' | ')})
      declare -F "_$name" > /dev/null || source <(sqlpipe "$command" --completion bash)
      local COMP_WORDS=("$name" "\${COMP_WORDS[@]:2}") COMP_CWORD=$((COMP_CWORD - 1))
      "_$name" ;;
    completion) COMPREPLY=($(compgen -W 'bash fish zsh' -- "$word")) ;;
    help) COMPREPLY=($(compgen -W '${WITH_OPTIONS.join(' ')}' -- "$word")) ;;
  esac
}
complete -F _sqlpipe sqlpipe
complete -F _sqlpipe_load ${PROGRAM_NAMES}
`;

const zsh = (self: CompletionSpec) => `#compdef sqlpipe
# zsh completion for sqlpipe; source it: it completes all programs of the family
_sqlpipe_load() {
  source <(sqlpipe "\${\${service#sql}#pipe_}" --completion zsh)
  _$service "$@"
}
_sqlpipe() {
  local -a commands=(
${COMMANDS.map(([name, summary]) => `    '${name}:${summary}'`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    if [[ $PREFIX == -* ]]; then compadd -- ${flagsOf(self)}; else _describe program commands; fi
    return
  fi
  case $words[2] in
    ${WITH_OPTIONS.join('|')})
      local service=sql$words[2]
      case $words[2] in ${OWN_NAMES.join('|')}) service=sqlpipe_$words[2] ;; esac
      words=($service "\${(@)words[3,-1]}")
      (( CURRENT-- ))
      if (( $+functions[_$service] )); then _$service; else _sqlpipe_load; fi ;;
    completion) compadd bash fish zsh ;;
    help) compadd ${WITH_OPTIONS.join(' ')} ;;
  esac
}
${zshBootstrap('sqlpipe', `compdef _sqlpipe sqlpipe\n  compdef _sqlpipe_load ${PROGRAM_NAMES}`)}`;

const fish = ({
  flags,
}: CompletionSpec) => `# fish completion for sqlpipe; source it: it completes all programs of the family
function __sqlpipe_load
    complete -c sql$argv[1] -e
    sqlpipe $argv[1] --completion fish | source
end
function __sqlpipe_program
    set -l words (commandline -opc)
    set -q __sqlpipe_loaded_$words[2]; or __sqlpipe_load $words[2]
    set -g __sqlpipe_loaded_$words[2]
    set -l name sql$words[2]
    contains $words[2] ${OWN_NAMES.join(' ')}; and set name sqlpipe_$words[2]
    complete -C "$name $words[3..] "(commandline -ct)
end
function __sqlpipe_first
    set -l words (commandline -opc)
    __sqlpipe_load (string sub -s 4 $words[1])
    complete -C (commandline -cp)
end
complete -c sqlpipe -f
${COMMANDS.map(([name, summary]) => `complete -c sqlpipe -n __fish_use_subcommand -a ${name} -d '${summary}'`).join(
  '\n',
)}
${flags.map(flag => `complete -c sqlpipe -n __fish_use_subcommand ${fishFlag(flag)}`).join('\n')}
complete -c sqlpipe -n '__fish_seen_subcommand_from ${WITH_OPTIONS.join(' ')}' -a '(__sqlpipe_program)'
complete -c sqlpipe -n '__fish_seen_subcommand_from completion' -a 'bash fish zsh'
complete -c sqlpipe -n '__fish_seen_subcommand_from help' -a '${WITH_OPTIONS.join(' ')}'
${PROGRAMS.map(({ name }) => `complete -c ${name} -a '(__sqlpipe_first)'`).join('\n')}
`;

const COMPLETION_WRITERS = { bash, zsh, fish };
