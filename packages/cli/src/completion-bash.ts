import { type Completable, INSTANCES } from './completable.js';

/** A script for bash. `compopt` is missing in very old ones, which then complete no files. */
export function bash({ name, flags, operands }: Completable): string {
  const reply = (words: string) => `COMPREPLY=($(compgen -W ${words} -- "$word"))`;
  const files = 'compopt -o default 2>/dev/null';
  const texts = flags.filter(({ value }) => value === 'text').flatMap(({ names }) => names);
  const numbers = flags.filter(({ value }) => value === 'number').flatMap(({ names }) => names);
  const values = flags.flatMap(({ names, value }) =>
    Array.isArray(value) ? `    ${names.join(' | ')}) ${reply(`'${value.join(' ')}'`)}; return ;;` : [],
  );
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
${operands.includes('instances') ? `  IFS=$'\\n'\n  ${reply(`"$(${INSTANCES} | cut -f1)"`)}\n` : ''}${
  operands.includes('files') ? `  ${files}\n` : ''
}}
complete -F _${name} ${name}
`;
}
