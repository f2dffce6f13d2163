import { type CompletionSpec, type Flag, LIST_INSTANCES_COMMAND } from './completion-spec.js';

/** A script for zsh, to be sourced or to be found in `$fpath` as `_NAME`. */
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
${[...flags.map(each => flag(name, each)), ...operand(name, operands)].map(line => `    ${line}`).join(' \\\n')}
}
${zshBootstrap(name, `compdef _${name} ${name}`)}`;
}

/**
 * The end of a script: it completes at once where zsh has found it in `$fpath`, and else has zsh call it. Whoever has not set
 * up completion gets it: without there is no `compdef`.
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
function flag(program: string, { names, describe, value }: Flag): string {
  const text = quoted(`[${describe.replace(/[[\]:\\]/g, '\\$&')}]${valuesOf(program, value)}`);
  const spelled = names.map(name => (value ? name + (name.startsWith('--') ? '=' : '+') : name));
  return names.length > 1 ? `'*'{${spelled.join(',')}}${text}` : `'*'${spelled.join('')}${text}`;
}

function operand(name: string, operands: CompletionSpec['operands']): string[] {
  const ways = [...(operands.includes('instances') ? [`instances:instance:_${name}_instances`] : [])];
  if (operands.includes('files')) ways.push('files:file:_files');
  if (ways.length > 1) return [`'*:operand: _alternative ${ways.map(way => `"${way}"`).join(' ')}'`];
  return ways.map(way => `'*${way.slice(way.indexOf(':'))}'`);
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
