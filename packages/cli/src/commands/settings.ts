import type { Operator } from '@florin/server/operator';
import type { Command } from 'commander';
import { examples } from '../examples.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from '../operator.ts';
import { show } from '../show.ts';
import { cell } from '../table.ts';

type Flags = DatabaseFlags & { merchant?: string };

type Shown = Awaited<ReturnType<Operator['settings']['get']>>;

/** A default may differ between sandbox and live merchants. */
const summary = ({ name, value, of, description }: Shown) => ({
  name,
  value: wordsOf(value),
  of,
  description,
});

function wordsOf(value: Shown['value']): unknown {
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  return `${cell(value.sandbox)} (live: ${cell(value.live)})`;
}

/** A command on the settings of one merchant, or of all. */
function settingCommand(group: Command, usage: string, lines: readonly string[]): Command {
  const command = databaseCommand(group, usage, lines);
  return command.option(
    '--merchant <id>',
    'of this merchant; without it of all that have no value of their own',
  );
}

export function addSettings(program: Command): void {
  const group = program.command('settings').description('Limits and fees, of one merchant or of all');
  examples(group, ['florin settings list', 'florin settings set payouts.approval_above 5000.00']);

  settingCommand(group, 'list', ['florin settings list', 'florin settings list --merchant mer_01… --json'])
    .description('List all settings with their values')
    .action(async (flags: Flags, command: Command) => {
      show(command, await withOperator(flags, (operator) => operator.settings.list(flags.merchant)), summary);
    });

  settingCommand(group, 'get <name>', ['florin settings get payouts.daily_quota'])
    .description('Show one setting')
    .action(async (name: string, flags: Flags, command: Command) => {
      show(
        command,
        await withOperator(flags, (operator) => operator.settings.get(name, flags.merchant)),
        summary,
      );
    });

  const lines = [
    'florin settings set payouts.approval_above 5000.00',
    'florin settings set transfers.paused erc20,USDC:trc20',
    'florin settings set payouts.daily_quota 250000.00 --merchant mer_01…',
  ];
  settingCommand(group, 'set <name> <value>', lines)
    .description('Change one setting; it holds from the next request on')
    .action(async (name: string, value: string, flags: Flags, command: Command) => {
      const { merchant } = flags;
      show(
        command,
        await withOperator(flags, (operator) => operator.settings.set(name, value, merchant)),
        summary,
      );
    });

  settingCommand(group, 'unset <name>', ['florin settings unset payouts.approval_above'])
    .description('Go back to the default')
    .action(async (name: string, flags: Flags, command: Command) => {
      show(
        command,
        await withOperator(flags, (operator) => operator.settings.unset(name, flags.merchant)),
        summary,
      );
    });
}
