/*! Completion: a script for each shell asks the program, which knows its options, what the user may type next. */
import type { OperandType, OptionSpec, OptionSpecs } from './program.js';

/** The first argument if a script asks. Older versions, and other programs of the same name, reject it as an unknown option. */
export const COMPLETE = '--complete';

/** An option as it can be typed: `--output`, `-o`. */
export const formatFlag = (option: string): string => (option.length > 1 ? `--${option}` : `-${option}`);

export const flagsOf = (option: string, { alias = [] }: OptionSpec): string[] =>
  [option, ...[alias].flat()].map(formatFlag);

/**
 * What may replace the last argument: words, each with a tab and a description if it has one. `:instances` and `:files` stand for the names
 * of instances and files, which the script adds.
 */
export function listCompletions(given: readonly string[], specs: OptionSpecs, types: readonly OperandType[]): string[] {
  // bash splits `--via=auto` into three words.
  const words = given.flatMap((word, i) => (word !== '=' ? word : i === given.length - 1 ? '' : []));
  const last = words.at(-1) ?? '';
  const [start, name = words.at(-2) ?? ''] = /^(--[^=]+)=/.exec(last) ?? [''];
  const options = words.slice(0, -1).includes('--') ? [] : Object.entries(specs);
  const [, spec] = options.find(([option, each]) => flagsOf(option, each).includes(name)) ?? [];
  const values = spec && listValues(spec, last.slice(start.length));
  if (values) return values;
  if (options.length === 0 || !last.startsWith('-')) return types.map(type => `:${type}`);
  return options.flatMap(([option, each]) => flagsOf(option, each).map(flag => `${flag}\t${each.describe}`));
}

/** What may replace a value; undefined for an option without one. In a list, only the last word is replaced. */
function listValues({ type, array, choices, completions }: OptionSpec, typed: string): string[] | undefined {
  if (completions === 'instances') return [':instances'];
  const kept = array ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
  const words = completions ?? choices?.map(String);
  if (words) return words.map(word => kept + word);
  return type === 'number' ? [] : type === 'string' ? [':files'] : undefined;
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
