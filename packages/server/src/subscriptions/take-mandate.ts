import {
  countMandates,
  findByMandate,
  type GivenMandate,
  saveMandate,
} from '../payment-methods/mandates/index.ts';
import { type Db, type Tx, transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Merchant } from '../stores/index.ts';
import { isPermitUnderWay, lockPermits, type PermitKey } from '../transfers/charges/index.ts';
import { decideMandate } from './decide/mandate.ts';
import { billingContext, decisionContextOf, type SubscriptionDeps } from './deps.ts';
import type { SubscriptionRow } from './queries.ts';
import { isFinal } from './states.ts';
import { withdrawWaiting } from './withdraw-charges.ts';
import { lockBilling, writeDecision } from './write-decisions.ts';

/** A mandate read from the chain, or signed for it. */
export type ShownOnChain = Pick<GivenMandate, 'network' | 'mandate' | 'reading' | 'signature' | 'permit'>;

/**
 * Stores the mandate that the payer of a subscription has given, and charges the open invoices to it at once. A
 * repeated call changes nothing.
 *
 * @throws Fail `invalid_request` if the subscription has ended
 */
export async function takeMandate(
  deps: SubscriptionDeps,
  merchant: Merchant,
  subscriptionId: string,
  shown: ShownOnChain,
): Promise<SubscriptionRow> {
  const context = await billingContext(deps, merchant);
  return await transact(deps.db, async (tx) => {
    const billing = await lockBilling(tx, merchant.merchantId, subscriptionId);
    const { status, store_id: storeId, customer_id: customerId, payment_method_id } = billing.subscription;
    if (isFinal(status))
      throw new Fail('invalid_request', `A subscription that is ${status} takes no mandate.`);
    if (shown.signature !== undefined)
      await checkNew(
        tx,
        { merchantId: merchant.merchantId, customerId, current: payment_method_id },
        shown,
        context.time.seconds,
      );
    const given = { merchantId: merchant.merchantId, storeId, customerId, ...shown };
    const method = await saveMandate(tx, given, context.time);
    if (method.payment_method_id === payment_method_id) return billing.subscription;
    const withdrawn = await withdrawWaiting(tx, billing, context);
    const change = {
      methodId: method.payment_method_id,
      withdrawn: withdrawn.map(({ invoiceId }) => invoiceId),
    };
    const decision = decideMandate(billing.facts, change, decisionContextOf(context));
    const toWrite = { before: billing, decision, context, additions: { withdrawn } };
    return (await writeDecision(tx, toWrite)).subscription;
  });
}

/** We pay for bringing each mandate to the network. Who changes the wallet or corrects a mistake needs a few. */
const MANDATES_PER_DAY = 10;
const DAY_SECONDS = 86_400;

/**
 * A mandate that was taken before, and is no longer the subscription's, does not come back by an old signature: whoever has
 * seen it on the chain could send it.
 *
 * @throws Fail `invalid_request`, `rate_limited`
 */
async function checkNew(
  tx: Tx,
  { merchantId, customerId, current }: { merchantId: string; customerId: string; current: string | null },
  { network, mandate, permit }: ShownOnChain,
  now: number,
): Promise<void> {
  const { mandateId, salt, payer, asset: currency } = mandate;
  const known = await findByMandate(tx, merchantId, { network, mandateId });
  if (known !== undefined) {
    if (known.payment_method_id === current) return;
    const message = 'These terms were given before: ask for new ones.';
    throw new Fail('invalid_request', { message, param: 'starts_at' });
  }
  if (permit !== undefined) {
    await lockPermits(tx, merchantId, { payer });
    await requireFreePermit(tx, merchantId, { network, currency, payer, nonce: permit.nonce });
  }
  if ((await countMandates(tx, { merchantId, customerId, salt }, now - DAY_SECONDS)) < MANDATES_PER_DAY)
    return;
  const message = 'So many mandates were given for this subscription today. Come back tomorrow.';
  throw new Fail('rate_limited', { message, retryAfterSeconds: 3_600 });
}

/**
 * A token takes each number of a wallet's signed approvals once: of two on their way at once, one comes to nothing.
 *
 * @throws Fail `invalid_request`
 */
export async function requireFreePermit(db: Db, merchantId: string, permit: PermitKey): Promise<void> {
  if (!(await isPermitUnderWay(db, merchantId, permit))) return;
  const message =
    'Another approval that this wallet has signed is on its way to the network. Ask for new terms in a minute.';
  throw new Fail('invalid_request', { message, param: 'permit_nonce' });
}
