import type { Command } from 'commander';
import { examples } from '../examples.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from '../operator.ts';
import { show, wantsJson } from '../show.ts';
import { note } from '../terminal.ts';

type Flags = DatabaseFlags & { merchant?: string };

/** A command on the approvers of one merchant. */
function approverCommand(group: Command, usage: string, lines: readonly string[]): Command {
  const command = databaseCommand(group, usage, lines);
  return command.option('--merchant <id>', 'their merchant; needed where there are several');
}

export function addApprovers(program: Command): void {
  const group = program
    .command('approvers')
    .description('People who may approve payout batches and refunds of a merchant');
  examples(group, ['florin approvers add "Ada Lovelace"', 'florin approvers list']);

  approverCommand(group, 'add <name>', ['florin approvers add "Ada Lovelace"'])
    .description('Register a person and show the token, once')
    .action(async (name: string, flags: Flags, command: Command) => {
      show(command, await withOperator(flags, (operator) => operator.approvers.add(name, flags.merchant)));
      if (!wantsJson(command)) note('Give the token to that person now: it is not shown again.');
    });

  approverCommand(group, 'list', ['florin approvers list', 'florin approvers list --merchant mer_01… --json'])
    .description('List registered approvers')
    .action(async (flags: Flags, command: Command) => {
      show(command, await withOperator(flags, (operator) => operator.approvers.list(flags.merchant)));
    });

  approverCommand(group, 'remove <name>', ['florin approvers remove "Ada Lovelace"'])
    .description('Take the right to approve away; approvals already given stay')
    .action(async (name: string, flags: Flags, command: Command) => {
      show(command, await withOperator(flags, (operator) => operator.approvers.remove(name, flags.merchant)));
    });
}
