import type { Operator } from '@florin/server/operator';
import { approver, operator, resource } from '../operations.ts';
import { text } from '../parameters.ts';

type Batch = Awaited<ReturnType<Operator['payouts']['list']>>[number];
type LostItem = Awaited<ReturnType<Operator['payouts']['repay']>>;

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

const lostItem = ({ item, ...count }: LostItem) => ({
  ...count,
  item: item.item_id,
  status: item.status,
  amount: item.amount,
  lost: item.lost_at === null ? null : timeOf(item.lost_at),
  tx_id: item.tx_id,
});

export const addPayouts = resource({
  name: 'payouts',
  description: 'Payout batches, and approval of large ones',
  examples: [
    'florin payouts list --status pending_approval',
    'florin payouts approve pb_01… --as "Ada Lovelace"',
  ],
  operations: [
    approver('approve <batch>', 'Approve a batch that is pending_approval.', {
      examples: [
        'florin payouts approve pb_01… --as "Ada Lovelace"',
        'florin payouts approve pb_01… --as "Ada Lovelace" --token-file ada.token',
      ],
      call: ({ payouts }, verdict) => payouts.approve(verdict),
      row: summary,
    }),
    approver('reject <batch>', 'Reject a batch that is pending_approval; what it reserved is given back.', {
      examples: [
        'florin payouts reject pb_01… --as "Ada Lovelace"',
        'florin payouts reject pb_01… --as "Ada Lovelace" --token-file ada.token',
      ],
      call: ({ payouts }, verdict) => payouts.reject(verdict),
      row: summary,
    }),
    approver(
      'repay <item>',
      'Pay an item anew that a reorganisation took for good, once a second approver says so.',
      { call: ({ payouts }, verdict) => payouts.repay(verdict), row: lostItem },
    ),
    approver(
      'give-back <item>',
      'Give back the money of an item that a reorganisation took for good, once a second approver says so.',
      { call: ({ payouts }, verdict) => payouts.giveBack(verdict), row: lostItem },
    ),
    operator('list', 'List the newest payout batches', {
      examples: [
        'florin payouts list --status pending_approval',
        'florin payouts list --merchant mer_01… --json',
      ],
      options: {
        status: text('--status <status>', 'in this state alone'),
        merchant: text('--merchant <id>', 'of this merchant alone'),
      },
      call: ({ payouts }, filter) => payouts.list(filter),
      row: summary,
    }),
  ],
});
