import { scenarioNames } from '../../simulator/scenarios/scenario.ts';
import { commandFlags, commandWords } from '../../src/commands/command-table.ts';
import { toHelp } from '../../src/config/show/help.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';

/** A flag as a shell completes it: `--config.file=`, or without `=` for a switch. */
type Flag = {
  readonly name: string;
  readonly help: string;
  readonly commands: readonly string[] | undefined;
  /** All possible values, if known. */
  readonly words: readonly string[];
};

function listFlags(): readonly Flag[] {
  const own = commandFlags.map(({ name, placeholder, help, commands }) => ({
    name: `--${name}${placeholder === undefined ? '' : '='}`,
    help,
    commands,
    words: closedSets[name] ?? toWords(placeholder),
  }));
  const options = toHelp(collectors).flatMap(({ flag, help }) => {
    const [, negated, name = '', value] = /^--(\[no-\])?([^=]+)(=.*)?$/.exec(flag ?? '') ?? [];
    if (name === '') return [];
    const names =
      negated === undefined ? [`--${name}${value === undefined ? '' : '='}`] : [`--${name}`, `--no-${name}`];
    return names.map((found) => ({ name: found, help, commands: undefined, words: toWords(value?.slice(1)) }));
  });
  return [...own, ...options];
}

/** The possible values of flags whose help describes the values in words only. */
const closedSets: Readonly<Record<string, readonly string[]>> = {
  scenario: scenarioNames,
  dialect: ['rundeck', 'service'],
};

/** All words that may follow a command, if known. */
const followers = commandWords.flatMap(({ name, usage }) => {
  const words = toWords(usage?.split(' ')[0]);
  return words.length === 0 ? [] : [{ name, words: words.join(' ') }];
});

function toWords(value = ''): readonly string[] {
  return /^[\w-]+(\|[\w-]+)+$/.test(value) ? value.split('|') : [];
}

/** Renders the completion for bash: commands, flags, known words and files. */
export function renderBashCompletion(): string {
  const flags = listFlags();
  const general = flags.filter(({ commands }) => commands === undefined).map(({ name }) => name);
  const own = commandWords.flatMap(({ name }) => {
    const known = flags.filter(({ commands }) => commands?.includes(name)).map((flag) => flag.name);
    return known.length === 0 ? [] : [`    ${name}) flags="$flags ${known.join(' ')}" ;;`];
  });
  const commands = commandWords.map(({ name }) => name);
  const closed = flags.flatMap(({ name, words }) =>
    words.length === 0
      ? []
      : [`    ${name.slice(0, -1)}) COMPREPLY=($(compgen -W '${words.join(' ')}' -- "$current")) ;;`],
  );
  return `# bash completion for automation-exporter
_automation_exporter() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command='' word
  COMPREPLY=()
  local flag=''
  [[ $previous == '=' ]] && flag=\${COMP_WORDS[COMP_CWORD - 2]}
  [[ $current == '=' ]] && flag=$previous && current=''
  if [[ -n $flag ]]; then
    # Of any other flag: bash falls back to files.
    case $flag in
${closed.join('\n')}
    esac
    return
  fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in
    ${commands.join(' | ')}) command=$word && break ;;
    esac
  done
  if [[ $current != -* ]]; then
    case $command in
    '') COMPREPLY=($(compgen -W '${commands.join(' ')}' -- "$current")) ;;
${followers.map(({ name, words }) => `    ${name}) [[ $previous == ${name} ]] && COMPREPLY=($(compgen -W '${words}' -- "$current")) ;;`).join('\n')}
    esac
    return 0
  fi
  local flags='${general.join(' ')}'
  case $command in
${own.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$flags" -- "$current"))
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o default -F _automation_exporter automation-exporter
`;
}

/** Renders the completion for zsh, which shows the help beside each flag. */
export function renderZshCompletion(): string {
  const commands = commandWords.map(({ name, help }) => `    ${quote(`${name}:${help.replaceAll(':', '\\:')}`)}`);
  const flags = listFlags().map(({ name, help, words }) => {
    const values = words.length === 0 ? '_files' : `(${words.join(' ')})`;
    const value = name.endsWith('=') ? `:value:${values}` : '';
    return `    ${quote(`${name}[${help.replaceAll(/[[\]:\\]/g, '\\$&')}]${value}`)}`;
  });
  return `#compdef automation-exporter
# zsh completion for automation-exporter
_automation_exporter() {
  local -a commands flags
  commands=(
${commands.join('\n')}
  )
  flags=(
${flags.join('\n')}
  )
  _arguments -S "$flags[@]" '1:command:{ _describe command commands }' '2:argument:{ case $line[1] in ${followers.map(({ name, words }) => `${name}) compadd ${words} ;;`).join(' ')} *) _files ;; esac }' '*:argument:_files'
}
_automation_exporter "$@"
`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
