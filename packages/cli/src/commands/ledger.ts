import type { Operator } from '@florin/server/operator';
import type { Command } from 'commander';
import { findToken, TOKEN_WAYS } from '../approver.ts';
import { CommandFailure, reasonOf, wrongUsage } from '../failure.ts';
import { approver, operator } from '../operations.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from '../operator.ts';
import { flag, text } from '../options.ts';
import { resource } from '../resource.ts';
import { print, toJson, wantsJson } from '../show.ts';
import { cell, formatTable } from '../table.ts';
import { note, noteProgress } from '../terminal.ts';
import { formatMinor, formatUnits } from '../units.ts';

type Report = Awaited<ReturnType<Operator['ledger']['verify']>>;

const AGREES = 0;
const DIFFERS = 1;
const COULD_NOT_LOOK = 2;

/** A difference outweighs an unreachable chain. */
function exitCodeOf({ differences, unseen }: Report): number {
  if (differences.length > 0) return DIFFERS;
  return unseen.length > 0 ? COULD_NOT_LOOK : AGREES;
}

function summaryOf({ merchants, checks, differences, omitted, surpluses, unseen }: Report): string {
  const scope = `${merchants} ${merchants === 1 ? 'merchant' : 'merchants'}, ${checks} comparisons`;
  const shown = omitted > 0 ? `, of which ${differences.length} are shown` : '';
  if (differences.length > 0) return `${scope}: ${differences.length + omitted} differences${shown}.`;
  if (unseen.length > 0) return `${scope}: everything that could be read agrees.`;
  const wallets = surpluses.length === 1 ? 'one wallet holds' : `${surpluses.length} wallets hold`;
  return surpluses.length > 0
    ? `${scope}: nothing is missing, and ${wallets} more than the books know.`
    : `${scope}: everything agrees.`;
}

function printReport(report: Report): void {
  const rows = report.differences.map(({ merchant_id, currency, what, expected, found }) => ({
    merchant_id,
    currency,
    expected: formatMinor(expected, currency),
    found: formatMinor(found, currency),
    difference: formatMinor(found - expected, currency),
    what,
  }));
  if (rows.length > 0) print(`${formatTable(rows)}\n`);
  const surpluses = report.surpluses.map(({ amount, ...place }) => ({
    ...place,
    amount: formatUnits(amount),
  }));
  if (surpluses.length > 0)
    print(`Coins beyond the books (florin networks book-surplus):\n${formatTable(surpluses)}\n`);
  const own = report.operator_accounts.map(({ balance, ...account }) => ({
    ...account,
    balance: formatUnits(balance),
  }));
  if (own.length > 0) print(`The operator's own:\n${formatTable(own)}\n`);
  for (const line of report.unseen) note(`could not read: ${cell(line)}`);
  print(summaryOf(report));
}

/** Exit code 2 for every failure to compare, so that a monitor never takes it for a difference. */
async function verify(flags: DatabaseFlags): Promise<Report> {
  try {
    return await withOperator(flags, (operator) =>
      operator.ledger.verify((done, total) => noteProgress(`${done} of ${total} merchants`)),
    );
  } catch (error) {
    const code = error instanceof CommandFailure ? error.code : 'internal_error';
    throw new CommandFailure(code, reasonOf(error), { exitCode: COULD_NOT_LOOK, cause: error });
  }
}

function addVerify(group: Command): void {
  databaseCommand(group, 'verify', ['florin ledger verify', 'florin ledger verify --json > report.json'])
    .description(
      'Recompute every balance from its entries and compare the books with the chains. ' +
        'Exit code 0: nothing is missing (strangers’ coins are listed separately); 1: differences are listed; 2: the database or a chain could not be read.',
    )
    .action(async (flags: DatabaseFlags, command: Command) => {
      const report = await verify(flags);
      if (wantsJson(command)) print(toJson(report));
      else printReport(report);
      process.exitCode = exitCodeOf(report);
    });
}

/** Without comparing the books, registered approvers must decide. */
const adoptHistory = operator()(
  'adopt-history',
  `Let payouts go on after a copy has become the database, and stop all other copies. ${TOKEN_WAYS}`,
  {
    examples: [
      'florin ledger adopt-history                                   # after a failover or a restore, once all is final: checks, then goes on',
      'florin ledger adopt-history --unchecked --as "Ada Lovelace"   # the replica was synchronous, so that nothing can be missing; and a second person',
    ],
    options: {
      unchecked: flag(
        '--unchecked',
        'without comparing the books with the chains, once a second approver says so',
      ),
      as: text('--as <name>', 'with --unchecked: the approver of the installation who decides'),
      tokenFile: text('--token-file <file>', "with --unchecked: file that holds the approver's token"),
    },
    read: async ({ unchecked, as, ...file }) => {
      if (!unchecked) return undefined;
      if (as === undefined)
        throw wrongUsage('--unchecked takes two approvers of the installation: name yourself with --as.');
      return { as, token: await findToken({ as, ...file }) };
    },
    run: ({ ledger }, unchecked) => ledger.adoptHistory({ unchecked }),
  },
);

const adoptJournal = approver()(
  'adopt-journal',
  'Let the signer sign again whose journal was put back to an earlier time, once nothing it has forgotten is on its way. Needs two approvers of the installation.',
  {
    examples: ['florin ledger adopt-journal --as "Ada Lovelace"   # and a second person'],
    run: ({ ledger }, given) => ledger.adoptJournal(given),
  },
);

export const addLedger = resource({
  name: 'ledger',
  description: 'The books',
  examples: ['florin ledger verify', 'florin ledger adopt-history'],
  operations: [addVerify, adoptHistory, adoptJournal],
});
