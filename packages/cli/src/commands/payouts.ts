import type { Operator } from '@florin/server/operator';
import { columnsOf } from '../columns.ts';
import { approver, operator, resource } from '../operations.ts';
import { required, text } from '../options.ts';
import { withSigner } from '../signer.ts';
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

/** A week, as a batch waits for approval. */
const SIGNATURE_SECONDS = 7 * 86_400;

const operation = operator(summary);
const signing = operator();
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
    verdict('approve <batch>', 'Approve a batch that is pending_approval.', {
      examples: [
        'florin payouts approve pb_01… --as "Ada Lovelace"',
        'florin payouts approve pb_01… --as "Ada Lovelace" --token-file ada.token',
      ],
      run: ({ payouts }, given) => payouts.approve(given),
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
    signing('sign <batch>', 'Sign a batch of real money with your own key, for the signer that pays it', {
      examples: [
        'florin payouts sign pb_01… --as "Ada Lovelace" --key-file ada.pem',
        'florin payouts sign pb_01… --as "Ada Lovelace" --key-file ada.pem --passphrase-file passphrase',
      ],
      options: {
        as: required(text('--as <name>', "your name in the signer's policy")),
        keyFile: required(text('--key-file <file>', 'your key, made by florin approvers key')),
        passphraseFile: text('--passphrase-file <file>', 'file whose first line is its passphrase'),
      },
      run: ({ payouts }, { batch, as, keyFile, passphraseFile }) =>
        withSigner(async (signer) => {
          const passphrase =
            passphraseFile === undefined ? undefined : signer.readPassphrase(passphraseFile, undefined);
          const key = signer.openApproverKey(keyFile, passphrase);
          const validUntil = Math.floor(Date.now() / 1000) + SIGNATURE_SECONDS;
          const subject = await payouts.signable(batch);
          const signature = signer.signStatement(signer.statementOf(subject, validUntil), key);
          return await payouts.addSignature({ batch, approver: as, validUntil, signature });
        }),
      note: 'The signer judges it when the batch is paid: florin payouts list shows how far it is.',
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
