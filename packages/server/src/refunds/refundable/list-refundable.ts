import { findPaymentId } from '../../checkout/index.ts';
import { readPayment } from '../../payments/reads/index.ts';
import type { Db } from '../../platform/db/index.ts';
import { provenShare, sourcesOf } from './sources.ts';

/**
 * What may be refunded of a payment now, by the rules of `createRefund`.
 *
 * @throws Fail `resource_not_found`; `forbidden` for a payment of another store of the merchant
 */
export async function listRefundable(
  db: Db,
  owner: { merchantId: string; storeId: string },
  paymentId: string,
) {
  const view = await readPayment(db, owner.merchantId, await findPaymentId(db, owner, paymentId));
  return await Promise.all(
    sourcesOf(view).map(async (refundable) => {
      const { source, transfer } = refundable;
      const share = await provenShare(db, view, refundable);
      return {
        ...source,
        txId: transfer && `${transfer.txId}:${transfer.index}`,
        proven: share && { address: share.wallet, most: share.most < source.left ? share.most : source.left },
      };
    }),
  );
}
