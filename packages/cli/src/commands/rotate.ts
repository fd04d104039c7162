import type { RotationReport, ShownOwnerCall } from '@florin/server/operator';
import type { Command } from 'commander';
import { askYes } from '../ask-yes.ts';
import { wrongUsage } from '../failure.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from '../operator.ts';
import type { AddCommand } from '../resource.ts';
import { show, wantsJson } from '../show.ts';
import { withSigner } from '../signer.ts';
import { note, noteToPeople } from '../terminal.ts';

interface RotateFlags extends DatabaseFlags {
  passphraseFile?: string;
  dryRun?: true;
  cancel?: true;
  yes?: true;
}

/** What will happen, or what is left to happen. */
function explain({ status, from, to, open_transactions: open, home_moves_at: at }: RotationReport): string {
  const arrive =
    at === null
      ? ''
      : ` Charges reach ${from} until ${at}; workers bring along what arrives, and the next rotation can begin after that.`;
  switch (status) {
    case 'not_begun':
      return (
        `${to} takes the place of ${from}. Payouts, refunds, sweeps and charges wait, and none fails, until ` +
        `${open === 1 ? '1 transaction' : `${open} transactions`} on the way ended. Then the coins follow, and the collector ` +
        'is told; mandates stay. The epoch of before never comes back.'
      );
    case 'closing':
      return `${from} takes no new work and ends what it has on its way. Run the command again: it goes on.`;
    case 'moving':
      return `${to} is the hot wallet now, and what ${from} held follows.${arrive}`;
    case 'done':
      return `${to} is the hot wallet now, and ${from} is empty.`;
  }
}

function explainCall({ chain_id, from, to, data, value, does }: ShownOwnerCall): string {
  const fields = Object.entries({ chain_id, from, to, value, data }).map(
    ([name, field]) => `  ${name}  ${field}`,
  );
  return [`The owner ${from} has to send this, and the command waits for it:`, ...fields, `  ${does}`].join(
    '\n',
  );
}

/** Gives a live merchant a new hot wallet. */
export const addRotate: AddCommand = (group) => {
  databaseCommand(group, 'rotate <merchant>', [
    'florin signer rotate mer_01… --dry-run',
    'florin signer rotate mer_01… --passphrase-file passphrase',
  ])
    .description(
      'Give a live merchant a new hot wallet on Ethereum that keeps every mandate. Workers have to run meanwhile. Interrupted ' +
        'anywhere, the same command goes on. Charges reach the old wallet for two days more, and its coins follow; the next ' +
        'rotation waits for that.',
    )
    .option('--passphrase-file <file>', "file whose first line is the passphrase of the signer's key file")
    .option('--dry-run', 'show where things are and what would happen, and change nothing')
    .option(
      '--cancel',
      'open the old wallet again where a run has died, which works until the signer has begun the new one',
    )
    .option('--yes', 'begin without asking')
    .action(
      async (
        merchant: string,
        { passphraseFile, dryRun, cancel, yes, ...flags }: RotateFlags,
        command: Command,
      ) => {
        if (cancel === true) {
          if (passphraseFile !== undefined || dryRun === true)
            throw wrongUsage('--cancel takes no passphrase, and changes something.');
          show(command, await withOperator(flags, ({ wallets }) => wallets.cancelRotation({ merchant })));
          noteToPeople('The rotation is cancelled: the old wallet goes on.');
          return;
        }
        if (passphraseFile === undefined && dryRun !== true)
          throw wrongUsage('Give --passphrase-file, or --dry-run to change nothing, or --cancel.');
        const passphrase = await withSigner(async (signer) =>
          passphraseFile === undefined
            ? ''
            : signer.readPassphrase(passphraseFile, process.env.CREDENTIALS_DIRECTORY),
        );
        const order = {
          merchant,
          passphrase,
          isDryRun: dryRun === true,
          confirm: async (before: RotationReport) =>
            yes === true || (await askYes(`${explain(before)} Rotate?`)),
          onProgress: noteToPeople,
          onOwnerCall: (call: ShownOwnerCall) =>
            note(wantsJson(command) ? JSON.stringify({ owner_call: call }) : explainCall(call)),
        };
        const report = await withOperator(flags, ({ wallets }) => wallets.rotate(order));
        show(command, report);
        if (report.status === 'not_begun' && dryRun !== true) noteToPeople('Nothing was changed.');
        else noteToPeople(explain(report));
      },
    );
};
