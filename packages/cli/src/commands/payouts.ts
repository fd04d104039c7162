import type { Operator } from '@florin/server/operator';
import type { Command } from 'commander';
import { type ApproverFlags, approverCommand, findToken, TOKEN_WAYS } from '../approver.ts';
import { examples } from '../examples.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from '../operator.ts';
import { show } from '../show.ts';

type Batch = Awaited<ReturnType<Operator['payouts']['list']>>[number];

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString();

/** What decides about a batch; the counts and fees are in `--json`. */
const summary = (batch: Batch) => ({
  batch_id: batch.batch_id,
  status: batch.status,
  items: batch.total_count,
  total: batch.total_amount,
  debit: batch.debit_amount,
  currency: batch.currency,
  network: batch.network,
  created: timeOf(batch.created_at),
  description: batch.description,
});

function addVerdict(group: Command, verb: 'approve' | 'reject', description: string): void {
  const lines = [
    `florin payouts ${verb} pb_01… --as "Ada Lovelace"`,
    `florin payouts ${verb} pb_01… --as "Ada Lovelace" --token-file ada.token`,
  ];
  approverCommand(group, `${verb} <batch>`, lines)
    .description(`${description} ${TOKEN_WAYS}`)
    .action(async (batch: string, flags: ApproverFlags, command: Command) => {
      const token = await findToken(flags);
      const verdict = { batch, as: flags.as, token };
      show(command, await withOperator(flags, (operator) => operator.payouts[verb](verdict)), summary);
    });
}

const LOST = {
  repay: {
    description: 'Pay an item anew that a reorganisation took for good, once a second approver says so.',
    run: 'repay',
  },
  'give-back': {
    description:
      'Give back the money of an item that a reorganisation took for good, once a second approver says so.',
    run: 'giveBack',
  },
} as const;

function addLostVerdict(group: Command, verb: keyof typeof LOST): void {
  const { description, run } = LOST[verb];
  approverCommand(group, `${verb} <item>`, [`florin payouts ${verb} pbi_01… --as "Ada Lovelace"`])
    .description(`${description} ${TOKEN_WAYS}`)
    .action(async (item: string, flags: ApproverFlags, command: Command) => {
      const verdict = { item, as: flags.as, token: await findToken(flags) };
      const decided = await withOperator(flags, (operator) => operator.payouts[run](verdict));
      show(command, decided, ({ item: one, ...count }) => ({
        ...count,
        item: one.item_id,
        status: one.status,
        amount: one.amount,
        lost: one.lost_at === null ? null : timeOf(one.lost_at),
        tx_id: one.tx_id,
      }));
    });
}

export function addPayouts(program: Command): void {
  const group = program.command('payouts').description('Payout batches, and approval of large ones');
  examples(group, [
    'florin payouts list --status pending_approval',
    'florin payouts approve pb_01… --as "Ada Lovelace"',
  ]);
  addVerdict(group, 'approve', 'Approve a batch that is pending_approval.');
  addVerdict(group, 'reject', 'Reject a batch that is pending_approval; what it reserved is given back.');
  addLostVerdict(group, 'repay');
  addLostVerdict(group, 'give-back');

  const lines = [
    'florin payouts list --status pending_approval',
    'florin payouts list --merchant mer_01… --json',
  ];
  databaseCommand(group, 'list', lines)
    .description('List the newest payout batches')
    .option('--status <status>', 'in this state alone')
    .option('--merchant <id>', 'of this merchant alone')
    .action(async (flags: DatabaseFlags & { status?: string; merchant?: string }, command: Command) => {
      const { status, merchant } = flags;
      const list = await withOperator(flags, (operator) => operator.payouts.list({ status, merchant }));
      show(command, list, summary);
    });
}
