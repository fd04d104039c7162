import { type PlannedBatch, planBatches, repeatsIn, totalOf } from '@florin/contract/payout-file';
import type { Florin, PayoutBatch, PayoutItem } from '@florin/sdk';
import { columnsOf } from '../columns.ts';
import { wrongUsage } from '../failure.ts';
import { merchant } from '../operations.ts';
import { choice, flag, network, page, token } from '../options.ts';
import { createBatches, noteFindings, outcomeOf, submitBatches, waitForBatches } from '../payout-run.ts';
import { readPayoutFile } from '../read-payout-file.ts';
import type { AddCommand } from '../resource.ts';
import { noteToPeople } from '../terminal.ts';

const REPEATS_SHOWN = 5;
const ITEM_STATUSES = [
  'valid',
  'invalid',
  'queued',
  'processing',
  'succeeded',
  'failed',
  'canceled',
] as const;

const listed = columnsOf<PayoutBatch>()(
  'batch_id status network paid=success_count of=total_count total=total_amount fees=service_fee_amount',
);

const whole = columnsOf<PayoutBatch>()(
  'batch_id status currency network items=total_count invalid=invalid_count paid=success_count failed=failed_count total=total_amount fees=service_fee_amount debit=debit_amount description created=created_at submitted=submitted_at completed=completed_at',
);

const itemRow = columnsOf<PayoutItem>()(
  'index status amount address name=real_name tx_id reason=failure_message',
);

const findings = ({ validation_errors }: PayoutBatch) =>
  validation_errors.map(({ field, code, message }) => ({ field, code, message }));

/** A batch as it is, with what is wrong with its items. */
const batch = merchant(whole);

interface Steps {
  planned: readonly PlannedBatch[];
  key: string | undefined;
  submits: boolean;
  waits: boolean;
}

async function pay(client: Florin, { planned, key, submits, waits }: Steps): Promise<PayoutBatch[]> {
  const made = await createBatches(client, planned, key);
  if (noteFindings(made, planned)) {
    process.exitCode = 1;
    if (submits) noteToPeople('Nothing was submitted: mend the file, or cancel the drafts.');
    return made;
  }
  if (!submits) return made;
  const submitted = await submitBatches(client, made);
  if (!waits) return submitted;
  const over = await waitForBatches(client, submitted);
  process.exitCode = outcomeOf(over);
  return over;
}

function noteRepeats(planned: readonly PlannedBatch[]): void {
  const repeats = repeatsIn(planned.flatMap(({ items }) => items));
  for (const { where, earlier } of repeats.slice(0, REPEATS_SHOWN))
    noteToPeople(`${where} pays the same as ${earlier}.`);
  if (repeats.length > REPEATS_SHOWN) noteToPeople(`and ${repeats.length - REPEATS_SHOWN} more such rows`);
}

/** What would be created, in place of batches. */
const preview = ({ currency, network: on, items }: PlannedBatch, i: number) => ({
  batch: i + 1,
  currency,
  network: on,
  items: items.length,
  total: totalOf({ items }),
});

const create = merchant<PayoutBatch | ReturnType<typeof preview>>((one) =>
  'batch_id' in one ? listed(one) : one,
)('create <file>', 'Create payouts from a JSON or CSV file; several batches where one cannot hold all', {
  examples: [
    'florin payouts create salaries.csv --dry-run',
    'florin payouts create salaries.csv --submit --wait',
    'florin payouts create batch.json --idempotency-key salaries-november',
    'florin payouts create list.csv --currency USDT --network trc20',
  ],
  options: {
    dryRun: flag('--dry-run', 'check the file, show what would be created, and send nothing'),
    submit: flag('--submit', 'start paying; without, the batches are drafts'),
    wait: flag('--wait', 'with --submit: until all is paid or failed; exit code 0 if all is paid'),
    currency: token,
    network,
  },
  idempotencyKey: 'makes one payout of repeats',
  read: ({ file, dryRun = false, submit = false, wait = false, ...defaults }) => {
    if (wait && !submit) throw wrongUsage('--wait needs --submit: a draft is never paid.');
    if (dryRun && submit) throw wrongUsage('--dry-run sends nothing: leave --submit out.');
    const planned = planBatches(readPayoutFile(file, defaults));
    noteRepeats(planned);
    return { planned, dryRun, submits: submit, waits: wait };
  },
  run: async (client, { planned, dryRun, submits, waits }, { idempotencyKey: key }) =>
    dryRun ? planned.map(preview) : await pay(client, { planned, key, submits, waits }),
});

export const batchOperations: readonly AddCommand[] = [
  create,
  batch('show <batch>', 'Show a payout batch', {
    run: ({ payouts }, given) => payouts.retrieve(given.batch),
    parts: findings,
  }),
  merchant(itemRow)('items <batch>', 'List the items of a payout batch, in its order', {
    examples: [
      'florin payouts items pb_01…',
      'florin payouts items pb_01… --status failed --csv > failed.csv',
    ],
    options: { status: choice('--status <status>', 'in this status', ITEM_STATUSES), ...page('item') },
    run: ({ payouts }, { batch: id, ...query }) => payouts.items(id, query),
  }),
  batch('submit <batch>', 'Submit a draft: reserve the balance and start paying', {
    examples: ['florin payouts submit pb_01…', 'florin payouts submit pb_01… --wait'],
    options: { wait: flag('--wait', 'until all is paid or failed; exit code 0 if all is paid') },
    run: async (client, { batch: id, wait }) => {
      const submitted = await client.payouts.submit(id);
      if (wait === undefined) return submitted;
      const [over = submitted] = await waitForBatches(client, [submitted]);
      process.exitCode = outcomeOf([over]);
      return over;
    },
  }),
  batch('cancel <batch>', 'Cancel a payout batch that nothing was sent for yet', {
    run: ({ payouts }, given) => payouts.cancel(given.batch),
  }),
];
