import { tokensText } from '@florin/pages';
import type { PaymentNotice } from '../mail/index.ts';
import { currentOption } from './facts.ts';
import { isDust } from './quotes/quote-status.ts';
import { type PaymentView, transactionKey } from './reads/queries.ts';

/**
 * What the payer hears of a change that did not complete the payment: money that is final and too little, too late or in
 * another token. What completes it is told by the receipt. Dust and transfers of sanctioned wallets and unknown tokens are not
 * told: whoever knows the address could write mails with them.
 */
export function paymentNotices(before: PaymentView, after: PaymentView): PaymentNotice[] {
  return [...moneyNotices(before, after), ...wrongTokens(before, after)];
}

function moneyNotices({ payment: before }: PaymentView, after: PaymentView): PaymentNotice[] {
  const { status, received_amount: received, fixed_currency: token } = after.payment;
  if (token === null || isTooLittle(received, after)) return [];
  const came = received - before.received_amount;
  const isOver = status === 'expired' || status === 'cancelled';
  const notice = (kind: PaymentNotice['kind'], amount: bigint) => [
    { kind, amount: tokensText(amount, token), cause: String(received), network: null, transaction: null },
  ];
  if (isOver && before.status !== status) return notice('payment_incomplete', received);
  if (isTooLittle(came, after)) return [];
  if (isOver) return notice('payment_late', came);
  return status === 'pending' ? notice('payment_underpaid', received) : [];
}

const isTooLittle = (amount: bigint, view: PaymentView) =>
  amount <= 0n || isDust(amount, currentOption(view)?.pay_amount ?? 0n);

/** One for each token and network: the page has them all. */
function wrongTokens(before: PaymentView, after: PaymentView): PaymentNotice[] {
  const known = new Set(before.transactions.filter(isWrongToken).map(transactionKey));
  return after.transactions
    .filter((t) => isWrongToken(t) && !known.has(transactionKey(t)) && !isTooLittle(t.amount, after))
    .map(({ amount, currency, network, tx_id: transaction }) => ({
      kind: 'payment_wrong_token',
      amount: tokensText(amount, currency ?? ''),
      cause: `${currency} ${network}`,
      network,
      transaction,
    }));
}

const isWrongToken = ({ kind, status }: PaymentView['transactions'][number]) =>
  kind === 'wrong_token' && status === 'final';
