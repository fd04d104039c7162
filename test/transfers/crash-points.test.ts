import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { scaled, share } from '../scale.ts';
import { startService, type TestService } from '../service.ts';
import { expectPaidOnce, finishAll, NETWORKS, newPayout, type Payout } from './payouts.ts';
import { GivenUp, giveUpAt, inParallel, Process, upTo } from './process.ts';

const OUTCOME = { status: 'partially_completed', success_count: 2, failed_count: 1, frozen_amount: '0.00' };

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A new worker, without the memory of earlier processes, completes the payouts. */
async function recover(payouts: readonly Payout[]): Promise<void> {
  const worker = await service.startWorker();
  try {
    await finishAll(service, payouts, 60_000);
    // The worker still has to take over the jobs of processes that died after their last payout ended.
    await expectPaidOnce(service, payouts);
  } finally {
    await worker.stop(1_000);
  }
  for (const { merchant, batchId } of payouts) {
    expect(await merchant.sdk.payouts.retrieve(batchId)).toMatchObject(OUTCOME);
  }
}

const FAULT = { erc20: 'fault 4', trc20: 'fault 5', spl: 'fault 6' } as const;

describe.each(NETWORKS)('%s', (network) => {
  test(`J1: ${FAULT[network]}: a process that dies between any two steps pays once`, async () => {
    const whole = await newPayout(service, network);
    const dry = new Process(service.app, whole.merchant.merchantId);
    await dry.finish(network);
    await expectPaidOnce(service, [whole]);
    for (const name of ['claim', 'step', 'build', 'broadcast', 'status', 'outcome']) {
      expect(dry.crossed).toContain(`before ${name}`);
      expect(dry.crossed).toContain(`after ${name}`);
    }
    const places = share(dry.places, NETWORKS.indexOf(network), NETWORKS.length);
    const payouts = await inParallel(places, async (k) => {
      const payout = await newPayout(service, network);
      const process = new Process(service.app, payout.merchant.merchantId, { at: giveUpAt(k) });
      await expect(process.finish(network)).rejects.toThrow(GivenUp);
      expect(process.crossed).toHaveLength(k);
      return payout;
    });
    expect(payouts).toHaveLength(places.length);
    await recover(payouts);
  }, 120_000);

  test(`J1: ${FAULT[network]}: processes that die again and again pay once`, async () => {
    const payouts = await inParallel(upTo(scaled(200, 6)), async (seed) => {
      const payout = await newPayout(service, network);
      const deadOwners: number[] = [];
      for (let life = 0; life < 5; life++) {
        // Each life is cut somewhere else; every payout in another way.
        const at = giveUpAt(1 + ((seed * 7 + life * 5) % 19));
        const process = new Process(service.app, payout.merchant.merchantId, { at, deadOwners });
        await process.finish(network).catch((error: unknown) => expect(error).toBeInstanceOf(GivenUp));
        deadOwners.push(process.owner);
      }
      return payout;
    });
    await recover(payouts);
  }, 120_000);
});

test('I1: afterwards ledger and chains agree', { timeout: 150_000 }, () => expectLedgerWhole(service));
