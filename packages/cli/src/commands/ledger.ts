import type { Operator } from '@florin/server/operator';
import type { Command } from 'commander';
import { examples } from '../examples.ts';
import { CommandFailure } from '../failure.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from '../operator.ts';
import { print, show, toJson, wantsJson } from '../show.ts';
import { cell, formatTable } from '../table.ts';
import { note, noteProgress } from '../terminal.ts';
import { formatUnits } from '../units.ts';

type Report = Awaited<ReturnType<Operator['ledger']['verify']>>;

const AGREES = 0;
const DIFFERS = 1;
const COULD_NOT_LOOK = 2;

/** A difference that was seen weighs more than a chain that was not. */
function exitCodeOf({ differences, unseen }: Report): number {
  if (differences.length > 0) return DIFFERS;
  return unseen.length > 0 ? COULD_NOT_LOOK : AGREES;
}

function summaryOf({ merchants, checks, differences, unseen }: Report): string {
  const looked = `${merchants} ${merchants === 1 ? 'merchant' : 'merchants'}, ${checks} comparisons`;
  if (differences.length > 0) return `${looked}: ${differences.length} differ.`;
  return unseen.length > 0 ? `${looked}: what could be looked at agrees.` : `${looked}: everything agrees.`;
}

function printReport(report: Report): void {
  const rows = report.differences.map(({ merchant_id, currency, what, expected, found }) => ({
    merchant_id,
    currency,
    expected: formatUnits(expected),
    found: formatUnits(found),
    difference: formatUnits(found - expected),
    what,
  }));
  if (rows.length > 0) print(`${formatTable(rows)}\n`);
  const own = report.operator_accounts.map(({ balance, ...account }) => ({
    ...account,
    balance: formatUnits(balance),
  }));
  if (own.length > 0) print(`The operator's own:\n${formatTable(own)}\n`);
  for (const line of report.unseen) note(`could not look: ${cell(line)}`);
  print(summaryOf(report));
}

/** Whatever keeps it from looking at all is 2, so that a monitor never takes it for a difference. */
async function look(flags: DatabaseFlags): Promise<Report> {
  try {
    return await withOperator(flags, (operator) =>
      operator.ledger.verify((done, total) => noteProgress(`${done} of ${total} merchants`)),
    );
  } catch (error) {
    const code = error instanceof CommandFailure ? error.code : 'internal_error';
    const message = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(code, message, { exitCode: COULD_NOT_LOOK, cause: error });
  }
}

export function addLedger(program: Command): void {
  const group = program.command('ledger').description('The books');
  examples(group, ['florin ledger verify', 'florin ledger adopt-history']);
  databaseCommand(group, 'verify', ['florin ledger verify', 'florin ledger verify --json > report.json'])
    .description(
      'Recompute every balance from its entries and compare the books with the chains. ' +
        'Exit code 0: all agrees; 1: differences, listed; 2: the database or a chain could not be looked at.',
    )
    .action(async (flags: DatabaseFlags, command: Command) => {
      const report = await look(flags);
      if (wantsJson(command)) print(toJson(report));
      else printReport(report);
      process.exitCode = exitCodeOf(report);
    });

  databaseCommand(group, 'adopt-history', [
    'florin ledger adopt-history               # after a failover or a restore, once all is final: checks, then goes on',
    'florin ledger adopt-history --unchecked   # the replica was synchronous, so that nothing can be missing',
  ])
    .description('Let payouts go on after a replica or a backup has become the database')
    .option('--unchecked', 'without comparing the books with the chains')
    .action(async (flags: DatabaseFlags & { unchecked?: boolean }, command: Command) => {
      const unchecked = flags.unchecked ?? false;
      show(command, await withOperator(flags, (operator) => operator.ledger.adoptHistory({ unchecked })));
    });
}
