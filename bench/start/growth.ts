import { setTimeout as sleep } from 'node:timers/promises';
import type { Florin } from '@florin/sdk';
import { randomAddress } from '../create/addresses.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { median, short } from '../statistics.ts';
import { startReceivers } from '../webhooks/receivers.ts';
import { type Sandbox, withSandboxPlace } from './premises.ts';
import type { Held } from './sandbox.ts';

/** Of what a merchant does, all of `takeTurn`, begun this often. */
const TURNS_A_SECOND = 2;
/** A turn that would begin while so many are under way is left out and counted. */
const TURNS_AT_ONCE = 20;
const SAMPLES = 60;
/** The first and the last of the samples, whose medians are compared. */
const COMPARED = 10;

/**
 * Row 12c: what the whole sandbox process has taken on after an hour in which its merchant pays out, takes payments and
 * subscriptions, refunds, reads and receives webhooks. Garbage is collected before each sample, so that a leak shows and
 * the laziness of the collector does not.
 */
export async function runGrowth(_server: unknown, options: RunOptions): Promise<Findings> {
  const receivers = await startReceivers(1);
  try {
    return await withSandboxPlace(options, async (place) => {
      const sandbox = await place.start(receivers.env);
      try {
        const florin = await place.client();
        await florin.webhookEndpoints.create({ url: `${receivers.urls[0]}/hook` });
        for (const currency of ['USDT', 'USDC'] as const) {
          await florin.testHelpers.fund({ currency, network: 'trc20', amount: '1000000' });
        }
        return await measure(sandbox, florin, options);
      } finally {
        await sandbox.stop();
      }
    });
  } finally {
    await receivers.close();
  }
}

async function measure(sandbox: Sandbox, florin: Florin, { quick, log }: RunOptions): Promise<Findings> {
  const warmUpMs = quick ? 30_000 : 600_000;
  const pauseMs = quick ? 2_000 : 60_000;
  const load = startLoad(florin);
  const samples: Held[] = [];
  try {
    await load.during(warmUpMs);
    for (let i = 0; i < SAMPLES; i++) {
      await load.during(pauseMs);
      sandbox.send('collect');
      const held = await sandbox.next<Held>();
      samples.push(held);
      log(
        `  ${i + 1}/${SAMPLES} after ${load.turns()} turns: ${short(held.residentMegabytes)} MB resident, ` +
          `${short(held.objectMegabytes)} MB of objects`,
      );
    }
  } finally {
    await load.stop();
  }
  const grown = (of: keyof Held) => {
    const values = samples.map((sample) => sample[of]);
    return median(values.slice(-COMPARED)) - median(values.slice(0, COMPARED));
  };
  const raw = {
    'resident, MB': samples.map((sample) => sample.residentMegabytes),
    'objects, MB': samples.map((sample) => sample.objectMegabytes),
  };
  const minutes = (pauseMs * SAMPLES) / 60_000;
  return {
    results: [{ row: '12c', values: [grown('residentMegabytes')], raw }],
    remarks: [
      `Growth is that of resident memory after a collection of garbage, the median of the last ${COMPARED} against the first ` +
        `${COMPARED} of ${SAMPLES} samples in ${short(minutes)} minutes after ${short(warmUpMs / 60_000)} minutes of the ` +
        `same load; its objects changed by ${short(grown('objectMegabytes'))} MB to ${short(samples.at(-1)?.objectMegabytes ?? 0)} MB. ` +
        `${load.turns()} turns of 11 calls each: a batch of 10 payouts, a paid session, a refund, a subscription that is ` +
        `paid and canceled, lists; ${load.leftOut()} were left out because ${TURNS_AT_ONCE} were under way.`,
    ],
  };
}

interface Load {
  /** Waits. @throws what a turn has failed with */
  during(ms: number): Promise<void>;
  turns(): number;
  leftOut(): number;
  stop(): Promise<void>;
}

function startLoad(florin: Florin): Load {
  const failed = new AbortController();
  const underWay = new Set<Promise<void>>();
  let turns = 0;
  let leftOut = 0;
  const timer = setInterval(() => {
    if (underWay.size >= TURNS_AT_ONCE) {
      leftOut += 1;
      return;
    }
    turns += 1;
    const turn = takeTurn(florin, turns)
      .catch((error: unknown) => failed.abort(error))
      .finally(() => underWay.delete(turn));
    underWay.add(turn);
  }, 1_000 / TURNS_A_SECOND);
  return {
    async during(ms) {
      const { signal } = failed;
      await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
    },
    turns: () => turns,
    leftOut: () => leftOut,
    async stop() {
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}

/** One of everything that a merchant does. */
async function takeTurn(florin: Florin, turn: number): Promise<void> {
  const items = Array.from({ length: 10 }, () => ({
    network: 'trc20' as const,
    address: randomAddress('trc20'),
    amount: '1.00',
  }));
  const batch = await florin.payouts.create({ currency: 'USDT', items });
  await florin.payouts.submit(batch.batch_id);
  const chosen = { currency: 'USDC', network: 'erc20' } as const;
  const session = await florin.checkout.sessions.create({ amount: 500n, currency: 'USD' });
  const payment = await florin.testHelpers.checkout.sessions.pay(session.id, { ...chosen, connected: true });
  await florin.refunds.create({ payment_id: payment.id, amount: '0.50', currency: 'USDC' });
  const subscription = await florin.subscriptions.create({
    customer: `customer-${turn}`,
    currency: 'USD',
    items: [
      {
        price_data: { currency: 'USD', product: 'Pro', unit_amount: 500n, recurring: { interval: 'month' } },
        quantity: 1,
      },
    ],
  });
  await florin.testHelpers.subscriptions.authorize(subscription.id, chosen);
  await florin.subscriptions.cancel(subscription.id, {});
  await florin.payouts.list({ limit: 20 }).page();
  await florin.events.list({ limit: 20 }).page();
  await florin.balances.retrieve();
}
