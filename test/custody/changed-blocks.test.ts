import { NETWORKS } from '@florin/contract/money';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ChainRegistry } from '../../packages/server/src/chains/index.ts';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import {
  listFinalBlocks,
  markReplaced,
  recordFinalBlock,
} from '../../packages/server/src/transfers/blocks/final-block-queries.ts';
import { checkFinalBlocks } from '../../packages/server/src/transfers/blocks/final-blocks.ts';
import { scanOnce } from '../checkout/deposits-by-hand.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { untilHeldUp } from '../subscriptions/by-hand.ts';
import { attemptsOf, newPayout, submitItems } from '../transfers/payouts.ts';
import { Process } from '../transfers/process.ts';
import { auditOnce, creditedPayment, operatorsOf } from './audits.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const stopsOf = async (merchantId: string) =>
  (await networkCommands(service.app).list()).filter(
    (line) => line.merchant_id === encodeId('merchant', merchantId),
  );

/** The next scan reads final blocks, and records that. */
const passMinute = (merchantId: string) =>
  asOwner(service, `update deposit_cursor set read_at = 0 where merchant_id = $1`, [merchantId]);

const auditsDue = (merchantId: string) =>
  asOwner<{ due: boolean }>(
    service,
    `select due_at_ms <= $2::bigint as due from job where merchant_id = $1 and kind = 'custody.audit'`,
    [merchantId, service.app.clock.nowMs()],
  );

describe.each(NETWORKS)('%s', (network) => {
  test('fault 49: the scan of the next minute stops the network, whatever was swept, and starts an audit', async () => {
    const own = await creditedPayment(service, network);
    const { merchantId } = own.merchant;
    // Swept by a transaction that stays: the audit alone would find what is in no block, and nothing else.
    await new Process(service.app, merchantId).finish(network);
    await scanOnce(service.app, merchantId, network);
    await own.chain.mine(20);
    await scanOnce(service.app, merchantId, network);
    await passMinute(merchantId);
    await scanOnce(service.app, merchantId, network);
    expect(await stopsOf(merchantId)).toEqual([]);
    await own.chain.reorg(12);
    await passMinute(merchantId);
    await Promise.all([1, 2].map(() => scanOnce(service.app, merchantId, network)));
    expect(await stopsOf(merchantId)).toMatchObject([{ network, status: 'stopped' }]);
    expect(await auditsDue(merchantId)).toEqual([{ due: true }]);
    expect(await operatorsOf(service, merchantId)).toEqual({});
    await auditOnce(service, merchantId, network);
    // A network that a person has resumed does not stop again for the same blocks.
    await networkCommands(service.app).resume(network, encodeId('merchant', merchantId));
    for (let scan = 0; scan < 2; scan++) await scanOnce(service.app, merchantId, network);
    await auditOnce(service, merchantId, network);
    expect(await stopsOf(merchantId)).toEqual([]);
  });

  test('fault 49: nothing new is signed after such a reorganisation, even before a scan', async () => {
    const first = await newPayout(service, network, [{ to: 'succeed', amount: '10.00' }]);
    const { merchant, chain } = first;
    await new Process(service.app, merchant.merchantId).finish(network);
    expect(await attemptsOf(service, first)).toEqual(['succeeded']);
    // Something final is replaced: the payout's block, its bytes, and all that came after.
    const [paid] = (await chain.transfers({ address: await chain.hotAddress(), limit: 1 })).data;
    await chain.reorgFrom(paid?.height ?? 0n);
    const items = [{ to: 'succeed', amount: '1.00' }] as const;
    const second = await submitItems(service, merchant, { network, items: [...items] });
    const process = new Process(service.app, merchant.merchantId);
    for (let i = 0; i < 3; i++) await process.step();
    expect(await attemptsOf(service, second)).toEqual([]);
    expect(await stopsOf(merchant.merchantId)).toMatchObject([{ network, status: 'stopped' }]);
    await auditOnce(service, merchant.merchantId, network);
    await chain.mine(4);
    await auditOnce(service, merchant.merchantId, network);
    await networkCommands(service.app).resume(network, encodeId('merchant', merchant.merchantId));
    await process.finish(network);
    expect(await attemptsOf(service, second)).toEqual(['succeeded']);
  });
});

/** The chains, of which one reads block hashes and then waits until something else is done. */
function delayedHashes(act: () => Promise<void>): ChainRegistry {
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
          const hashes = await chain.blockHashes(heights);
          if (isDue) {
            isDue = false;
            await act();
          }
          return hashes;
        },
      });
    },
  };
}

const ownerOf = (merchantId: string) => ({ merchantId, mode: 'sandbox' as const, clockOffset: 0 });

describe('final blocks that several processes record', () => {
  const network = 'erc20';
  const reorganised = ['noticed', 'audited and let go on'] as const;

  test.each(reorganised)(
    'fault 49: a hash of before a reorganisation that is %s is not recorded',
    async (how) => {
      const own = await creditedPayment(service, network);
      const { merchantId } = own.merchant;
      await own.chain.mine(30);
      const newest = (await service.app.chains.of(ownerOf(merchantId), network).head()).finalHeight;
      const letGoOn = () => networkCommands(service.app).resume(network, encodeId('merchant', merchantId));
      const chains = delayedHashes(async () => {
        expect(
          await checkFinalBlocks(service.app, ownerOf(merchantId), { network, newest: newest - 1n }),
        ).toBe(true);
        await own.chain.reorg(26);
        await passMinute(merchantId);
        await scanOnce(service.app, merchantId, network);
        expect(await stopsOf(merchantId)).toMatchObject([{ status: 'stopped' }]);
        if (how === 'noticed') return;
        await auditOnce(service, merchantId, network);
        await letGoOn();
      });
      expect(
        await checkFinalBlocks({ ...service.app, chains }, ownerOf(merchantId), { network, newest }),
      ).toBe(true);
      if (how === 'noticed') {
        await auditOnce(service, merchantId, network);
        await letGoOn();
      }
      for (let i = 0; i < 2; i++)
        expect(await checkFinalBlocks(service.app, ownerOf(merchantId), { network, newest })).toBe(true);
      expect(await stopsOf(merchantId)).toEqual([]);
    },
  );

  test('fault 49: the block at the height of a replaced one is recorded, and its replacement stops the network too', async () => {
    const own = await creditedPayment(service, network);
    const { merchantId } = own.merchant;
    await own.chain.mine(30);
    const newest = (await service.app.chains.of(ownerOf(merchantId), network).head()).finalHeight;
    const check = () => checkFinalBlocks(service.app, ownerOf(merchantId), { network, newest });
    expect(await check()).toBe(true);
    for (let i = 0; i < 2; i++) {
      await own.chain.reorg(20);
      expect(await check()).toBe(false);
      expect(await check()).toBe(true);
    }
  });

  test('fault 49: of processes that record the same block at once one records it, and none fails', async () => {
    const { merchantId } = await service.createMerchant({ funds: 0n });
    const on = { merchantId, network } as const;
    const { db } = service.app;
    const block = { height: 2_001n, hash: 'of 2001' };
    const second = await transact(db, async (tx) => {
      expect(await recordFinalBlock(tx, on, block, [])).toBe(true);
      const late = recordFinalBlock(db, on, block, []);
      await untilHeldUp(service, late);
      return { late };
    });
    expect(await second.late).toBe(false);
    expect(await listFinalBlocks(db, on)).toEqual([{ ...block, isReplaced: false }]);
  });

  test('fault 49: blocks that are recorded while others are marked as replaced go with them', async () => {
    const { merchantId } = (await creditedPayment(service, network)).merchant;
    const on = { merchantId, network } as const;
    const { db } = service.app;
    const blocks = [1_001n, 1_002n, 1_003n].map((height) => ({ height, hash: `of before ${height}` }));
    for (const block of blocks)
      expect(await recordFinalBlock(db, on, block, await listFinalBlocks(db, on))).toBe(true);
    const known = await listFinalBlocks(db, on);
    expect(await transact(db, (tx) => markReplaced(tx, on, blocks.slice(0, 1), 1))).toBe(1);
    const marked = (await listFinalBlocks(db, on)).filter(({ isReplaced }) => isReplaced);
    expect(marked.map(({ height }) => height)).toEqual([1_003n, 1_002n, 1_001n]);
    expect(await recordFinalBlock(db, on, { height: 1_004n, hash: 'late' }, known)).toBe(false);
    expect(await transact(db, (tx) => markReplaced(tx, on, blocks, 2))).toBe(0);
  });
});

test('fault 48: blocks that are not final may be replaced, and a node may lag: nothing stops', async () => {
  const own = await creditedPayment(service, 'erc20');
  const { merchantId } = own.merchant;
  await own.chain.reorg(2);
  await scanOnce(service.app, merchantId, 'erc20');
  await own.chain.lag(30);
  await scanOnce(service.app, merchantId, 'erc20');
  await own.chain.lag(0);
  await auditOnce(service, merchantId, 'erc20');
  expect(await stopsOf(merchantId)).toEqual([]);
});
