import type { ChargeBooks } from '../transfers/index.ts';
import { loseCharge, regainCharge } from './charges.ts';

/** Books charges that a reorganisation removed: the operator's loss until the same transaction is final again. */
export function chargeBooks(merchantId: string, seconds: number): ChargeBooks {
  return {
    lose: (tx, paymentId) => loseCharge(tx, { merchantId, paymentId }, { seconds }),
    regain: (tx, paymentId) => regainCharge(tx, { merchantId, paymentId }, { seconds }),
  };
}
