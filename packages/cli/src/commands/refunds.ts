import type { Refund, RefundInput } from '@florin/sdk';
import type { Operator } from '@florin/server/operator';
import { columnsOf } from '../columns.ts';
import { wrongUsage } from '../failure.ts';
import { approver, approving, merchant, operator } from '../operations.ts';
import { choice, made, madeBetween, network, sortedPage, text, token } from '../options.ts';
import { resource } from '../resource.ts';
import { formatUnits } from '../units.ts';

type Waiting = Awaited<ReturnType<Operator['refunds']['awaitingApproval']>>[number];
type Decided = Awaited<ReturnType<Operator['refunds']['approve']>>;
type Lost = Awaited<ReturnType<Operator['refunds']['repay']>>;

const amount = ({ amount: units, currency }: Pick<Refund, 'amount' | 'currency'>) =>
  `${formatUnits(BigInt(units))} ${currency}`;

const summary = columnsOf<Refund>()(
  'refund_id status amount network address claim_url payment=payment_id tx_id failure_reason waiting_for reason created completed=completed_at',
  { amount },
);

const listed = columnsOf<Refund>()('refund_id status amount network payment=payment_id tx_id created', {
  amount,
});

const STATUSES = ['pending', 'processing', 'succeeded', 'failed', 'canceled'] as const;

/** The main fields of a refund that waits for approval. */
const waitingRow = columnsOf<Waiting>()(
  'refund_id merchant=merchant_id status amount network address payment=payment_id reason approvals_needed=required_approvals created',
  { amount },
);

const decidedRow = (refund: Decided) => ({ ...waitingRow(refund), approvals: refund.approvals });

const lostRow = ({ refund, ...count }: Lost) => ({ ...count, ...summary(refund) });

interface Wanted extends Omit<RefundInput, 'currency'> {
  currency?: string;
}

function inputOf({ currency: code, ...fields }: Wanted): RefundInput {
  const currency = code?.toUpperCase();
  if (currency !== undefined && currency !== 'USDT' && currency !== 'USDC')
    throw wrongUsage(`A refund is in USDT or USDC: not ${code}.`);
  if (fields.amount !== undefined && currency === undefined)
    throw wrongUsage('--amount goes with --currency USDT or USDC.');
  return { ...fields, ...(currency === undefined ? {} : { currency }) };
}

const whose = { merchant: text('--merchant <id>', 'whose refund; needed where several have one of this id') };

const operation = merchant(summary);
const verdict = approver(decidedRow);
const approval = approving(decidedRow);
const lostRefund = approver(lostRow);

export const addRefunds = resource({
  name: 'refunds',
  description: 'Refunds to payers',
  examples: ['florin refunds create pay_01… --id A-17-r1', 'florin refunds show A-17-r1'],
  operations: [
    operation('create <payment>', 'Refund a payment, or a part of it', {
      examples: [
        'florin refunds create pay_01…                                  # all that is left; the payer names the address',
        'florin refunds create pay_01… --id A-17-r1 --amount 5.00 --currency USDT --address 0x52…',
        'florin refunds create pay_01… --tx-id 0x9f…:0                  # one transfer of a wrong token',
      ],
      options: {
        refund_id: text('--id <refund>', 'your own id of the refund; makes one refund of repeats'),
        amount: text('--amount <tokens>', 'so much instead of all that is left'),
        currency: text('--currency <code>', 'the token of the amount'),
        address: text(
          '--address <address>',
          'where it goes; else the proven wallet, else the payer says it behind a link',
        ),
        tx_id: text('--tx-id <id>', 'this one transfer of a wrong token, as <tx_id> or <tx_id>:<index>'),
        reason: text('--reason <text>', 'for your own records'),
      },
      read: ({ payment, ...wanted }) => inputOf({ payment_id: payment, ...wanted }),
      run: ({ refunds }, input) => refunds.create(input),
    }),
    operation('list', 'List the refunds of the store, newest first', {
      examples: [
        'florin refunds list --since today --json',
        'florin refunds list --status pending',
        'florin refunds list --since 2026-11-01 --until 2026-12-01 --csv > november.csv',
      ],
      options: {
        status: choice('--status <status>', 'in this status', STATUSES),
        currency: token,
        network,
        address: text('--address <address>', 'that go to this address'),
        tx_id: text('--tx-id <id>', 'that this transaction pays out'),
        ...made,
        ...sortedPage('refund'),
      },
      read: madeBetween,
      run: ({ refunds }, query) => refunds.list(query),
      row: listed,
    }),
    operation('show <refund>', 'Show a refund, by your own id', {
      examples: ['florin refunds show A-17-r1', 'florin refunds show A-17-r1 --json'],
      run: ({ refunds }, { refund }) => refunds.retrieve(refund),
    }),
    operation('cancel <refund>', 'Cancel a refund that is pending', ({ refunds }, { refund }) =>
      refunds.cancel(refund),
    ),
    lostRefund(
      'repay <refund>',
      'Pay a refund again whose transaction a reorganisation removed for good. Needs two approvers.',
      { options: whose, run: ({ refunds }, given) => refunds.repay(given) },
    ),
    lostRefund(
      'give-back <refund>',
      'Return the money of a refund whose transaction a reorganisation removed for good. Needs two approvers.',
      { options: whose, run: ({ refunds }, given) => refunds.giveBack(given) },
    ),
    approval('approve <refund>', 'Approve a refund with its amount and address.', {
      examples: [
        'florin refunds approve A-17-r1 --as "Ada Lovelace"',
        'florin refunds approve A-17-r1 --merchant mer_01… --as "Ada Lovelace" --key-file ada.pem',
      ],
      options: whose,
      run: async ({ refunds }, { prove, ...named }) =>
        await refunds.approve({ ...named, ...(await prove(() => refunds.statement(named))) }),
    }),
    operator()('statement <refund>', 'Show what the approvers of a refund of real money sign', {
      examples: [
        'florin refunds statement A-17-r1 --json > refund.json   # for florin approvers sign refund.json',
      ],
      options: whose,
      run: ({ refunds }, named) => refunds.statement(named),
    }),
    verdict(
      'reject <refund>',
      'Reject a refund that waits for approval: it is canceled and its money released.',
      {
        examples: [
          'florin refunds reject A-17-r1 --as "Ada Lovelace"',
          'florin refunds reject A-17-r1 --merchant mer_01… --as "Ada Lovelace" --token-file ada.token',
        ],
        options: whose,
        run: ({ refunds }, given) => refunds.reject(given),
      },
    ),
    operator(waitingRow)('awaiting-approval', 'List refunds that wait for approval, oldest first', {
      options: { merchant: text('--merchant <id>', 'of this merchant alone') },
      run: ({ refunds }, { merchant }) => refunds.awaitingApproval(merchant),
    }),
  ],
});
