import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { addRiskAddress } from '../../packages/server/src/chains/addresses/index.ts';
import { type ChainRegistry, testAddresses } from '../../packages/server/src/chains/index.ts';
import { readSealed } from '../../packages/server/src/chains/simulated/envelope.ts';
import { historyCommands } from '../../packages/server/src/operator/history.ts';
import { hasHistoryChanged } from '../../packages/server/src/transfers/history/index.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import {
  expectPaidOnce,
  type Item,
  NETWORKS,
  newPayout,
  type Payout,
  statusOf,
  submitItems,
} from './payouts.ts';
import { GivenUp, Process } from './process.ts';

// Reserved attempts whose process died before their bytes were stored: much may have changed until another process signs
// them.

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterEach(async () => {
  await asOwner(service, 'delete from risk_address');
  await expectLedgerWhole(service);
});
afterAll(() => service.stop());

/** Lets a process die at the first boundary of that name. @returns the owner of its leases */
async function dieAt({ merchant }: Payout, boundary: 'before build' | 'after build'): Promise<number> {
  const process = new Process(service.app, merchant.merchantId, {
    at: ({ name }) => {
      if (name === boundary) throw new GivenUp(name);
    },
  });
  const run = async () => {
    while ((await process.step()) !== undefined);
  };
  await expect(run()).rejects.toThrow(GivenUp);
  return process.owner;
}

const ONE: Item[] = [{ to: 'succeed', amount: '3.00' }];
const GOOD_AND_SANCTIONED: Item[] = [
  { to: 'succeed', amount: '10.00' },
  { to: 'fail', amount: '7.77' },
  { to: 'succeed', amount: '2.50' },
];

const changeIdentity = () =>
  asOwner(
    service,
    `update setting set value = value || '{"identity": "1/00000001/2/3"}' where name = 'transfers.history'`,
  );

describe.each(NETWORKS)('%s', (network) => {
  // After a restored disk the database cannot detect that it is a copy.
  test.each([
    ['was adopted', true],
    ['knows nothing', false],
  ])(
    'fault 76: the original sends what is reserved in a copy that %s, after an address of it was listed: nobody is paid twice',
    async (_what, isAdopted) => {
      const first = await newPayout(service, network, ONE);
      const { merchant, chain } = first;
      await new Process(service.app, merchant.merchantId).finish(network);
      const payout = await submitItems(service, merchant, { network, items: GOOD_AND_SANCTIONED });
      const owner = await dieAt(payout, 'after build');
      const [given] = await asOwner<{ raw: string }>(
        service,
        `select s.raw from transfer_attempt a join simchain.signature s on s.attempt_id = a.attempt_id::text
       where a.merchant_id = $1 and a.status = 'reserved'`,
        [merchant.merchantId],
      );
      if (isAdopted) {
        await changeIdentity();
        expect(await historyCommands(service.app).adoptHistory()).toEqual({ adopted: true });
      }
      const { db, clock } = service.app;
      const { fail: address } = testAddresses(network);
      await addRiskAddress(db, { network, address, reason: 'test' }, clock.nowMs());
      expect(await chain.broadcast(readSealed(given?.raw ?? ''))).toMatchObject({ result: 'accepted' });
      await new Process(service.app, merchant.merchantId, { deadOwners: [owner] }).finish(network);
      expect(await statusOf(payout)).toBe('partially_completed');
      await expectPaidOnce(service, [first, payout]);
    },
  );

  test('J2: attempts that a dead process has reserved are sent as they were reserved', async () => {
    const payout = await newPayout(service, network, GOOD_AND_SANCTIONED);
    const owner = await dieAt(payout, 'before build');
    await new Process(service.app, payout.merchant.merchantId, { deadOwners: [owner] }).finish(network);
    expect(await statusOf(payout)).toBe('partially_completed');
    await expectPaidOnce(service, [payout]);
  });
});

/** Runs something as soon as block hashes are read, which is right before attempts are signed. */
function beforeSigning(act: () => Promise<void>): ChainRegistry {
  const { chains } = service.app;
  let isDue = true;
  return {
    ...chains,
    unpayableAddresses: (merchant, network) => chains.unpayableAddresses(merchant, network),
    holder: (merchant) => chains.holder(merchant),
    sandbox: (id, network) => chains.sandbox(id, network),
    of(merchant, network) {
      const chain = chains.of(merchant, network);
      return Object.assign(Object.create(chain), {
        blockHashes: async (heights: readonly bigint[]) => {
          if (isDue) await act();
          isDue = false;
          return await chain.blockHashes(heights);
        },
      });
    },
  };
}

test.each(NETWORKS)(
  'fault 76: on %s the database is adopted between the read of a reserved attempt and its signature: it is paid, and all continues',
  async (network) => {
    const first = await newPayout(service, network, ONE);
    const { merchant } = first;
    await new Process(service.app, merchant.merchantId).finish(network);
    const second = await submitItems(service, merchant, {
      network,
      items: [{ to: 'succeed', amount: '4.00' }],
    });
    const owner = await dieAt(second, 'before build');
    const adopt = async () => {
      await changeIdentity();
      expect(await historyCommands(service.app).adoptHistory()).toEqual({ adopted: true });
    };
    const app = { ...service.app, chains: beforeSigning(adopt) };
    await new Process(app, merchant.merchantId, { deadOwners: [owner] }).finish(network);
    const third = await submitItems(service, merchant, {
      network,
      items: [{ to: 'succeed', amount: '5.00' }],
    });
    await new Process(service.app, merchant.merchantId).finish(network);
    expect(await hasHistoryChanged(service.app.db)).toBe(false);
    const payouts = [first, second, third];
    expect(await Promise.all(payouts.map(statusOf))).toEqual(payouts.map(() => 'completed'));
    await expectPaidOnce(service, payouts);
  },
);
