import type { Payment, PaymentTransaction } from '@florin/sdk';
import type { Operator } from '@florin/server/operator';
import { timeOf, timeOrNone } from '../merchant.ts';
import { approver, merchant, resource } from '../operations.ts';
import { text } from '../parameters.ts';
import { priceOf } from '../prices.ts';
import { formatUnits } from '../units.ts';

type Verdict = Awaited<ReturnType<Operator['payments']['release']>>;

const tokens = (units: number, currency: string | null) =>
  `${formatUnits(BigInt(units))}${currency === null ? '' : ` ${currency}`}`;

const summary = (payment: Payment) => ({
  id: payment.id,
  status: payment.status,
  price: priceOf(payment),
  to_pay: payment.pay_amount === null ? null : tokens(payment.pay_amount, payment.pay_currency),
  network: payment.network,
  address: payment.address,
  received: tokens(payment.amount_received, payment.pay_currency),
  refunded: tokens(payment.amount_refunded, payment.pay_currency),
  exceptions: payment.exceptions,
  session: payment.checkout_session,
  customer: payment.customer,
  created: timeOf(payment.created),
  completed: timeOrNone(payment.completed_at),
});

const transactionRow = (transaction: PaymentTransaction) => ({
  amount: tokens(transaction.amount, transaction.currency ?? 'unlisted'),
  network: transaction.network,
  kind: transaction.kind,
  status: transaction.status,
  confirmations: `${transaction.confirmations}/${transaction.required_confirmations}`,
  from: transaction.from,
  // As `accept --tx-id` and refunds name it.
  tx_id: `${transaction.tx_id}:${transaction.index}`,
});

const transactionRows = ({ transactions }: Payment) => transactions.map(transactionRow);

/** The payment in two words, and how many approvers have said so. */
const counted = ({ payment, ...count }: Verdict) => ({
  payment: payment.id,
  status: payment.status,
  ...count,
});

export const addPayments = resource({
  name: 'payments',
  description: 'Payments: what arrived, and what is held',
  examples: ['florin payments show pay_01…', 'florin payments accept pay_01…'],
  operations: [
    merchant(
      'show <payment>',
      'Show a payment, by its id or its session, and each transfer to its addresses',
      {
        examples: ['florin payments show pay_01…', 'florin payments show cs_01… --json'],
        call: ({ payments }, { payment }) => payments.retrieve(payment),
        row: summary,
        parts: transactionRows,
      },
    ),
    merchant('accept <payment>', 'Take what is held of a payment as it is: too little, or after its end', {
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
      call: ({ payments }, { payment, ...input }) => payments.accept(payment, input),
      row: summary,
      parts: transactionRows,
    }),
    approver(
      'release <payment> <tx-id>',
      'Let seized money count as if it arrived now, once a second approver says so.',
      {
        call: ({ payments }, { tx_id: txId, ...verdict }) => payments.release({ txId, ...verdict }),
        row: counted,
      },
    ),
    approver(
      'keep <payment> <tx-id>',
      'Take seized money from the merchant for good, once a second approver says so.',
      {
        call: ({ payments }, { tx_id: txId, ...verdict }) => payments.keep({ txId, ...verdict }),
        row: counted,
      },
    ),
  ],
});
