import { type CompletionSpec, type Flag, LIST_INSTANCES_COMMAND } from './completion-spec.js';

/** Writes a script for fish, which can be sourced, or stored in its folder of completions. */
export function fish({ name, flags, operands }: CompletionSpec): string {
  const complete = `complete -c ${name}`;
  const lines = flags.map(flag => `${complete} ${formatFlag(flag)}`);
  if (operands.includes('instances')) lines.push(`${complete} -a '(${LIST_INSTANCES_COMMAND})'`);
  if (!operands.includes('files')) lines.push(`${complete} -f`);
  return `# fish completion for ${name}; source it, or put it into ~/.config/fish/completions/${name}.fish\n${lines.join('\n')}\n`;
}

const VALUES = { number: ' -x', instance: ` -x -a '(${LIST_INSTANCES_COMMAND})'`, text: ' -r -F' };

function valuesOf(value: Flag['value']): string {
  if (!value) return '';
  if (typeof value === 'string') return VALUES[value];
  return ` -x -a '${'list' in value ? `(__fish_append , ${value.list.join(' ')})` : value.join(' ')}'`;
}

function formatFlag({ names, describe, value }: Flag): string {
  const spelled = names.map(name => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(' ');
  return `${spelled}${valuesOf(value)} -d '${describe.replace(/['\\]/g, '\\$&')}'`;
}
