import type { Refund, RefundInput } from '@florin/sdk';
import type { Operator } from '@florin/server/operator';
import { wrongUsage } from '../failure.ts';
import { timeOf, timeOrNone } from '../merchant.ts';
import { approver, merchant, operator, resource } from '../operations.ts';
import { text } from '../parameters.ts';
import { formatUnits } from '../units.ts';

type Waiting = Awaited<ReturnType<Operator['refunds']['awaitingApproval']>>[number];
type Decided = Awaited<ReturnType<Operator['refunds']['approve']>>;
type Lost = Awaited<ReturnType<Operator['refunds']['repay']>>;

const summary = (refund: Refund) => ({
  refund_id: refund.refund_id,
  status: refund.status,
  amount: `${formatUnits(BigInt(refund.amount))} ${refund.currency}`,
  network: refund.network,
  address: refund.address,
  claim_url: refund.claim_url,
  payment: refund.payment_id,
  tx_id: refund.tx_id,
  failure_reason: refund.failure_reason,
  reason: refund.reason,
  created: timeOf(refund.created),
  completed: timeOrNone(refund.completed_at),
});

/** What decides about a refund that waits for approval. */
const waitingRow = (refund: Waiting) => ({
  refund_id: refund.refund_id,
  merchant: refund.merchant_id,
  status: refund.status,
  amount: `${formatUnits(BigInt(refund.amount))} ${refund.currency}`,
  network: refund.network,
  address: refund.address,
  payment: refund.payment_id,
  reason: refund.reason,
  approvals_needed: refund.required_approvals,
  created: timeOf(refund.created),
});

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

export const addRefunds = resource({
  name: 'refunds',
  description: 'Money back to payers',
  examples: ['florin refunds create pay_01… --id A-17-r1', 'florin refunds show A-17-r1'],
  operations: [
    merchant('create <payment>', 'Refund a payment, or a part of it', {
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
      call: ({ refunds }, input) => refunds.create(input),
      row: summary,
    }),
    merchant('show <refund>', 'Show a refund, by your own id of it', {
      examples: ['florin refunds show A-17-r1', 'florin refunds show A-17-r1 --json'],
      call: ({ refunds }, { refund }) => refunds.retrieve(refund),
      row: summary,
    }),
    merchant('cancel <refund>', 'Cancel a refund that is pending', {
      call: ({ refunds }, { refund }) => refunds.cancel(refund),
      row: summary,
    }),
    approver(
      'repay <refund>',
      'Pay a refund anew that a reorganisation took for good, once a second approver says so.',
      { options: whose, call: ({ refunds }, verdict) => refunds.repay(verdict), row: lostRow },
    ),
    approver(
      'give-back <refund>',
      'Give back the money of a refund that a reorganisation took for good, once a second approver says so.',
      { options: whose, call: ({ refunds }, verdict) => refunds.giveBack(verdict), row: lostRow },
    ),
    approver('approve <refund>', 'Approve a refund that waits for it, for its amount and address.', {
      examples: [
        'florin refunds approve A-17-r1 --as "Ada Lovelace"',
        'florin refunds approve A-17-r1 --merchant mer_01… --as "Ada Lovelace" --token-file ada.token',
      ],
      options: whose,
      call: ({ refunds }, decision) => refunds.approve(decision),
      row: decidedRow,
    }),
    approver(
      'reject <refund>',
      'Reject a refund that waits for approval: it is canceled and its money given back.',
      {
        examples: [
          'florin refunds reject A-17-r1 --as "Ada Lovelace"',
          'florin refunds reject A-17-r1 --merchant mer_01… --as "Ada Lovelace" --token-file ada.token',
        ],
        options: whose,
        call: ({ refunds }, decision) => refunds.reject(decision),
        row: decidedRow,
      },
    ),
    operator('awaiting-approval', 'List refunds that wait for approval, oldest first', {
      options: { merchant: text('--merchant <id>', 'of this merchant alone') },
      call: ({ refunds }, { merchant }) => refunds.awaitingApproval(merchant),
      row: waitingRow,
    }),
  ],
});
