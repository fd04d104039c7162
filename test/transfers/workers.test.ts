import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LeaseLost } from '../../packages/server/src/platform/jobs/job.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { scaled } from '../scale.ts';
import { startService, type TestService } from '../service.ts';
import {
  attemptsOf,
  expectPaidOnce,
  finishAll,
  type Item,
  moveClock,
  NETWORKS,
  newPayout,
  type Payout,
  statusOf,
} from './payouts.ts';
import { Process } from './process.ts';

const ONE: Item[] = [{ to: 'succeed', amount: '10.00' }];

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test('fault 13: two concurrent workers: every item is paid once, in one transaction', async () => {
  const payouts: Payout[] = [];
  for (let i = 0; i < scaled(60, 3); i++) {
    for (const network of NETWORKS) payouts.push(await newPayout(service, network));
  }
  const workers = await Promise.all([service.startWorker(), service.startWorker()]);
  await finishAll(service, payouts);
  await Promise.all(workers.map((worker) => worker.stop(1_000)));
  await expectPaidOnce(service, payouts);
});

/** Every row that the payout's work may write. */
const ROWS = `
  select (select jsonb_agg(to_jsonb(t) order by transfer_id) from transfer t where t.merchant_id = $1) as transfers,
    (select jsonb_agg(to_jsonb(a) order by attempt_id) from transfer_attempt a where a.merchant_id = $1) as attempts,
    (select jsonb_agg(to_jsonb(i) order by index) from payout_item i where i.merchant_id = $1) as items,
    (select jsonb_agg(to_jsonb(b)) from payout_batch b where b.merchant_id = $1) as batches,
    (select jsonb_agg(to_jsonb(l) order by account) from ledger_account l where l.merchant_id = $1) as accounts,
    (select count(*) from ledger_entry e where e.merchant_id = $1) as entries,
    (select jsonb_agg(to_jsonb(j)) from job j where j.merchant_id = $1) as jobs`;

const rowsOf = async ({ merchant }: Payout) => (await asOwner(service, ROWS, [merchant.merchantId]))[0];

interface Zombie {
  /** The owner number of its leases. */
  owner: number;
  /** Lets it continue, and waits until it has ended. */
  wake(): Promise<unknown>;
}

/** A process that stops at that boundary until the test wakes it. */
async function freezeAt({ merchant, network }: Payout, name: string): Promise<Zombie> {
  const [reached, woken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const process = new Process(service.app, merchant.merchantId, {
    at: (boundary) => {
      if (boundary.name !== name) return undefined;
      reached.resolve();
      return woken.promise;
    },
  });
  const end = process.finish(network).then(
    () => undefined,
    (error: unknown) => error,
  );
  await reached.promise;
  return {
    owner: process.owner,
    wake: () => {
      woken.resolve();
      return end;
    },
  };
}

const MOMENTS = ['before build', 'after build', 'before broadcast', 'after broadcast', 'after status'];

describe.each(NETWORKS)('%s', (network) => {
  test('fault 12: a process that slept past its lease anywhere writes nothing and pays nothing when it wakes', async () => {
    const frozen = await Promise.all(
      [...MOMENTS, 'before step', 'before outcome'].map(async (moment) => {
        const payout = await newPayout(service, network, ONE);
        return { payout, zombie: await freezeAt(payout, moment) };
      }),
    );
    const payouts = frozen.map(({ payout }) => payout);
    const worker = await service.startWorker();
    try {
      await finishAll(service, payouts);
    } finally {
      await worker.stop(1_000);
    }
    await expectPaidOnce(service, payouts);
    for (const { payout, zombie } of frozen) {
      const before = await rowsOf(payout);
      const error = await zombie.wake();
      // Where only the job's outcome was left to write, there is no error: the write matches no row.
      if (error !== undefined) expect(error).toBeInstanceOf(LeaseLost);
      expect(await rowsOf(payout)).toEqual(before);
    }
    await expectPaidOnce(service, payouts);
  });
});

test.each(['trc20', 'spl'] as const)(
  'fault 12: bytes of a sleeping process on %s are dead when it sends them after others were sent instead',
  async (network) => {
    const payout = await newPayout(service, network, ONE);
    const zombie = await freezeAt(payout, 'before broadcast');
    await payout.chain.dropNext(1_000);
    const deadOwners = [zombie.owner];
    const next = new Process(service.app, payout.merchant.merchantId, { deadOwners });
    await next.step();
    if (network === 'trc20') await moveClock(service, payout, 120);
    else await payout.chain.mine(200);
    await next.step();
    expect(await attemptsOf(service, payout)).toEqual(['dead']);
    await payout.chain.dropNext(0);
    await next.finish(network);
    expect(await zombie.wake()).toBeInstanceOf(LeaseLost);
    await payout.chain.mine(5);
    expect(await statusOf(payout)).toBe('completed');
    expect(await attemptsOf(service, payout)).toEqual(['dead', 'succeeded']);
    await expectPaidOnce(service, [payout]);
  },
);

test('I1: after all of it ledger and chains agree', () => expectLedgerWhole(service));
