import { type CompletionSpec, type Flag, LIST_INSTANCES_COMMAND } from './completion-spec.js';

/** Writes a script for zsh, which can be sourced, or stored in a folder of `$fpath` as `_NAME`. */
export function zsh({ name, flags, operands }: CompletionSpec): string {
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
${[...flags.map(each => formatFlag(name, each)), ...formatOperands(name, operands)].map(line => `    ${line}`).join(' \\\n')}
}
${zshBootstrap(name, `compdef _${name} ${name}`)}`;
}

/**
 * The end of a script. If zsh has loaded the script from `$fpath`, it completes at once; if the script was sourced, it
 * registers itself. It initializes completion if the user has not done so, because otherwise `compdef` does not exist.
 */
export const zshBootstrap = (name: string, register: string): string => `if [[ \${funcstack[1]} == _${name} ]]; then
  _${name} "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
  ${register}
fi
`;

function valuesOf(name: string, value: Flag['value']): string {
  if (!value) return '';
  if (value === 'number') return ':value:';
  if (value === 'text') return ':value:_files';
  if (value === 'instance') return `:instance:_${name}_instances`;
  return 'list' in value ? `:value:_values -s , value ${value.list.join(' ')}` : `:value:(${value.join(' ')})`;
}

/** `'*'{--output=,-o+}'[write this file]:value:_files'` */
function formatFlag(program: string, { names, describe, value }: Flag): string {
  const text = quote(`[${describe.replace(/[[\]:\\]/g, '\\$&')}]${valuesOf(program, value)}`);
  const spelled = names.map(name => (value ? name + (name.startsWith('--') ? '=' : '+') : name));
  return names.length > 1 ? `'*'{${spelled.join(',')}}${text}` : `'*'${spelled.join('')}${text}`;
}

function formatOperands(name: string, operands: CompletionSpec['operands']): string[] {
  const alternatives = [...(operands.includes('instances') ? [`instances:instance:_${name}_instances`] : [])];
  if (operands.includes('files')) alternatives.push('files:file:_files');
  if (alternatives.length > 1) return [`'*:operand: _alternative ${alternatives.map(way => `"${way}"`).join(' ')}'`];
  return alternatives.map(way => `'*${way.slice(way.indexOf(':'))}'`);
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
