import { readFileSync } from 'node:fs';
import type { Operator } from '@florin/server/operator';
import type { Command } from 'commander';
import { attempt } from '../failure.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from '../operator.ts';
import { resource } from '../resource.ts';
import { print, toJson, wantsJson } from '../show.ts';
import { withSigner } from '../signer.ts';
import { formatTable } from '../table.ts';

type Report = Awaited<ReturnType<Operator['approvals']['verify']>>;

interface VerifyFlags extends DatabaseFlags {
  policy?: string;
  merchant?: string;
}

async function readApprovers(file: string | undefined) {
  if (file === undefined) return undefined;
  const text = attempt('policy', 'The policy cannot be read', () => readFileSync(file, 'utf8'));
  return await withSigner(async (signer) => signer.readPolicy(text).approvers);
}

function printReport({ id, digest, count, total, approvals }: Report): void {
  print(`${id}: ${count} recipients, ${total} units, items ${digest}`);
  if (approvals.length === 0) print('Nobody has decided on it.');
  const rows = approvals.map(({ name, signer, decision, by, strength, counts_today: counts, why }) => ({
    approver: name,
    signer: signer ?? '',
    decision,
    by,
    strength,
    'counts today': counts ? 'yes' : 'no',
    why: why ?? '',
  }));
  if (rows.length > 0) print(`\n${formatTable(rows)}`);
}

function addVerify(group: Command): void {
  databaseCommand(group, 'verify <batch-or-refund>', [
    'florin approvals verify pb_01…',
    'florin approvals verify pb_01… --policy policy.json --json   # by the keys that the signer knows',
  ])
    .description(
      'Verify who has decided on a payout batch or refund, without signer and network. Signatures of keys, wallets and ' +
        'passkeys are compared with what is paid now. Decisions by session or token alone are weaker, because anybody ' +
        'with write access to the database can make them; without --policy all are weaker. The approver is the name in ' +
        'the database, the signer the name of the key in the policy. A signature that was given in time is signed, also ' +
        'when it no longer counts. Exit code 1: a signature is wrong.',
    )
    .option('--policy <file>', "the signer's policy; without it, the keys are those of the database")
    .option('--merchant <id>', 'whose refund; needed where several have one of this id')
    .action(async (id: string, { policy, ...flags }: VerifyFlags, command: Command) => {
      const approvers = await readApprovers(policy);
      const report = await withOperator(flags, ({ approvals }) =>
        approvals.verify({ id, approvers, merchant: flags.merchant }),
      );
      if (wantsJson(command)) print(toJson(report));
      else printReport(report);
      if (report.approvals.some(({ strength }) => strength === 'wrong')) process.exitCode = 1;
    });
}

export const addApprovals = resource({
  name: 'approvals',
  description: 'Decisions of approvers on payouts and refunds',
  examples: ['florin approvals verify pb_01…'],
  operations: [addVerify],
});
