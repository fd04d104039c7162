import type { Db, Tx } from '../platform/db/index.ts';
import { enqueue } from '../platform/jobs/index.ts';
import type { MerchantTime } from '../tenancy/index.ts';
import { type ChargedWallet, decidedJob, findDecidedCharge, requestTransfers } from '../transfers/index.ts';
import { hastenReading, mandateOf, type PaymentMethodRow, walletOf } from './queries.ts';
import { watchJob } from './watch-job.ts';

const OWNER_TYPE = 'charge';
/** A charge is over: `chargeOutcome` says how; payload `{ groupId }`, the id of its payment. */
export const CHARGE_DECIDED_JOB = decidedJob(OWNER_TYPE);

export interface OrderedCharge {
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
  /** As of a `JobSpec`. */
  trace?: string | null | undefined;
}

/** Orders charges of a merchant in the transaction of their cause. The outcome of each comes as `CHARGE_DECIDED_JOB`. */
export async function orderCharges(
  tx: Tx,
  merchantId: string,
  charges: readonly OrderedCharge[],
  now: Pick<MerchantTime, 'seconds' | 'realMs'>,
): Promise<void> {
  const orders = charges.map(
    ({ paymentId, method, amount, subscriptionId, windowStart, windowEnd, trace }) => {
      const charge = { mandate: mandateOf(method), subscriptionId, windowStart, windowEnd };
      const owner = { ownerType: OWNER_TYPE, ownerId: paymentId, groupId: paymentId };
      return { ...owner, ...walletOf(method), amount, memo: null, charge, trace };
    },
  );
  await requestTransfers(tx, merchantId, orders, now);
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

/** What became of a charge; undefined while it is on its way. Never in a transaction. */
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
 * Called in the transaction that books charges of one network and token: what they left in their wallets may be too little
 * for what those pay next, by these methods or others, so that all of them are read now. The job that reads them is one
 * row for all charges of a network, so this comes late.
 */
export async function readAfterCharges(
  tx: Tx,
  merchantId: string,
  wallets: readonly ChargedWallet[],
  now: Pick<MerchantTime, 'seconds' | 'realMs'>,
): Promise<void> {
  const [first] = wallets;
  if (first === undefined) return;
  const { network, currency } = first;
  const addresses = wallets.map(({ address }) => address);
  await hastenReading(tx, merchantId, { network, currency, addresses }, now.seconds);
  await enqueue(tx, [watchJob(merchantId, network, now.realMs)]);
}
