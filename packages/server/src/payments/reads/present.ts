import type { Payment, PaymentTransaction } from '@florin/contract/schemas';
import { encodeId } from '../../tenancy/index.ts';
import { currentOption, factsOf } from '../facts.ts';
import { exceptionsOf, type Rules } from '../states.ts';
import type { PaymentView, TransactionRow } from './queries.ts';

const seconds = (value: bigint | number | null) => (value === null ? null : Number(value));

function presentTransaction(row: TransactionRow, { heights }: PaymentView): PaymentTransaction {
  const above = Number((heights.get(row.network) ?? BigInt(row.height)) - BigInt(row.height)) + 1;
  const required = row.required_confirmations;
  const confirmations = {
    seen: Math.max(0, Math.min(above, required)),
    final: required,
    gone: 0,
  };
  return {
    tx_id: row.tx_id,
    index: row.index,
    currency: row.currency,
    network: row.network,
    address: row.address,
    from: row.sender,
    amount: Number(row.amount),
    kind: row.kind,
    confirmations: confirmations[row.status],
    required_confirmations: required,
    status: row.status,
    seen_at: Number(row.seen_at),
    final_at: seconds(row.final_at),
  };
}

export function presentPayment(view: PaymentView, rules: Rules): Payment {
  const { payment, transactions } = view;
  const option = currentOption(view);
  return {
    id: encodeId('payment', payment.payment_id),
    object: 'payment',
    store_id: encodeId('store', payment.store_id),
    checkout_session: payment.session_id && encodeId('checkoutSession', payment.session_id),
    invoice: payment.invoice_id && encodeId('invoice', payment.invoice_id),
    customer: payment.customer,
    order_id: payment.order_id,
    amount: Number(payment.amount),
    currency: payment.currency,
    status: payment.status,
    pay_currency: option?.currency ?? null,
    network: option?.network ?? null,
    pay_amount: option === undefined ? null : Number(option.pay_amount),
    exchange_rate: option?.exchange_rate ?? null,
    // The hot wallet, which receives charges, is never shown to payers.
    address: option === undefined || option.watch === null ? null : option.address,
    amount_received: Number(payment.received_amount),
    amount_refunded: Number(payment.refunded_amount),
    exceptions: exceptionsOf(factsOf(view), rules),
    transactions: transactions.map((row) => presentTransaction(row, view)),
    decline_code: payment.decline_code,
    created: Number(payment.created_at),
    completed_at: seconds(payment.completed_at),
    expires_at: seconds(payment.expires_at),
    metadata: payment.metadata,
  };
}
