import type { NetworksReport } from '@florin/server/operator';
import type { Command } from 'commander';
import { findToken, TOKEN_WAYS } from '../approver.ts';
import { examples } from '../examples.ts';
import { wrongUsage } from '../failure.ts';
import { approver, operator } from '../operations.ts';
import { required, text } from '../options.ts';
import { resource } from '../resource.ts';
import { withServer } from '../server.ts';
import { print, toJson, wantsJson } from '../show.ts';
import { cell, formatTable } from '../table.ts';

const whoseWallet = text('--merchant <id>', 'whose wallet (needed where there are several merchants)');

const operation = operator();
const approval = approver();

function printReport({ file, ok, mistakes, endpoints }: NetworksReport): void {
  for (const mistake of mistakes) print(cell(mistake));
  const rows = endpoints.flatMap(({ network, host, own, problems }) =>
    (problems.length === 0 ? ['ok'] : problems).map((found) => ({ network, endpoint: host, own, found })),
  );
  if (rows.length > 0) print(formatTable(rows));
  print(ok ? `${cell(file)} can be used.` : `${cell(file)} must be corrected first.`);
}

/** On no database: it reads a file and asks nodes. */
function addCheck(group: Command): void {
  const command = group
    .command('check <file>')
    .description(
      'Check a networks file (FLORIN_NETWORKS_FILE): its fields, and what each endpoint says of chain, tokens and ' +
        'contracts. Exit code 1: something is wrong.',
    )
    .action(async (file: string, _flags: object, self: Command) => {
      const report = await withServer((server) => server.checkNetworksFile(file));
      if (wantsJson(self)) print(toJson(report));
      else printReport(report);
      if (!report.ok) process.exitCode = 1;
    });
  examples(command, ['florin networks check networks.json', 'florin networks check networks.json --json']);
}

export const addNetworks = resource({
  name: 'networks',
  description: 'The networks that money moves on',
  examples: [
    'florin networks list',
    'florin networks enable mer_01… erc20',
    'florin networks check networks.json',
  ],
  operations: [
    addCheck,
    operation('list', 'List the networks with their stops', ({ networks }) => networks.list()),
    operation(
      'heights',
      'Show how far each network of real money is, its newest and its final block, and each of its endpoints',
      ({ networks }) => networks.heights(),
    ),
    operation(
      'resume <network>',
      'Resume a network that stopped after a reorganisation deeper than finality. Real money takes two approvers of the ' +
        `installation. ${TOKEN_WAYS}`,
      {
        examples: [
          'florin ledger verify                               # first: what is missing, and is it final again?',
          'florin networks resume erc20 --as "Ada Lovelace"   # then: send there again; and a second person',
          'florin networks resume erc20 --merchant mer_01…    # a sandbox merchant: no approver needed',
        ],
        options: {
          merchant: text('--merchant <id>', "of this sandbox merchant's chain alone"),
          as: text('--as <name>', 'for real money: the approver of the installation who decides'),
          tokenFile: text('--token-file <file>', "with --as: file that holds the approver's token"),
        },
        read: async ({ network, merchant, as, ...file }) => {
          if (as !== undefined)
            return { network, merchant, by: { as, token: await findToken({ as, ...file }) } };
          if (file.tokenFile !== undefined) throw wrongUsage('--token-file goes with --as.');
          return { network, merchant, by: undefined };
        },
        run: ({ networks }, { network, merchant, by }) => networks.resume(network, merchant, by),
      },
    ),
    operation(
      'enable <merchant> <network>',
      "Send a live merchant's payouts and refunds on a network: real money leaves from then on",
      {
        examples: [
          'florin settings list --merchant mer_01…      # first: the limits of this merchant',
          'florin networks enable mer_01… erc20',
        ],
        run: ({ networks }, { merchant, network }) => networks.enable(merchant, network),
      },
    ),
    operation(
      'disable <merchant> <network>',
      'Refuse new payouts of a live merchant on a network; what is under way, and refunds, wait',
      {
        examples: ['florin networks disable mer_01… erc20'],
        run: ({ networks }, { merchant, network }) => networks.disable(merchant, network),
      },
    ),
    operation(
      'fill <network> <currency> <amount>',
      'Book coins that you sent to the hot wallet to replace the loss of a reorganisation',
      {
        examples: [
          'florin networks fill erc20 USDT 100.00 --reference 0x9f…   # after the coins have come in',
        ],
        options: {
          reference: required(
            text('--reference <text>', 'your name for it: booked once, however often it is repeated'),
          ),
          merchant: whoseWallet,
        },
        run: ({ networks }, { merchant, ...words }) => networks.fill(words, merchant),
      },
    ),
    approval(
      'book-surplus <network> <currency> <amount>',
      'Book coins that a stranger sent to the hot wallet (listed by `florin ledger verify`) as your own, once a second ' +
        'approver says the same.',
      {
        examples: ['florin networks book-surplus erc20 USDT 5.00 --reference 0x9f… --as "Ada Lovelace"'],
        options: {
          reference: required(text('--reference <text>', 'your name for it, the same for both: booked once')),
          merchant: whoseWallet,
        },
        run: ({ networks }, { merchant, ...words }) => networks.bookSurplus(words, merchant),
      },
    ),
    operation(
      'adopt-sequence <network>',
      'Let a wallet send again after it was used elsewhere, or its database was restored from an older copy',
      {
        examples: [
          'florin ledger verify                   # first: do the books agree?',
          'florin networks adopt-sequence erc20   # then: go on from where the chain is',
        ],
        options: { merchant: whoseWallet },
        run: ({ networks }, { network, merchant }) => networks.adoptSequence(network, merchant),
      },
    ),
  ],
});
