/*! Completion scripts for shells. A script is written once; when it runs, it asks a program only for names of instances. */

export interface Flag {
  names: string[];
  describe: string;
  /** The type of its value, if it has one: one of several words, or a list of them separated by commas; `text` may be a file. */
  value?: readonly string[] | { list: readonly string[] } | 'number' | 'instance' | 'text';
}

export type OperandType = 'instances' | 'files';

/** A program, as far as its completion script needs it. */
export interface CompletionSpec {
  /** `sqldump`; `sqlpipe_copy` for `sqlpipe copy`. */
  name: string;
  flags: Flag[];
  operands: readonly OperandType[];
}

const LIST_INSTANCES_COMMAND = 'sqldump --list-instances 2>/dev/null';

/** Writes a script for bash. Very old versions have no `compopt`; they do not complete files. */
function bash({ name, flags, operands }: CompletionSpec): string {
  const reply = (words: string) => `COMPREPLY=($(compgen -W ${words} -- "$word"))`;
  const instances = `IFS=$'\\n'; ${reply(`"$(${LIST_INSTANCES_COMMAND} | cut -f1)"`)}`;
  /** In a list, the last word is completed and the words before it are kept. */
  const choices = (value: readonly string[] | { list: readonly string[] }) =>
    'list' in value
      ? `COMPREPLY=($(compgen -P "\${word%"\${word##*,}"}" -W '${value.list.join(' ')}' -- "\${word##*,}"))`
      : reply(`'${value.join(' ')}'`);
  const files = 'compopt -o default 2>/dev/null';
  const texts = flags.filter(({ value }) => value === 'text').flatMap(({ names }) => names);
  const numbers = flags.filter(({ value }) => value === 'number').flatMap(({ names }) => names);
  const values = flags.flatMap(({ names, value }) => {
    const offer = value && typeof value !== 'string' ? choices(value) : value === 'instance' ? instances : undefined;
    return offer ? `    ${names.join(' | ')}) ${offer}; return ;;` : [];
  });
  if (texts.length) values.push(`    ${texts.join(' | ')}) ${files}; return ;;`);
  if (numbers.length) values.push(`    ${numbers.join(' | ')}) return ;;`);
  return `# bash completion for ${name}; source it, or put it into bash-completion's folder under the name ${name}
_${name}() {
  local IFS=$' \\t\\n' word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]}
  [[ $word == '=' ]] && word=
  [[ $before == '=' ]] && before=\${COMP_WORDS[COMP_CWORD - 2]}
  COMPREPLY=()
  case $before in
${values.join('\n')}
  esac
  if [[ $word == -* ]]; then
    ${reply(`'${flags.flatMap(({ names }) => names).join(' ')}'`)}
    return
  fi
${operands.includes('instances') ? `  ${instances}\n` : ''}${operands.includes('files') ? `  ${files}\n` : ''}}
complete -F _${name} ${name}
`;
}

function zsh({ name, flags, operands }: CompletionSpec): string {
  return `#compdef ${name}
# zsh completion for ${name}; source it, or put it into a folder of $fpath under the name _${name}
_${name}_instances() {
  local -a instances=(\${(f)"$(${LIST_INSTANCES_COMMAND})"})
  instances=(\${instances//:/\\\\:})
  instances=(\${instances/$'\\t'/:})
  _describe instance instances
}
_${name}() {
  _arguments -s -S \\
${[...flags.map(each => zshFlag(name, each)), ...formatOperands(name, operands)].map(line => `    ${line}`).join(' \\\n')}
}
${zshBootstrap(name, `compdef _${name} ${name}`)}`;
}

/** The end of a script. If zsh loads the script from `$fpath`, it completes at once; if it is sourced, it registers itself. */
export const zshBootstrap = (name: string, register: string): string => `if [[ \${funcstack[1]} == _${name} ]]; then
  _${name} "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
  ${register}
fi
`;

function zshValues(name: string, value: Flag['value']): string {
  if (!value) return '';
  if (value === 'number') return ':value:';
  if (value === 'text') return ':value:_files';
  if (value === 'instance') return `:instance:_${name}_instances`;
  return 'list' in value ? `:value:_values -s , value ${value.list.join(' ')}` : `:value:(${value.join(' ')})`;
}

/** `'*'{--output=,-o+}'[write this file]:value:_files'` */
function zshFlag(program: string, { names, describe, value }: Flag): string {
  const text = `[${describe.replace(/[[\]:\\]/g, '\\$&')}]${zshValues(program, value)}`.replaceAll("'", "'\\''");
  const spelled = names.map(name => (value ? name + (name.startsWith('--') ? '=' : '+') : name));
  return names.length > 1 ? `'*'{${spelled.join(',')}}'${text}'` : `'*'${spelled.join('')}'${text}'`;
}

function formatOperands(name: string, operands: CompletionSpec['operands']): string[] {
  const alternatives = [...(operands.includes('instances') ? [`instances:instance:_${name}_instances`] : [])];
  if (operands.includes('files')) alternatives.push('files:file:_files');
  if (alternatives.length > 1) return [`'*:operand: _alternative ${alternatives.map(way => `"${way}"`).join(' ')}'`];
  return alternatives.map(way => `'*${way.slice(way.indexOf(':'))}'`);
}

function fish({ name, flags, operands }: CompletionSpec): string {
  const complete = `complete -c ${name}`;
  const lines = flags.map(flag => `${complete} ${fishFlag(flag)}`);
  if (operands.includes('instances')) lines.push(`${complete} -a '(${LIST_INSTANCES_COMMAND})'`);
  if (!operands.includes('files')) lines.push(`${complete} -f`);
  return `# fish completion for ${name}; source it, or put it into ~/.config/fish/completions/${name}.fish\n${lines.join('\n')}\n`;
}

const FISH_VALUES = { number: ' -x', instance: ` -x -a '(${LIST_INSTANCES_COMMAND})'`, text: ' -r -F' };

function fishValues(value: Flag['value']): string {
  if (!value) return '';
  if (typeof value === 'string') return FISH_VALUES[value];
  return ` -x -a '${'list' in value ? `(__fish_append , ${value.list.join(' ')})` : value.join(' ')}'`;
}

/** Writes an option for `complete -c NAME` of fish. */
export function fishFlag({ names, describe, value }: Flag): string {
  const spelled = names.map(name => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(' ');
  return `${spelled}${fishValues(value)} -d '${describe.replace(/['\\]/g, '\\$&')}'`;
}

export const COMPLETIONS: Record<string, (program: CompletionSpec) => string> = { bash, zsh, fish };
