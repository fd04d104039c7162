import type { Auditors } from '../../transfers/blocks/index.ts';
import { loseCharge, regainCharge } from '../charges/charges.ts';
import { rescanBlocks } from '../deposits/rescan.ts';
import type { MerchantRef, PaymentDeps } from '../deps.ts';

/** The money of a merchant's payments, for an audit of final blocks. @param seconds the merchant's clock */
export function auditedMoney(deps: PaymentDeps, merchant: MerchantRef, seconds: number): Auditors {
  const { merchantId } = merchant;
  return {
    readDeposits: async (blocks) => {
      const { known, isAhead } = await rescanBlocks(deps, merchant, blocks);
      return known + Number(isAhead);
    },
    // The operator bears a charge that a reorganisation removed until the same transaction is final again.
    books: {
      lose: (tx, paymentId) => loseCharge(tx, { merchantId, paymentId }, { seconds }),
      regain: (tx, paymentId) => regainCharge(tx, { merchantId, paymentId }, { seconds }),
    },
  };
}
