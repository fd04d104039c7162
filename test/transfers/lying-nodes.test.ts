import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NodeFault } from '../../packages/server/src/chains/simulated/node-faults.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { signElsewhere } from './elsewhere.ts';
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
  submitItems,
} from './payouts.ts';
import { Process } from './process.ts';

const ONE: Item[] = [{ to: 'succeed', amount: '10.00' }];
const TWO: Item[] = [...ONE, { to: 'succeed', amount: '2.50' }];
const FAULTS: Record<NodeFault, string> = {
  drop: 'fault 42',
  accept_then_timeout: 'fault 41',
  timeout_dropped: 'fault 42',
  say_expired: 'fault 43',
  say_nonce_too_low: 'fault 43',
  say_already_known: 'fault 43',
  unknown_code: 'fault 44',
  garbage: 'fault 44',
};

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

async function withWorker(work: () => Promise<void>): Promise<void> {
  const worker = await service.startWorker();
  try {
    await work();
  } finally {
    await worker.stop(1_000);
  }
}

const finish = ({ merchant, network }: Payout) =>
  new Process(service.app, merchant.merchantId).finish(network);

test.each(Object.entries(FAULTS) as [NodeFault, string][])(
  'J2: the node’s fault %s (%s) at the first or the second broadcast: sent once, from the same bytes',
  async (fault) => {
    const lies: NodeFault[][] = [[fault], ['drop', fault]];
    const cases = NETWORKS.flatMap((network) => lies.map((faults) => ({ network, faults })));
    const payouts = await Promise.all(
      cases.map(async ({ network, faults }) => {
        const payout = await newPayout(service, network, ONE);
        await payout.chain.injectFaults(...faults);
        await finish(payout);
        return payout;
      }),
    );
    await expectPaidOnce(service, payouts);
    for (const payout of payouts) expect(await attemptsOf(service, payout)).toEqual(['succeeded']);
  },
);

test('J2, fault 51: many broadcasts in a row are lost: the same bytes are sent until they are mined', async () => {
  const payouts = await Promise.all(NETWORKS.map((network) => newPayout(service, network, TWO)));
  for (const { chain } of payouts) await chain.dropNext(5);
  await withWorker(() => finishAll(service, payouts));
  await expectPaidOnce(service, payouts);
  for (const payout of payouts)
    expect(new Set(await attemptsOf(service, payout))).toEqual(new Set(['succeeded']));
});

test('J3, fault 51: a lost transaction in the middle blocks later sequences, and all are mined after it', async () => {
  const first = await newPayout(service, 'erc20', ONE);
  const { merchant, chain } = first;
  const process = new Process(service.app, merchant.merchantId);
  const later: Payout[] = [];
  const sendNext = async (): Promise<void> => {
    for (let kind = await process.step(); kind !== 'transfers.send'; kind = await process.step());
  };
  await sendNext();
  await chain.dropNext(1);
  for (const amount of ['3.00', '4.00', '5.00']) {
    later.push(
      await submitItems(service, merchant, { network: 'erc20', items: [{ to: 'succeed', amount }] }),
    );
    await sendNext();
  }
  await process.finish('erc20');
  await expectPaidOnce(service, [first, ...later]);
  for (const payout of later) expect(await attemptsOf(service, payout)).toEqual(['succeeded']);
});

/** Lets all bytes signed so far expire. */
const EXPIRE = {
  trc20: (payout: Payout) => moveClock(service, payout, 120),
  spl: ({ chain }: Payout) => chain.mine(200).then(() => undefined),
};

test.each(['trc20', 'spl'] as const)(
  'J2, fault 57: a transaction that is lost until it expires on %s is proved dead and sent once more',
  async (network) => {
    const payout = await newPayout(service, network, ONE);
    const process = new Process(service.app, payout.merchant.merchantId);
    await payout.chain.dropNext(10_000);
    for (let i = 0; i < 4; i++) await process.step();
    expect(await attemptsOf(service, payout)).toEqual(['sent']);
    await EXPIRE[network](payout);
    for (let i = 0; i < 4; i++) await process.step();
    expect(await attemptsOf(service, payout)).toEqual(['dead', 'sent']);
    expect(await statusOf(payout)).toBe('processing');
    await payout.chain.dropNext(0);
    await process.finish(network);
    await expectPaidOnce(service, [payout]);
    expect(await attemptsOf(service, payout)).toEqual(['dead', 'succeeded']);
  },
);

test('J2: on erc20 only another final transaction of its sequence proves one dead', async () => {
  const payout = await newPayout(service, 'erc20', ONE);
  const { chain, merchant } = payout;
  await chain.dropNext(10_000);
  const process = new Process(service.app, merchant.merchantId);
  while ((await process.step()) !== 'transfers.send');
  // Another signer with the same key was faster; the payment is to the wallet itself, so that the books agree.
  const rival = signElsewhere(merchant.merchantId, 0);
  await chain.dropNext(0);
  await chain.broadcast(rival);
  await chain.mine(1);
  await process.step();
  expect(await attemptsOf(service, payout)).toEqual(['sent']);
  await chain.mine(3);
  await process.finish('erc20');
  expect(await attemptsOf(service, payout)).toEqual(['dead', 'succeeded']);
  await expectPaidOnce(service, [payout]);
});

const CALLS = ['nextSequence', 'build', 'broadcast', 'status'];

test.each(CALLS)(
  'fault 45: the network becomes unavailable before or after %s: everything waits, then continues',
  async (call) => {
    const payouts: Payout[] = [];
    for (const network of NETWORKS) {
      for (const side of ['before', 'after']) {
        const payout = await newPayout(service, network, TWO);
        const { chain, merchant } = payout;
        let away = false;
        const process = new Process(service.app, merchant.merchantId, {
          at: async ({ name }) => {
            if (away || name !== `${side} ${call}`) return;
            away = true;
            await chain.outage(100_000);
          },
        });
        for (let i = 0; i < 8; i++) await process.step();
        expect(away).toBe(true);
        expect(await statusOf(payout)).toBe('processing');
        await chain.outage(0);
        payouts.push(payout);
      }
    }
    await withWorker(async () => {
      await finishAll(service, payouts);
      await expectPaidOnce(service, payouts);
    });
  },
);

test('one status that cannot be read hides no outcome of the others, and people are told which it is', async () => {
  const payout = await newPayout(service, 'trc20', [...TWO, { to: 'succeed', amount: '3.50' }]);
  const { merchant, chain } = payout;
  const unreadable = new Set<string>();
  const lines: object[] = [];
  const error = (...line: unknown[]) => lines.push(Object(line[0]));
  const log = { ...service.app.log, error } as typeof service.app.log;
  const process = new Process(service.app, merchant.merchantId, { unreadable, log });
  const sent = () =>
    asOwner<{ tx_id: string }>(
      service,
      "select tx_id from transfer_attempt where merchant_id = $1 and status = 'sent' order by attempt_id",
      [merchant.merchantId],
    );
  while ((await sent()).length < 3) await process.step();
  const [first] = await sent();
  unreadable.add(first?.tx_id ?? '');
  await moveClock(service, payout, 130);
  for (let i = 0; i < 4; i++) await process.step();
  expect(await sent()).toEqual([first]);
  expect((await attemptsOf(service, payout)).toSorted()).toEqual(['sent', 'succeeded', 'succeeded']);
  expect(lines).toContainEqual(expect.objectContaining({ tx_id: first?.tx_id }));
  unreadable.clear();
  await process.finish('trc20');
  await chain.mine(1);
  await expectPaidOnce(service, [payout]);
});

test('I1: after all of it ledger and chains agree', () => expectLedgerWhole(service));
