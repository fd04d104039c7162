import type { Operator } from '@florin/server/operator';
import { columnsOf } from '../columns.ts';
import { approver, approving, operator } from '../operations.ts';
import { text } from '../options.ts';
import { resource } from '../resource.ts';
import { batchOperations } from './payout-batches.ts';

type Batch = Awaited<ReturnType<Operator['payouts']['list']>>[number];
type LostItem = Awaited<ReturnType<Operator['payouts']['repay']>>;

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString();

/** The main fields of a batch; counts and fees are in `--json`. */
const summary = columnsOf<Batch>()(
  'batch_id status items=total_count total=total_amount debit=debit_amount currency network created description',
  {
    created: ({ created_at }) => timeOf(created_at),
  },
);

const lostRow = ({ item, ...count }: LostItem) => ({
  ...count,
  item: item.item_id,
  status: item.status,
  amount: item.amount,
  lost: item.lost_at === null ? null : timeOf(item.lost_at),
  tx_id: item.tx_id,
});

const operation = operator(summary);
const whole = operator();
const approval = approving(summary);
const verdict = approver(summary);
const lostItem = approver(lostRow);

export const addPayouts = resource({
  name: 'payouts',
  description: 'Payout batches, and approval of large ones',
  examples: [
    'florin payouts create salaries.csv --submit --wait',
    'florin payouts list --status pending_approval',
    'florin payouts approve pb_01… --as "Ada Lovelace"',
  ],
  operations: [
    ...batchOperations,
    approval('approve <batch>', 'Approve a batch that is pending_approval.', {
      examples: [
        'florin payouts approve pb_01… --as "Ada Lovelace"',
        'florin payouts approve pb_01… --as "Ada Lovelace" --key-file ada.pem --passphrase-file passphrase',
      ],
      run: async ({ payouts }, { batch, prove }) =>
        await payouts.approve({ batch, ...(await prove(() => payouts.statement(batch))) }),
    }),
    verdict('reject <batch>', 'Reject a batch that is pending_approval; its reserved money is released.', {
      examples: [
        'florin payouts reject pb_01… --as "Ada Lovelace"',
        'florin payouts reject pb_01… --as "Ada Lovelace" --token-file ada.token',
      ],
      run: ({ payouts }, given) => payouts.reject(given),
    }),
    lostItem(
      'repay <item>',
      'Pay an item again whose transaction a reorganisation removed for good. Needs two approvers.',
      ({ payouts }, given) => payouts.repay(given),
    ),
    lostItem(
      'give-back <item>',
      'Return the money of an item whose transaction a reorganisation removed for good. Needs two approvers.',
      ({ payouts }, given) => payouts.giveBack(given),
    ),
    whole('statement <batch>', 'Show what the approvers of a batch of real money sign', {
      examples: [
        'florin payouts statement pb_01… --json > batch.json   # for florin approvers sign batch.json',
      ],
      run: ({ payouts }, { batch }) => payouts.statement(batch),
    }),
    operation('list', 'List the newest payout batches', {
      examples: [
        'florin payouts list --status pending_approval',
        'florin payouts list --merchant mer_01… --json',
      ],
      options: {
        status: text('--status <status>', 'in this state alone'),
        merchant: text('--merchant <id>', 'of this merchant alone'),
      },
      run: ({ payouts }, filter) => payouts.list(filter),
    }),
  ],
});
