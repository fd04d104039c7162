import { setTimeout as sleep } from 'node:timers/promises';
import { verifyLedger } from '../../packages/server/src/reconciliation/verify-ledger.ts';
import { TOKEN } from '../../test/checkout/requests.ts';
import { moveClock } from '../../test/journeys/subscription-worlds.ts';
import { asOwner } from '../../test/ledger.ts';
import { LiveStore } from '../../test/live/live-store.ts';
import { PayerWallet } from '../../test/live/payer-wallet.ts';
import { billing, DAY, item } from '../../test/subscriptions/billing.ts';
import type { BenchServer } from '../database.ts';
import type { Findings } from '../rows.ts';

const CHARGES = 200;
const PRICE = 20 * TOKEN;
/** Ethereum takes 12 s for a block. */
const BLOCK_MS = 2_000;
const BLOCKS_MAX = 300;
/** So that no renewal mail and no end of a trial falls between. */
const MONTH = 32 * DAY;

/** Row 20d: the blocks from the moment in which the renewals of 200 wallets are due until each charge is decided. */
export async function measureDueCharges(server: BenchServer): Promise<Findings> {
  const databaseUrl = await server.createDatabase();
  const store = await LiveStore.start(undefined, { collector: true, databaseUrl });
  try {
    for (let i = 0; i < CHARGES; i++) await subscribe(store, i);
    await untilDecided(store, CHARGES, 100);
    await moveClock(store, MONTH);
    const blocks = await untilDecided(store, 2 * CHARGES, BLOCK_MS);
    await expectBooks(store);
    return {
      results: [{ row: '20d', values: [blocks] }],
      remarks: [
        `For row 20d a block is mined every ${BLOCK_MS / 1000} s; decided is final, 5 blocks after the charge.`,
      ],
    };
  } finally {
    await store.stop();
  }
}

async function expectBooks({ service, world }: LiveStore): Promise<void> {
  await world.mine(world.finalBlocks + 1);
  const { differences } = await verifyLedger(service.app, () => {});
  if (differences.length > 0) throw new Error(`the books differ: ${JSON.stringify(differences)}`);
}

async function subscribe(store: LiveStore, number: number): Promise<void> {
  const items = [item(PRICE, 'month', 'USDT')];
  const order = { customer: `customer-${number}`, currency: 'USDT', items };
  const payer = await PayerWallet.start(store, BigInt(PRICE) * 100n);
  await payer.subscribe(await billing(store.service, store.merchant).make(order));
}

/** @returns the blocks until so many charges have succeeded */
async function untilDecided(store: LiveStore, charges: number, blockMs: number): Promise<number> {
  const count =
    "select count(*)::int as done from transfer where merchant_id = $1 and charge is not null and status = 'succeeded'";
  for (let blocks = 1; blocks <= BLOCKS_MAX; blocks++) {
    await sleep(blockMs);
    await store.world.mine(1);
    const [row] = await asOwner<{ done: number }>(store.service, count, [store.merchant.merchantId]);
    if (row?.done === charges) return blocks;
  }
  throw new Error(`of ${charges} charges some are not decided after ${BLOCKS_MAX} blocks`);
}
