import type { Network } from '@florin/contract/money';
import { auditNetwork } from '../../packages/server/src/custody/audit.ts';
import { openPayment, scanOnce, sendAs } from '../checkout/deposits-by-hand.ts';
import { jobOf } from '../job.ts';
import { asOwner } from '../ledger.ts';
import type { TestService } from '../service.ts';

/** One look of the audit, as its job takes it. */
export const auditOnce = (service: TestService, merchantId: string, network: Network) =>
  auditNetwork(service.app, jobOf(merchantId, { network }));

/** A new merchant's payment of 100 USDT that is credited; `sendAgain` sends the same transaction once more. */
export async function creditedPayment(service: TestService, network: Network) {
  const payment = await openPayment(service, network);
  const sendAgain = () => sendAs(payment, 'the payer', [100]);
  const txId = await sendAgain();
  await payment.chain.mine(10);
  await scanOnce(service.app, payment.merchant.merchantId, network);
  return { ...payment, txId, sendAgain };
}

/** The operator's accounts with a merchant that are not 0. */
export async function operatorsOf(service: TestService, merchantId: string): Promise<Record<string, bigint>> {
  const rows = await asOwner<{ account: string; balance: string }>(
    service,
    `select account, balance::text from ledger_account where merchant_id = $1 and balance <> 0
     and split_part(account, ':', 1) in ('reorg_loss', 'float', 'kept')`,
    [merchantId],
  );
  return Object.fromEntries(rows.map((row) => [row.account, BigInt(row.balance)]));
}
