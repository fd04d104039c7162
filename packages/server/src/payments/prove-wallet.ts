import { transact } from '../platform/db/index.ts';
import type { MerchantRef, PaymentDeps } from './deps.ts';
import { lockPayment, updatePayment } from './reads/queries.ts';

/**
 * The proven wallet that a payment keeps. The first one stays, unless it has sent nothing and the later one has: a stranger
 * with the page's address, or a payer who chose the wrong account, keeps nobody's refund from its sender.
 */
export function keptWallet(
  known: string | null,
  claimed: string,
  transfers: readonly { sender: string }[],
): string {
  const hasSent = (wallet: string) => transfers.some(({ sender }) => sender === wallet);
  return known === null || (!hasSent(known) && hasSent(claimed)) ? claimed : known;
}

/** Records the payer's proven wallet, canonical. @returns whether the payment keeps this one */
export async function proveWallet(
  deps: Pick<PaymentDeps, 'db'>,
  { merchantId }: Pick<MerchantRef, 'merchantId'>,
  paymentId: string,
  address: string,
): Promise<boolean> {
  return await transact(deps.db, async (tx) => {
    const { payment, transactions } = await lockPayment(tx, merchantId, paymentId);
    const known = payment.wallet_address;
    const kept = keptWallet(known, address, transactions);
    if (kept !== known) await updatePayment(tx, payment, { wallet_address: kept });
    return kept === address;
  });
}
