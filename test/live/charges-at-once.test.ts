import { setTimeout as sleep } from 'node:timers/promises';
import { parseEventLogs } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Collector } from '../../contracts/artifacts/index.ts';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { TOKEN } from '../checkout/requests.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { advanceLive, moveClock } from '../journeys/subscription-worlds.ts';
import { asOwner } from '../ledger.ts';
import { FULL } from '../scale.ts';
import { billing, DAY, HOUR, item } from '../subscriptions/billing.ts';
import { COLLECTOR, LiveStore } from './live-store.ts';
import { PayerWallet } from './payer-wallet.ts';

const LONG = { timeout: 900_000 };
const PRICE = 20 * TOKEN;
const COUNT = FULL ? 200 : 30;
/** What the hot wallet may hold, in ether: less than all charges may cost together. */
const CEILING = FULL ? '0.10' : '0.01';
const BLOCKS_MAX = 30n;
/** On the network it is twelve seconds. */
const BLOCK_MS = 1_000;
const ACTIVE =
  "select count(*)::int as active from subscription where merchant_id = $1 and status = 'active'";

describe.skipIf(!hasAnvil())('many charges that are due at once', () => {
  let store: LiveStore;
  beforeAll(async () => {
    store = await LiveStore.start(undefined, { collector: true });
    await settingCommands(store.service.app).set('transfers.gas_ceiling', CEILING);
  }, 120_000);
  afterAll(() => store?.stop());

  const calls = () => billing(store.service, store.merchant);

  test(
    `${COUNT} go in turns of what the hot wallet may hold, each once, and nobody is dunned`,
    LONG,
    async () => {
      const { client } = store.world;
      const made = [];
      for (let i = 0; i < COUNT; i++) {
        const items = [item(PRICE, 'month', 'USDT')];
        const trial = { trial_period_days: 7 };
        const ordered = await calls().make({ customer: `customer-${i}`, currency: 'USDT', items, ...trial });
        const payer = await PayerWallet.start(store, BigInt(2 * PRICE));
        await payer.subscribe(ordered);
        made.push(ordered.id);
      }
      await advanceLive(store, 7 * DAY - HOUR);
      await client.setNextBlockBaseFeePerGas({ baseFeePerGas: 5_000_000_000n });
      await store.world.mine(1);
      const before = await client.getBlockNumber({ cacheTime: 0 });
      await moveClock(store, 2 * HOUR);
      for (let active = 0; active < COUNT; ) {
        await sleep(BLOCK_MS);
        await store.world.mine(1);
        [{ active } = { active: 0 }] = await asOwner<{ active: number }>(store.service, ACTIVE, [
          store.merchant.merchantId,
        ]);
      }
      const decided = await client.getBlockNumber({ cacheTime: 0 });
      for (const id of made) expect(await calls().read(id)).toMatchObject({ status: 'active' });
      const logs = await client.getLogs({ fromBlock: before, address: COLLECTOR });
      const charged = parseEventLogs({ abi: Collector.abi, logs, eventName: 'Charged' });
      expect(charged).toHaveLength(COUNT);
      const used = new Set(charged.map(({ blockNumber }) => blockNumber)).size;
      console.log(`${COUNT} charges in ${used} blocks, all decided ${decided - before} after they were due`);
      if (FULL) expect(decided - before).toBeLessThanOrEqual(BLOCKS_MAX);
      const topUps = await asOwner(
        store.service,
        `select from transfer_attempt where merchant_id = $1 and movement ->> 'kind' = 'gas' and status = 'succeeded'`,
        [store.merchant.merchantId],
      );
      expect(topUps.length).toBeGreaterThan(1);
      const failed = await asOwner(store.service, "select from transfer where status = 'failed'");
      expect(failed).toEqual([]);
      await store.expectSettled();
    },
  );
});
