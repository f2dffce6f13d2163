import { type CompletionSpec, LIST_INSTANCES_COMMAND } from './completion-spec.js';

/** Writes a script for bash. Very old versions have no `compopt`; they do not complete files. */
export function bash({ name, flags, operands }: CompletionSpec): string {
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
