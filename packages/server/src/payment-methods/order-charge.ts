import type { Db, Tx } from '../platform/db.ts';
import type { JobSpec } from '../platform/jobs/index.ts';
import type { Occasion } from '../platform/occasion.ts';
import {
  type ChargedWallet,
  decidedJob,
  findDecidedCharge,
  openChargesOf,
  requestTransfers,
} from '../transfers/index.ts';
import { hastenReading, mandateOf, type PaymentMethodRow } from './queries.ts';
import { watchJob } from './watch-job.ts';

const OWNER_TYPE = 'charge';
/** A charge is over: `chargeOutcome` says how; payload `{ groupId }`, the id of its payment. */
export const CHARGE_DECIDED_JOB = decidedJob(OWNER_TYPE);

export interface OrderedCharge {
  merchantId: string;
  /** The charge's id on the chain too: it pulls once. */
  paymentId: string;
  /** Active, and locked by this transaction. */
  method: PaymentMethodRow;
  /** Units of the method's token. */
  amount: bigint;
  subscriptionId: string;
  /** The window that the cap counts it in, Unix seconds. */
  windowStart: number;
  windowEnd: number;
}

/** Orders a charge in the transaction of its cause. Its outcome comes as `CHARGE_DECIDED_JOB`. */
export async function orderCharge(
  tx: Tx,
  { merchantId, paymentId, method, amount, subscriptionId, windowStart, windowEnd }: OrderedCharge,
  now: Pick<Occasion, 'seconds' | 'realMs'>,
): Promise<void> {
  const { network, currency, wallet_address: address } = method;
  const charge = { mandate: mandateOf(method), subscriptionId, windowStart, windowEnd };
  const owner = { ownerType: OWNER_TYPE, ownerId: paymentId, groupId: paymentId };
  const order = { ...owner, network, currency, address, amount, memo: null, charge };
  await requestTransfers(tx, merchantId, [order], now);
}

/** What a charge was of. */
interface Charged {
  subscriptionId: string;
  wallet: ChargedWallet;
}

export type ChargeOutcome = Charged &
  (
    | { status: 'succeeded'; txId: string }
    /** `failureCode`: why the network refused it, `address_risk`, or `transfer_failed` where it gave no reason of ours. */
    | { status: 'failed'; txId: string | null; failureCode: string }
  );

/** What became of a charge; undefined while it is on its way. */
export async function chargeOutcome(
  db: Db,
  merchantId: string,
  paymentId: string,
): Promise<ChargeOutcome | undefined> {
  const decided = await findDecidedCharge(db, merchantId, paymentId);
  if (decided === undefined) return undefined;
  const { status, tx_id: txId, failure_code: failureCode, subscription_id: subscriptionId } = decided;
  const { network, address, currency } = decided;
  const charged = { subscriptionId, wallet: { network, address, currency } };
  if (status === 'failed') return { ...charged, status, txId, failureCode: failureCode ?? 'transfer_failed' };
  if (txId === null) throw new Error(`charge ${paymentId} succeeded without a transaction`);
  return { ...charged, status, txId };
}

/**
 * Called in the transaction that books a charge: what it left in its wallet may be too little for what that pays next, by
 * this method or another one, so that all of them are read now.
 *
 * @returns the job that reads them. It is one row for all charges of a network, so it is written last
 */
export async function readAfterCharge(
  tx: Tx,
  { merchantId, wallet }: { merchantId: string; wallet: ChargedWallet },
  now: Pick<Occasion, 'seconds' | 'realMs'>,
): Promise<JobSpec> {
  await hastenReading(tx, merchantId, wallet, now.seconds);
  return watchJob(merchantId, wallet.network, now.realMs);
}

/** What charges that are not decided may still take out of the wallet of a method. */
export const openCharges = ({
  merchant_id: merchantId,
  network,
  currency,
  wallet_address: address,
}: PaymentMethodRow) => openChargesOf(merchantId, network, [{ currency, address }]);
