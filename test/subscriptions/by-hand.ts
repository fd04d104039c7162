import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../../packages/server/src/app.ts';
import type { PaymentMethodRow } from '../../packages/server/src/payment-methods/index.ts';
import { saveMandate } from '../../packages/server/src/payment-methods/mandates/index.ts';
import { scanDeposits } from '../../packages/server/src/payments/deposits/scan-deposits.ts';
import type { Tx } from '../../packages/server/src/platform/db/db.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import type { Job, JobRun } from '../../packages/server/src/platform/jobs/index.ts';
import { getMerchant, moveClock } from '../../packages/server/src/stores/index.ts';
import { billSubscription } from '../../packages/server/src/subscriptions/bill-subscription.ts';
import { followPage } from '../../packages/server/src/subscriptions/follow-page.ts';
import { settleCharge } from '../../packages/server/src/subscriptions/settle-charge.ts';
import { merchantTime } from '../../packages/server/src/tenancy/merchant-time.ts';
import { decodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { sendTransfers } from '../../packages/server/src/transfers/index.ts';
import { jobOf } from '../job.ts';
import { asOwner } from '../ledger.ts';
import type { newMethod } from '../payment-methods/requests.ts';
import type { TestMerchant, TestService } from '../service.ts';

/** More than a block needs to become final. */
const FINAL_BLOCKS = 5;
const LOOK_EVERY_MS = 10;

/** Called in each transaction of a job, when all of it is written and nothing is committed. */
type BeforeCommit = (tx: Tx) => Promise<void>;

/** The jobs of a merchant's renewals, each run when a test says so, as there is no worker that would. */
export function byHand({ app }: TestService, { merchantId }: TestMerchant) {
  const run = (beforeCommit: BeforeCommit = async () => {}): JobRun => {
    const step = <T>(change: (tx: Tx) => Promise<T>) =>
      transact(app.db, async (tx) => {
        const result = await change(tx);
        await beforeCommit(tx);
        return result;
      });
    return { step, finish: step, onRevision: () => {}, signal: new AbortController().signal };
  };
  const job = (payload: Job['payload']) => jobOf(merchantId, payload, app.clock.nowMs());
  const uuid = (subscription: string) => decodeId('subscription', subscription) ?? '';
  const send = (charge: string) => sendTransfers(app, job({ groupId: charge }), run());
  const mine = () => app.chains.sandbox(merchantId, 'erc20').mine(FINAL_BLOCKS);
  const settle = (charge: string) => settleCharge(app, job({ groupId: charge }), run());
  return {
    /** Does what is due of a subscription. */
    bill: (subscription: string, beforeCommit?: BeforeCommit) =>
      billSubscription(app, job({ subscriptionId: uuid(subscription) }), run(beforeCommit)),
    /** The charge of a subscription that is on its way. */
    chargeOf: async (subscription: string): Promise<string | undefined> => {
      const row = await app.db
        .selectFrom('invoice')
        .select('live_attempt')
        .where('merchant_id', '=', merchantId)
        .where('subscription_id', '=', uuid(subscription))
        .where('live_attempt', 'is not', null)
        .executeTakeFirst();
      return row?.live_attempt ?? undefined;
    },
    send,
    settle,
    /** Makes what was sent final, and books it. */
    finish: async (charge: string) => {
      await mine();
      await send(charge);
      await settle(charge);
    },
    mine,
    /** Reads the network for what came in, until what waits for that is over. */
    scanUntil: async (work: Promise<unknown>) => {
      const end = new AbortController();
      void work.finally(() => end.abort()).catch(() => {});
      while (!end.signal.aborted) {
        await scanDeposits(app, job({ network: 'erc20' }), run());
        await sleep(LOOK_EVERY_MS);
      }
      await work;
    },
    /** Tells the subscription of the page of an invoice, or of a charge that was released. */
    follow: async (invoice: string, payment?: string) => {
      const invoiceId = decodeId('invoice', invoice) ?? '';
      const row = await app.db
        .selectFrom('invoice')
        .select('page_payment_id')
        .where('merchant_id', '=', merchantId)
        .where('invoice_id', '=', invoiceId)
        .executeTakeFirstOrThrow();
      return await followPage(app, job({ invoiceId, paymentId: payment ?? row.page_payment_id }), run());
    },
    /** Moves the merchant's clock, and runs nothing. */
    wait: (seconds: number) => transact(app.db, (tx) => moveClock(tx, merchantId, seconds)),
  };
}

/** Until a transaction of `work` waits for rows that another one holds, or `work` is over. */
export async function untilHeldUp(service: TestService, work: Promise<unknown>): Promise<void> {
  const end = new AbortController();
  void work.finally(() => end.abort()).catch(() => {});
  while (!end.signal.aborted) {
    const held = await asOwner(
      service,
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (held.length > 0) return;
    await sleep(LOOK_EVERY_MS);
  }
}

/** Another mandate of the wallet of a method that `newMethod` made, for the same customer. */
export async function secondMethod(
  { app }: { app: App },
  merchant: TestMerchant,
  { given, chain }: Awaited<ReturnType<typeof newMethod>>,
): Promise<PaymentMethodRow> {
  const { asset, payer, cap, period, startsAt, endsAt } = given.mandate;
  const allowance = given.reading.allowance;
  const terms = { asset, payer, cap, period, startsAt, endsAt, salt: randomUUID(), allowance };
  const { mandate, ...setup } = await chain.mandateSetup(terms);
  await chain.authorize({ mandate, ...setup }, { final: true });
  const now = merchantTime(app, await getMerchant(app.db, merchant.merchantId));
  return await transact(app.db, (tx) => saveMandate(tx, { ...given, mandate }, now));
}
