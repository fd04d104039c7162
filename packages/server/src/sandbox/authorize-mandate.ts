import { randomUUID } from 'node:crypto';
import type { Subscription, SubscriptionAuthorizeInput } from '@florin/contract/schemas';
import { confirmInSandbox } from '../payment-methods/mandates/index.ts';
import { quoteCharge } from '../payments/charges/index.ts';
import { Fail } from '../platform/fail.ts';
import { getMerchant } from '../stores/index.ts';
import {
  getSubscription,
  giveOffered,
  hasTryUnderWay,
  presentSubscription,
  type StoreCaller,
  type SubscriptionDeps,
  type SubscriptionRow,
} from '../subscriptions/index.ts';
import { mineBlocks } from './mine-blocks.ts';
import { reachChain } from './reach-chain.ts';

const UNITS_PER_TOKEN = 1_000_000n;
const CAP_TIMES = 10n;
/** So that only the cap limits charges: the highest number on the simulated chain. */
const UNLIMITED = 2n ** 63n - 1n;
/** For so many subscriptions a simulated wallet signs. */
const SUBSCRIPTIONS = 1_000;
const FINAL_BLOCKS = 3;
const TIMEOUT_MS = 20_000;
const POLL_MS = 20;

export interface Authorization {
  id: string;
  body: SubscriptionAuthorizeInput;
  /** Whether to mine blocks at once, for the whole merchant; else the charge becomes final as the clock advances. */
  mines: boolean;
}

/**
 * Gives a mandate from a new simulated wallet to a subscription, and waits for the charge of a due first invoice.
 *
 * @throws Fail `invalid_request` if the subscription has ended, `resource_not_found`, `forbidden`
 */
export async function authorizeMandate(
  deps: SubscriptionDeps,
  caller: StoreCaller,
  { id, body, mines }: Authorization,
): Promise<Subscription> {
  const subscription = await getSubscription(deps.db, caller, id);
  const merchant = await getMerchant(deps.db, caller.merchantId);
  const { currency, network } = body;
  const cap = body.cap === undefined ? await capOf(deps, caller, subscription, currency) : BigInt(body.cap);
  const balance = body.balance === undefined ? undefined : BigInt(body.balance);
  const wallet = deps.chains.sandbox(caller.merchantId, network).payerAddress(randomUUID());
  const choice = { currency, network, wallet, cap, subscriptions: SUBSCRIPTIONS, allowance: UNLIMITED };
  await giveOffered(deps, merchant, subscription, {
    choice,
    confirm: (setup) => reachChain(() => confirmInSandbox(deps, merchant, { network, setup, balance })),
  });
  const mine = () => mineBlocks(deps, caller.merchantId, { network, blocks: FINAL_BLOCKS });
  await waitForCharge(deps, subscription, mines ? mine : async () => {});
  return presentSubscription(await getSubscription(deps.db, caller, id));
}

/** @throws Fail `service_unavailable` without a rate */
async function capOf(
  deps: SubscriptionDeps,
  caller: StoreCaller,
  { amount, currency }: SubscriptionRow,
  token: SubscriptionAuthorizeInput['currency'],
): Promise<bigint> {
  if (amount === 0n) return CAP_TIMES * UNITS_PER_TOKEN;
  const quote = await quoteCharge(deps, caller, { amount, currency }, token);
  if (quote !== undefined) return quote.pay_amount * CAP_TIMES;
  throw new Fail('service_unavailable', {
    message: `There is no exchange rate for ${currency} now: name a cap.`,
    retryAfterSeconds: 30,
  });
}

/** Waits until the charge is final, or waits for something else. */
async function waitForCharge(
  deps: SubscriptionDeps,
  subscription: SubscriptionRow,
  mine: () => Promise<unknown>,
): Promise<void> {
  const endsAtMs = deps.clock.nowMs() + TIMEOUT_MS;
  for (;;) {
    const { clockOffset } = await getMerchant(deps.db, subscription.merchant_id);
    const now = deps.clock.nowSeconds() + clockOffset;
    const state = await hasTryUnderWay(deps.db, subscription, now);
    if (state === 'none' || deps.clock.nowMs() >= endsAtMs) return;
    if (state === 'sent') await reachChain(mine);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
