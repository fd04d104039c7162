import type { Command } from 'commander';

/*
 * Completion for shells, made from the commands themselves: what can follow the words so far, and the values of options that
 * have a list of them.
 */

/** A command as a shell completes it. */
export interface CommandWords {
  /** Words after `florin`; '' for the program. */
  path: string;
  /** Subcommands with what they do. */
  commands: readonly Word[];
  /** Long options with what they do. */
  options: readonly (Word & { choices: readonly string[] })[];
}

interface Word {
  name: string;
  description: string;
}

/** Every command with its subcommands and options, the program first. */
export function listCommands(command: Command, path = ''): CommandWords[] {
  const options = [...command.options, ...globalsOf(command)].flatMap(({ long, description, argChoices }) =>
    long == null ? [] : [{ name: long, description, choices: argChoices ?? [] }],
  );
  const { commands } = command;
  const own = {
    path,
    options: [...options, { name: '--help', description: 'explain this command', choices: [] }],
    commands: commands.map((one) => ({ name: one.name(), description: one.description() })),
  };
  return [own, ...commands.flatMap((one) => listCommands(one, `${path} ${one.name()}`.trimStart()))];
}

function globalsOf(command: Command) {
  let root = command;
  while (root.parent !== null) root = root.parent;
  return root === command ? [] : root.options.filter(({ long }) => long === '--json');
}

/** One word of a script between single quotes. */
const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const wordsOf = ({ commands, options }: CommandWords) =>
  [...commands, ...options].map(({ name }) => name).join(' ');

/** Without a match the shell completes names of files. */
export function bashScript(commands: readonly CommandWords[]): string {
  const words = commands.map((command) => `    ${quoted(command.path)}) echo ${quoted(wordsOf(command))} ;;`);
  const values = commands.flatMap(({ path, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(({ name, choices }) => `    ${quoted(`${path} ${name}`)}) echo ${quoted(choices.join(' '))} ;;`),
  );
  return `# Completion of florin for bash: eval "$(florin completion bash)"
_florin_words() {
  case "$1" in
${words.join('\n')}
    *) return 1 ;;
  esac
}
_florin_values() {
  case "$1" in
${values.join('\n')}
    *) return 1 ;;
  esac
}
_florin() {
  local word command='' next i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    next="\${command:+$command }$word"
    if _florin_words "$next" > /dev/null; then command="$next"; fi
  done
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  COMPREPLY=($(compgen -W "$(_florin_values "$command $previous" || _florin_words "$command")" -- "$current"))
}
complete -o default -F _florin florin
`;
}

/** zsh reads completions of bash. */
export function zshScript(commands: readonly CommandWords[]): string {
  const [, ...lines] = bashScript(commands).split('\n');
  return `# Completion of florin for zsh: eval "$(florin completion zsh)"
autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${lines.join('\n')}`;
}

export function fishScript(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(({ path, commands: subcommands, options }) => {
    const at = `complete -c florin -n ${quoted(`__florin_at ${quoted(path)}`)}`;
    return [
      ...subcommands.map(({ name, description }) => `${at} -f -a ${quoted(name)} -d ${quoted(description)}`),
      ...options.map(
        ({ name, description, choices }) =>
          `${at} -l ${name.slice(2)}${choices.length === 0 ? '' : ` -x -a ${quoted(choices.join(' '))}`} -d ${quoted(description)}`,
      ),
    ];
  });
  return `# Completion of florin for fish: florin completion fish | source
set -g __florin_commands ${commands.map(({ path }) => quoted(path)).join(' ')}
function __florin_at
  set -l command ''
  for word in (commandline -opc)[2..]
    set -l next (string trim -- "$command $word")
    contains -- "$next" $__florin_commands; and set command $next
  end
  test "$command" = "$argv[1]"
end
${lines.join('\n')}
`;
}
