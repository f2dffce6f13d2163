import { type Completable, type Flag, INSTANCES } from './completable.js';

/** A script for zsh, to be sourced or to be found in `$fpath` as `_NAME`. */
export function zsh({ name, flags, operands }: Completable): string {
  return `#compdef ${name}
# zsh completion for ${name}; source it, or put it into a folder of $fpath under the name _${name}
_${name}_instances() {
  local -a instances=(\${(f)"$(${INSTANCES})"})
  instances=(\${instances//:/\\\\:})
  instances=(\${instances/$'\\t'/:})
  _describe instance instances
}
_${name}() {
  _arguments -s -S \\
${[...flags.map(flag), ...operand(name, operands)].map(line => `    ${line}`).join(' \\\n')}
}
if [[ \${funcstack[1]} == _${name} ]]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

const VALUES = { number: ':value:', text: ':value:_files' };

/** `'*'{--output=,-o+}'[write this file]:value:_files'` */
function flag({ names, describe, value }: Flag): string {
  const values = Array.isArray(value) ? `:value:(${value.join(' ')})` : value ? VALUES[value] : '';
  const text = quoted(`[${describe.replace(/[[\]:\\]/g, '\\$&')}]${values ?? ''}`);
  const spelled = names.map(name => (value ? name + (name.startsWith('--') ? '=' : '+') : name));
  return names.length > 1 ? `'*'{${spelled.join(',')}}${text}` : `'*'${spelled.join('')}${text}`;
}

function operand(name: string, operands: Completable['operands']): string[] {
  const ways = [...(operands.includes('instances') ? [`instances:instance:_${name}_instances`] : [])];
  if (operands.includes('files')) ways.push('files:file:_files');
  if (ways.length > 1) return [`'*:operand: _alternative ${ways.map(way => `"${way}"`).join(' ')}'`];
  return ways.map(way => `'*${way.slice(way.indexOf(':'))}'`);
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
