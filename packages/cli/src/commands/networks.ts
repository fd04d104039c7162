import type { Command } from 'commander';
import { examples } from '../examples.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from '../operator.ts';
import { show } from '../show.ts';

export function addNetworks(program: Command): void {
  const group = program.command('networks').description('The networks that money moves on');
  examples(group, ['florin networks adopt-sequence erc20']);

  databaseCommand(group, 'adopt-sequence <network>', [
    'florin ledger verify                   # first: do the books agree?',
    'florin networks adopt-sequence erc20   # then: go on from where the chain is',
  ])
    .description('Let a wallet send again that was used elsewhere, or whose database is an older copy')
    .option('--merchant <id>', 'whose wallet (needed where there are several merchants)')
    .action(async (network: string, flags: DatabaseFlags & { merchant?: string }, command: Command) => {
      const { merchant } = flags;
      show(
        command,
        await withOperator(flags, (operator) => operator.networks.adoptSequence(network, merchant)),
      );
    });
}
