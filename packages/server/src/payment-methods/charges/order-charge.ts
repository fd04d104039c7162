import type { Db, Tx } from '../../platform/db/index.ts';
import { enqueue } from '../../platform/jobs/index.ts';
import type { MerchantTime } from '../../tenancy/index.ts';
import { type ChargedWallet, findDecidedCharge } from '../../transfers/charges/index.ts';
import { decidedJob, requestTransfers } from '../../transfers/index.ts';
import { watchJob } from '../mandates/watch-job.ts';
import { hastenReading, mandateOf, type PaymentMethodRow, walletOf } from '../queries.ts';

const OWNER_TYPE = 'charge';
/** A charge has ended; `chargeOutcome` returns the result. Payload `{ groupId }`, the id of its payment. */
export const CHARGE_DECIDED_JOB = decidedJob(OWNER_TYPE);

export interface OrderedCharge {
  /** Also the charge's id on the chain, so it pulls only once. */
  paymentId: string;
  /** Active, and locked by this transaction. */
  method: PaymentMethodRow;
  /** Units of the method's token. */
  amount: bigint;
  subscriptionId: string;
  /** Start of the cap window that includes this charge, Unix seconds. */
  windowStart: number;
  windowEnd: number;
  /** As of a `JobSpec`. */
  trace?: string | null | undefined;
}

/** Orders charges of a merchant in the caller's transaction. Each outcome enqueues a `CHARGE_DECIDED_JOB`. */
export async function orderCharges(
  tx: Tx,
  merchantId: string,
  charges: readonly OrderedCharge[],
  now: Pick<MerchantTime, 'seconds' | 'realMs'>,
): Promise<void> {
  const orders = charges.map(
    ({ paymentId, method, amount, subscriptionId, windowStart, windowEnd, trace }) => {
      const charge = { mandate: mandateOf(method), subscriptionId, windowStart, windowEnd };
      const owner = { ownerType: OWNER_TYPE, ownerId: paymentId, groupId: paymentId, place: 0 };
      return { ...owner, ...walletOf(method), amount, memo: null, charge, trace };
    },
  );
  await requestTransfers(tx, merchantId, orders, now);
}

/** The subscription and the wallet of a charge. */
interface Charged {
  subscriptionId: string;
  wallet: ChargedWallet;
}

export type ChargeOutcome = Charged &
  (
    | { status: 'succeeded'; txId: string }
    /**
     * `failureCode`: the network's reason, `address_risk`, or `transfer_failed` if the network's reason is not one of
     * ours.
     */
    | { status: 'failed'; txId: string | null; failureCode: string }
  );

/** The outcome of a charge; undefined while it is pending. Do not call it in a transaction. */
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
 * Makes all methods of charged wallets due for reading, because the wallets may now hold too little for their next
 * payments. Call it in the transaction that books charges of one network and token, and last: all charges of a network
 * share the row of the reading job.
 */
export async function scheduleWalletReads(
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
