import { Argument, type Command } from 'commander';
import { bashScript, fishScript, listCommands, zshScript } from '../completion.ts';
import { examples } from '../examples.ts';
import { print } from '../show.ts';
import { addServiceSettings } from './services.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };
const SHELLS = ['bash', 'zsh', 'fish'] as const;

export function addCompletion(program: Command): void {
  const command = program
    .command('completion')
    .description('Print the completion of this command line for a shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .action(async (shell: (typeof SHELLS)[number]) => {
      for (const one of program.commands) await addServiceSettings(one);
      print(SCRIPTS[shell](listCommands(program)).trimEnd());
    });
  examples(command, [
    'florin completion bash > ~/.local/share/bash-completion/completions/florin',
    'florin completion fish | source',
  ]);
}
