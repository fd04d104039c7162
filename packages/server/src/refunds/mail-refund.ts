import { NETWORK_NAMES, tokensText } from '@florin/pages';
import { findPayerPage } from '../checkout/index.ts';
import { type NewMail, queueMail } from '../mail/index.ts';
import type { PaymentRow } from '../payments/reads/index.ts';
import type { Tx } from '../platform/db/index.ts';
import type { Vault } from '../platform/secrets/index.ts';
import type { MerchantTime } from '../tenancy/index.ts';
import { CLAIM_PATH, claimToken } from './claim-link.ts';
import type { RefundRow } from './queries.ts';
import { awaitsApproval } from './states.ts';

/** What a payer hears of a refund. */
type RefundMail = { kind: 'refund_sent' | 'refund_paid' } | { kind: 'refund_claim'; vault: Vault };

/** Mails the payer of a payment whose address is known, in the transaction of the refund's change. */
export async function mailRefund(
  tx: Tx,
  { refund, payment }: { refund: RefundRow; payment: PaymentRow },
  mail: RefundMail,
  time: MerchantTime,
): Promise<void> {
  const { payer_email: to, payer_language: language } = payment;
  if (to === null) return;
  const { merchant_id: merchantId, store_id: storeId, network } = refund;
  const page = await findPayerPage(tx, payment);
  const amount = tokensText(refund.amount, refund.currency);
  await queueMail(tx, { merchantId, storeId }, time, {
    kind: mail.kind,
    about: refund.own_id,
    to,
    language,
    values: { amount },
    rows: {
      amount,
      ...(page?.orderId && { order: page.orderId }),
      network: NETWORK_NAMES[network],
      ...(refund.address !== null && { address: refund.address }),
      ...(refund.tx_id !== null && { transaction: refund.tx_id }),
    },
    link: linkOf(refund, mail, page),
  });
}

/** Mails the merchant's people about a refund that waits for their approval, in the transaction of its change. */
export async function mailWaiting(tx: Tx, refund: RefundRow, time: MerchantTime): Promise<void> {
  if (!awaitsApproval(refund)) return;
  const { merchant_id: merchantId, store_id: storeId, refund_id: cause, own_id: about, network } = refund;
  const amount = tokensText(refund.amount, refund.currency);
  await queueMail(tx, { merchantId, storeId }, time, {
    kind: 'refund_waiting',
    about,
    // Stores of one merchant may name refunds alike.
    cause,
    values: { amount, refund: about, approvals: String(refund.required_approvals) },
    rows: {
      amount,
      network: NETWORK_NAMES[network],
      ...(refund.address !== null && { address: refund.address }),
    },
    link: { to: 'console', page: `refunds/${encodeURIComponent(about)}` },
  });
}

function linkOf(refund: RefundRow, mail: RefundMail, page: { path: string } | undefined): NewMail['link'] {
  if (mail.kind !== 'refund_claim') return page === undefined ? null : { to: 'payment', path: page.path };
  const { claim_secret } = refund;
  if (claim_secret === null) return null;
  return { to: 'claim', path: `${CLAIM_PATH}/${claimToken(mail.vault, { ...refund, claim_secret })}` };
}
