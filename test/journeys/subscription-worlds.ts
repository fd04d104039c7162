import type { Subscription } from '@florin/contract/schemas';
import { Collector } from '../../contracts/artifacts/index.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import { advanceClockJobs } from '../../packages/server/src/platform/jobs/index.ts';
import { TOKEN } from '../checkout/requests.ts';
import { freshAddress } from '../contracts/local-node.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { COLLECTOR, LiveStore } from '../live/live-store.ts';
import { PayerWallet } from '../live/payer-wallet.ts';
import { startService, type TestMerchant } from '../service.ts';
import { type Billing, billing, HOUR, item } from '../subscriptions/billing.ts';

export const PRICE = 20 * TOKEN;
/** What a payer's wallet holds at first. */
export const FUNDS = 1_000 * TOKEN;

/** What a payer does with a wallet, seen by the service as soon as it looks. */
export interface JourneyWallet {
  hold: (units: number) => Promise<void>;
  allow: (units: number) => Promise<void>;
  revoke: () => Promise<void>;
  balance: () => Promise<number>;
}

/** One merchant's subscriptions on a network, simulated or real. */
export interface Journey {
  api: Billing;
  merchant: TestMerchant;
  order: (more?: object) => Promise<Subscription>;
  /** The payer gives a mandate; a first charge that is due is final afterwards. */
  authorize: (subscription: Subscription) => Promise<JourneyWallet>;
  /** Time passes, period by period; charges that became due are final afterwards. */
  advance: (seconds: number) => Promise<void>;
}

export interface SubscriptionWorld {
  open: () => Promise<Journey>;
  expectBooksAgree: () => Promise<void>;
  stop: () => Promise<void>;
}

let customers = 0;
const orderOf = (more: object) => {
  customers += 1;
  const items = [item(PRICE, 'month', 'USDT')];
  return { customer: `customer-${customers}`, currency: 'USDT', items, ...more };
};

export async function sandboxWorld(): Promise<SubscriptionWorld> {
  const service = await startService({ worker: true });
  return {
    open: async () => {
      const merchant = await service.createMerchant({ funds: 0n });
      const api = billing(service, merchant);
      return {
        api,
        merchant,
        order: (more = {}) => api.make(orderOf(more)),
        authorize: async ({ id }) => {
          const { payment_method_id: method } = await api.authorize(id, { balance: FUNDS });
          const change = async (body: object) => {
            await api.post(`/test_helpers/payment_methods/${method}`, body);
          };
          const { method: row } = await api.wallet();
          const chain = service.app.chains.sandbox(merchant.merchantId, 'erc20');
          return {
            hold: (balance) => change({ balance }),
            allow: (allowance) => change({ allowance }),
            revoke: () => change({ revoked: true }),
            balance: async () => Number(await chain.balance(row.wallet_address, 'USDT', 'tip')),
          };
        },
        advance: async (seconds) => {
          await api.advance(seconds);
        },
      };
    },
    expectBooksAgree: () => expectLedgerWhole(service),
    stop: () => service.stop(),
  };
}

export async function liveWorld(): Promise<SubscriptionWorld> {
  const store = await LiveStore.start(undefined, { collector: true });
  const { service, merchant } = store;
  const api = billing(service, merchant);
  const advance = (seconds: number) => advanceLive(store, seconds);
  return {
    // All on one merchant: each payer has a wallet, and each customer a subscription, of their own.
    open: async () => ({
      api,
      merchant,
      order: (more = {}) => api.make(orderOf(more)),
      authorize: async (subscription) => {
        const payer = await PayerWallet.start(store, BigInt(FUNDS));
        const { steps } = await payer.subscribe(subscription);
        const { message: mandate } = JSON.parse(steps[1].typed_data) as { message: object };
        await settle(store);
        return {
          hold: async (units) => {
            const held = await payer.balance();
            if (held > 0n) await store.world.transfer('USDT', payer.account, freshAddress(7), held);
            if (units > 0) await store.world.mint('USDT', payer.address, BigInt(units));
            await seen(store, payer);
          },
          allow: async (units) => {
            await payer.approve(COLLECTOR, BigInt(units));
            await seen(store, payer);
          },
          revoke: async () => {
            await payer.call(COLLECTOR, { abi: Collector.abi, functionName: 'revoke', args: [mandate] });
            await seen(store, payer, true);
          },
          balance: async () => Number(await payer.balance()),
        };
      },
      advance,
    }),
    expectBooksAgree: () => store.expectSettled(),
    stop: () => store.stop(),
  };
}

/** An hour passes, in which its newest method is read by itself and shows what the wallet has by then; nothing is charged for it. */
export async function seen(store: LiveStore, payer: PayerWallet, isRevoked = false): Promise<void> {
  const { merchantId } = store.merchant;
  const [balance, allowance] = [await payer.balance(), await payer.allowance(COLLECTOR)];
  const expected = isRevoked ? { status: 'revoked' } : { balance, allowance };
  const shown = `select status, balance, allowance from payment_method where merchant_id = $1 and wallet_address = $2
    order by payment_method_id desc limit 1`;
  await settle(store);
  // Only what is final is read.
  await store.world.mine(store.world.finalBlocks + 1);
  const { number: height } = await store.world.client.getBlock({ blockTag: 'finalized' });
  const chain = store.service.app.chains.of({ merchantId, mode: 'live' }, 'erc20');
  await store.until(async () => ({ isKnown: (await chain.head()).finalHeight >= height }), { isKnown: true });
  await moveClock(store, HOUR);
  await store.until(
    async () => (await asOwner(store.service, shown, [merchantId, payer.address]))[0],
    expected,
  );
  await settle(store);
}

/** What is left to do now: nothing is under way, and nothing is due. */
const UNSETTLED = `
  select 'transfer ' || status as what from transfer where merchant_id = $1 and status in ('queued', 'sending')
  union all
  select 'activation' from mandate_activation where merchant_id = $1 and status = 'open'
  union all
  select kind from job where merchant_id = $1 and due_at_ms <= $2
    and kind in ('subscriptions.due', 'charge.decided', 'mandate.decided', 'payment_methods.news',
                 'payment_methods.watch', 'checkout.invoice-news')`;

/** A job that is written while the question is on its way is due a little later than its time. */
const SOON_MS = 1_000;

async function settle(store: LiveStore): Promise<void> {
  const { service, merchant } = store;
  await store.until(
    async () => {
      const left = await asOwner(service, UNSETTLED, [merchant.merchantId, Date.now() + SOON_MS]);
      return { left };
    },
    { left: [] },
  );
}

/** Moves the merchant's clock and the chain's from one due time to the next. */
export async function advanceLive(store: LiveStore, seconds: number): Promise<void> {
  const { merchantId } = store.merchant;
  // What is under way would seem to have been so for long, and is polled rarely then.
  await settle(store);
  for (let left = seconds; left > 0; ) {
    const [next] = await asOwner<{ due: string | null }>(
      store.service,
      `select min(due_at_ms) as due from job
       where merchant_id = $1 and kind = 'subscriptions.due' and due_at_ms > $2`,
      [merchantId, Date.now()],
    );
    const untilDue = next?.due == null ? left : Math.ceil((Number(next.due) - Date.now()) / 1000) + 1;
    const step = Math.min(left, Math.max(1, untilDue));
    await moveClock(store, step);
    left -= step;
    await settle(store);
  }
}

/** Moves both clocks, whatever is due by then. */
export async function moveClock({ service, merchant, world }: LiveStore, seconds: number): Promise<void> {
  const { merchantId } = merchant;
  const clock = 'update merchant set clock_offset = clock_offset + $2 where merchant_id = $1';
  await asOwner(service, clock, [merchantId, seconds]);
  await world.client.increaseTime({ seconds });
  await world.mine(1);
  await transact(service.app.db, (tx) =>
    advanceClockJobs(tx, merchantId, { ms: seconds * 1000, nowMs: Date.now(), retryKinds: [] }),
  );
}
