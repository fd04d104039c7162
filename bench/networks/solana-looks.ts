import { setTimeout as sleep } from 'node:timers/promises';
import { KEYS } from '../../test/chains/solana/key-signer.ts';
import { scanOnce } from '../../test/checkout/deposits-by-hand.ts';
import { SolanaStore } from '../../test/live/solana-store.ts';
import { moveClock } from '../../test/transfers/payouts.ts';
import { insertPayments } from '../checkout/till.ts';
import type { BenchServer } from '../database.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { median, short } from '../statistics.ts';

const OPEN = 500;
const CLOSED = 10_000;
const DAY_SECONDS = 86_400;
/**
 * The scan interval while a payment is open. The clock moves by it before each scan: once a minute a scan is recorded, and that one reads
 * closed addresses too.
 */
const LOOK_SECONDS = 5;
const LOOKS = 12;

/** Row 23f: looks of a minute at the deposit addresses of one merchant, when nobody pays. */
export async function measureSolanaLooks(server: BenchServer, options: RunOptions): Promise<Findings> {
  const databaseUrl = await server.createDatabase();
  const store = await SolanaStore.start({ worker: false, databaseUrl });
  try {
    const { local, service, merchant, network } = store;
    const addresses = Array.from({ length: CLOSED + OPEN }, (_, i) => KEYS.deposit(1, i).address);
    const { merchantId, storeId } = merchant;
    const own = { merchantId, storeId, network };
    const now = service.app.clock.nowSeconds();
    const closed = addresses.slice(0, CLOSED);
    const old = {
      addresses: closed,
      firstIndex: 0,
      expiresAt: now - DAY_SECONDS,
      status: 'expired',
    } as const;
    await insertPayments(databaseUrl, { ...own, ...old });
    const open = { addresses: addresses.slice(CLOSED), firstIndex: CLOSED, status: 'pending' } as const;
    await insertPayments(databaseUrl, { ...own, ...open, expiresAt: now + DAY_SECONDS });
    const { faults } = local.node.endpoint;
    const look = async () => {
      local.mine(1);
      const before = faults.counted();
      await scanOnce(service.app, merchantId, network);
      return faults.counted() - before;
    };
    // The first one reads everything.
    await look();
    const values: number[] = [];
    const recorded: number[] = [];
    for (let round = 0; round < options.rounds; round++) {
      const found: number[] = [];
      for (let i = 0; i < LOOKS; i++) {
        // Behind what the process reads once for all looks of a moment.
        await sleep(300);
        await moveClock(service, { merchant }, LOOK_SECONDS);
        found.push(await look());
      }
      values.push(median(found));
      recorded.push(Math.max(...found));
      options.log(`  round ${round + 1}/${options.rounds} looks: ${found.join(', ')}`);
    }
    return {
      results: [{ row: '23f', values, raw: { recorded } }],
      remarks: [
        'Of a look at 500 open sessions on Solana ten calls read two tokens of each, and three the newest blocks; the look of each minute, ' +
          `which compares recorded final blocks and gives closed sessions their turn, takes up to ${short(Math.max(...recorded))}.`,
      ],
    };
  } finally {
    await store.stop();
  }
}
