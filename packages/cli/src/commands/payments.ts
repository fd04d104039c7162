import type { Payment, PaymentTransaction } from '@florin/sdk';
import type { Operator } from '@florin/server/operator';
import { columnsOf } from '../columns.ts';
import { approver, merchant } from '../operations.ts';
import { choice, made, madeBetween, network, sortedPage, text } from '../options.ts';
import { priceOf } from '../prices.ts';
import { resource } from '../resource.ts';
import { formatUnits } from '../units.ts';

type Verdict = Awaited<ReturnType<Operator['payments']['release']>>;

const tokens = (units: number, currency: string | null) =>
  `${formatUnits(BigInt(units))}${currency === null ? '' : ` ${currency}`}`;

const summary = columnsOf<Payment>()(
  'id status price to_pay network address received refunded exceptions session=checkout_session order=order_id customer created completed=completed_at',
  {
    price: priceOf,
    to_pay: ({ pay_amount: amount, pay_currency }) => (amount === null ? null : tokens(amount, pay_currency)),
    received: ({ amount_received, pay_currency }) => tokens(amount_received, pay_currency),
    refunded: ({ amount_refunded, pay_currency }) => tokens(amount_refunded, pay_currency),
  },
);

const listed = columnsOf<Payment>()('id status price received network order=order_id customer created', {
  price: priceOf,
  received: ({ amount_received, pay_currency }) => tokens(amount_received, pay_currency),
});

const STATUSES = ['pending', 'processing', 'completed', 'failed', 'expired', 'cancelled', 'frozen'] as const;
const EXCEPTIONS = ['underpaid', 'overpaid', 'late', 'wrong_token', 'canceled'] as const;

const transactionRow = columnsOf<PaymentTransaction>()(
  'amount network kind status confirmations from tx_id',
  {
    amount: ({ amount, currency }) => tokens(amount, currency ?? 'unlisted'),
    confirmations: ({ confirmations, required_confirmations: needed }) => `${confirmations}/${needed}`,
    // As `accept --tx-id` and refunds name it.
    tx_id: ({ tx_id, index }) => `${tx_id}:${index}`,
  },
);

const transactionRows = ({ transactions }: Payment) => transactions.map(transactionRow);

/** A short form of the payment, with the number of equal votes. */
const counted = ({ payment, ...count }: Verdict) => ({
  payment: payment.id,
  status: payment.status,
  ...count,
});

const operation = merchant(summary);
const verdict = approver(counted);

export const addPayments = resource({
  name: 'payments',
  description: 'Payments: received and held money',
  examples: ['florin payments list --since today', 'florin payments show pay_01…'],
  operations: [
    operation('list', 'List the payments of the store, newest first', {
      examples: [
        'florin payments list --since today --json',
        'florin payments list --order-id A-17',
        'florin payments list --since 2026-11-01 --until 2026-12-01 --csv > november.csv',
      ],
      options: {
        status: choice('--status <status>', 'in this status', STATUSES),
        exception: choice('--exception <exception>', 'that deviate so', EXCEPTIONS),
        order_id: text('--order-id <id>', 'of this order, by your own reference'),
        customer: text('--customer <id>', 'of this customer, by your own id'),
        currency: text('--currency <code>', 'priced in this currency'),
        network,
        address: text('--address <address>', 'whose payer was shown this address'),
        tx_id: text('--tx-id <id>', 'that this transaction paid'),
        ...made,
        ...sortedPage('payment'),
      },
      read: madeBetween,
      run: ({ payments }, query) => payments.list(query),
      row: listed,
    }),
    operation(
      'show <payment>',
      'Show a payment, by its id or its session, and each transfer to its addresses',
      {
        examples: ['florin payments show pay_01…', 'florin payments show cs_01… --json'],
        run: ({ payments }, { payment }) => payments.retrieve(payment),
        parts: transactionRows,
      },
    ),
    operation('accept <payment>', 'Accept the held money of a payment that is underpaid or late', {
      examples: [
        'florin payments accept pay_01…',
        'florin payments accept pay_01… --tx-id 0x9f…:0   # one transfer of a wrong token',
      ],
      options: {
        tx_id: text(
          '--tx-id <id>',
          'this one transfer of a wrong token alone, as <tx_id> or <tx_id>:<index>',
        ),
      },
      run: ({ payments }, { payment, ...input }) => payments.accept(payment, input),
      parts: transactionRows,
    }),
    verdict(
      'release <payment> <tx-id>',
      'Release seized money, which then counts as if it arrived now. Needs two approvers.',
      ({ payments }, { tx_id: txId, ...given }) => payments.release({ txId, ...given }),
    ),
    verdict(
      'keep <payment> <tx-id>',
      'Keep seized money from the merchant for good. Needs two approvers.',
      ({ payments }, { tx_id: txId, ...given }) => payments.keep({ txId, ...given }),
    ),
  ],
});
