import type { Command } from 'commander';
import { type ApproverFlags, approverCommand, findToken, TOKEN_WAYS } from '../approver.ts';
import { examples } from '../examples.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from '../operator.ts';
import { show } from '../show.ts';

interface FillFlags extends DatabaseFlags {
  reference: string;
  merchant?: string;
}

function addBookSurplus(group: Command): void {
  const lines = ['florin networks book-surplus erc20 USDT 5.00 --reference 0x9f… --as "Ada Lovelace"'];
  approverCommand(group, 'book-surplus <network> <currency> <amount>', lines)
    .description(
      'Book coins that a stranger sent to the hot wallet (`florin ledger verify` names them) as your own, once a second ' +
        `approver says the same. ${TOKEN_WAYS}`,
    )
    .requiredOption('--reference <text>', 'your name for it, the same for both: booked once')
    .option('--merchant <id>', 'whose wallet (needed where there are several merchants)')
    .action(async (...args: [string, string, string, ApproverFlags & FillFlags, Command]) => {
      const [network, currency, amount, flags, command] = args;
      const { reference, merchant, as } = flags;
      const words = { network, currency, amount, reference, as, token: await findToken(flags) };
      show(command, await withOperator(flags, (operator) => operator.networks.bookSurplus(words, merchant)));
    });
}

export function addNetworks(program: Command): void {
  const group = program.command('networks').description('The networks that money moves on');
  examples(group, ['florin networks list', 'florin networks resume erc20']);

  databaseCommand(group, 'list', ['florin networks list', 'florin networks list --json'])
    .description('List the networks, and where sending on them is stopped')
    .action(async (flags: DatabaseFlags, command: Command) => {
      show(command, await withOperator(flags, (operator) => operator.networks.list()));
    });

  databaseCommand(group, 'resume <network>', [
    'florin ledger verify           # first: what is missing, and is it final again?',
    'florin networks resume erc20   # then: send there again',
  ])
    .description('Let a network go on that stopped after a reorganisation deeper than finality')
    .option('--merchant <id>', "of this sandbox merchant's chain alone")
    .action(async (network: string, flags: DatabaseFlags & { merchant?: string }, command: Command) => {
      const { merchant } = flags;
      show(command, await withOperator(flags, (operator) => operator.networks.resume(network, merchant)));
    });

  databaseCommand(group, 'fill <network> <currency> <amount>', [
    'florin networks fill erc20 USDT 100.00 --reference 0x9f…   # after the coins have come in',
  ])
    .description('Book coins that you sent to the hot wallet for what a reorganisation took')
    .requiredOption('--reference <text>', 'your name for it: booked once, however often it is repeated')
    .option('--merchant <id>', 'whose wallet (needed where there are several merchants)')
    .action(async (...args: [string, string, string, FillFlags, Command]) => {
      const [network, currency, amount, { reference, merchant, ...flags }, command] = args;
      const words = { network, currency, amount, reference };
      show(command, await withOperator(flags, (operator) => operator.networks.fill(words, merchant)));
    });

  addBookSurplus(group);

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
