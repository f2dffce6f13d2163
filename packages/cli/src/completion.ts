/*! Completion: a script for each shell asks the program, which knows its options, what the user may type next. */

export interface Flag {
  names: string[];
  describe: string;
  /** The type of its value, if it has one: one of several words, or a list of them separated by commas; `text` may be a file. */
  value?: readonly string[] | { list: readonly string[] } | 'number' | 'instance' | 'text';
}

export type OperandType = 'instances' | 'files';

/** The first argument if a script asks. Older versions, and other programs of the same name, reject it as an unknown option. */
export const COMPLETE = '--complete';

/**
 * What may replace the last argument: words, each with a tab and a description if it has one. `:instances` and `:files` stand for the names
 * of instances and files, which the script adds.
 */
export function listOffers(
  given: readonly string[],
  flags: readonly Flag[],
  operands: readonly OperandType[],
): string[] {
  // bash splits `--via=auto` into three words.
  const words = given.flatMap((word, i) => (word !== '=' ? word : i === given.length - 1 ? '' : []));
  const last = words.at(-1) ?? '';
  const [start, option = words.at(-2)] = /^(--[^=]+)=/.exec(last) ?? [''];
  const isOperand = words.slice(0, -1).includes('--');
  const flag = isOperand ? undefined : flags.find(({ names, value }) => value && names.includes(option ?? ''));
  if (flag?.value) return listValues(flag.value, last.slice(start.length));
  if (isOperand || !last.startsWith('-')) return operands.map(type => `:${type}`);
  return flags.flatMap(({ names, describe }) => names.map(name => `${name}\t${describe}`));
}

/** In a list, the last word is completed, and the words before it are kept. */
function listValues(value: NonNullable<Flag['value']>, typed: string): string[] {
  if (typeof value === 'string') return { number: [], instance: [':instances'], text: [':files'] }[value];
  return 'list' in value ? value.list.map(word => typed.slice(0, typed.lastIndexOf(',') + 1) + word) : [...value];
}

const LIST_INSTANCES = 'sqldump --list-instances 2>/dev/null';

/** Very old versions of bash have no `compopt`; they do not complete files. */
const bash = (name: string, commands: string): string =>
  `# bash completion for ${name}; source it, or put it into bash-completion's folder under the name ${name}
_${name}() {
  local IFS=$'\\n' word=\${COMP_WORDS[COMP_CWORD]} offers
  [[ $word == '=' ]] && word=
  offers=$("\${COMP_WORDS[0]##*/}" ${COMPLETE} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null </dev/null)
  [[ $offers == *:instances* ]] && offers+=$'\\n'$(${LIST_INSTANCES})
  COMPREPLY=($(compgen -W "$(cut -f1 <<< "$offers" | grep -v '^:')" -- "$word"))
  [[ $offers == *:files* ]] && compopt -o default 2>/dev/null
}
complete -F _${name} ${commands}
`;

/** If zsh loads the script from `$fpath`, it completes at once; if it is sourced, it registers itself. */
const zsh = (name: string, commands: string): string => `#compdef ${name}
# zsh completion for ${name}; source it, or put it into a folder of $fpath under the name _${name}
_${name}() {
  local -a offers=("\${(@f)$($service ${COMPLETE} "\${(@Q)words[2,CURRENT]}" 2>/dev/null </dev/null)}")
  (( $offers[(Ie):instances] )) && offers+=("\${(@f)$(${LIST_INSTANCES})}")
  compset -P '--*='
  (( $offers[(Ie):files] )) && _files
  offers=(\${(M)offers:#[^:]*})
  offers=(\${offers//:/\\\\:})
  offers=(\${offers/$'\\t'/:})
  _describe ${name} offers
  (( compstate[nmatches] ))
}
if [[ \${funcstack[1]} == _${name} ]]; then
  _${name} "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
  compdef _${name} ${commands}
fi
`;

const fish = (name: string, commands: string): string =>
  `# fish completion for ${name}; source it, or put it into ~/.config/fish/completions/${name}.fish
function __${name}_complete
    set -l words (commandline -opc)[2..]
    set -l word (commandline -ct)
    set -l start (string match -r -- '^--[^=]+=' "$word"; or echo)
    for offer in (command $argv[1] ${COMPLETE} $words "$word" 2>/dev/null </dev/null)
        switch $offer
            case :files
                printf '%s\\n' $start(__fish_complete_path (string replace -- "$start" '' "$word"))
            case :instances
                printf '%s\\n' $start(${LIST_INSTANCES})
            case '*'
                printf '%s\\n' $start$offer
        end
    end
end
${commands
  .split(' ')
  .map(command => `complete -c ${command} -f -a '(__${name}_complete ${command})'`)
  .join('\n')}
`;

/** The scripts by shell. @param name of the function in the script @param commands separated by blanks; the script completes them all */
export const SCRIPTS: Readonly<Record<string, (name: string, commands: string) => string>> = { bash, zsh, fish };
