import type { Command } from 'commander';
import { examples } from '../examples.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from '../operator.ts';
import { show } from '../show.ts';

export function addRisk(program: Command): void {
  const group = program.command('risk').description('Addresses that nothing is paid to');
  examples(group, ['florin risk add erc20 0x5aAe… --reason "court order"', 'florin risk list']);

  databaseCommand(group, 'add <network> <address>', ['florin risk add erc20 0x5aAe… --reason "court order"'])
    .description('List an address; batches that pay it are refused from now on')
    .option('--reason <text>', 'why', '')
    .action(
      async (
        network: string,
        address: string,
        flags: DatabaseFlags & { reason: string },
        command: Command,
      ) => {
        const { reason } = flags;
        show(command, await withOperator(flags, (operator) => operator.risk.add(network, address, reason)));
      },
    );

  databaseCommand(group, 'remove <network> <address>', ['florin risk remove erc20 0x5aAe…'])
    .description('Take an address off the list')
    .action(async (network: string, address: string, flags: DatabaseFlags, command: Command) => {
      show(command, await withOperator(flags, (operator) => operator.risk.remove(network, address)));
    });

  databaseCommand(group, 'list', ['florin risk list', 'florin risk list --json'])
    .description('List the listed addresses')
    .action(async (flags: DatabaseFlags, command: Command) => {
      show(command, await withOperator(flags, (operator) => operator.risk.list()));
    });
}
