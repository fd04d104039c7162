import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, getAddress } from 'viem';
import { TestUSDT } from '../../contracts/artifacts/index.ts';
import { getSession } from '../../packages/server/src/checkout/index.ts';
import { chooseOption } from '../../packages/server/src/payments/choose-option.ts';
import { by, OWNER } from '../../scripts/local-chain.ts';
import { scanOnce } from '../../test/checkout/deposits-by-hand.ts';
import { type BenchServer, execute } from '../database.ts';
import type { Findings } from '../rows.ts';
import { short } from '../statistics.ts';
import { type Store, withStore } from './store.ts';

const DEPOSITS = 1_000;
const BLOCKS = 10;
const TOKENS = 5_000_000;
const GAS_EACH = 120_000n;
/** Of the service's own reading of the newest block. */
const SETTLE_MS = 2_000;
const SCANS_MAX = 20;

/** Row 18g: scans that it takes until 1,000 deposits of ten blocks are credited, once these are final. */
export async function measureDeposits(server: BenchServer): Promise<Findings> {
  return await withStore(server, async (store) => {
    const addresses = await openSessions(store);
    await pay(store, addresses);
    await store.world.mine(store.world.finalBlocks + 1);
    await sleep(SETTLE_MS);
    store.node.forget();
    const begun = performance.now();
    let scans = 0;
    do {
      await scanOnce(store.service.app, store.merchant.merchantId, 'erc20');
      scans += 1;
    } while ((await countCredited(store)) < DEPOSITS && scans < SCANS_MAX);
    const seconds = (performance.now() - begun) / 1_000;
    const remark =
      `1,000 deposits to as many sessions in ten blocks are credited ${short(seconds)} s after they are looked for, by ` +
      `${store.node.counted()} calls of the node.`;
    return { results: [{ row: '18g', values: [scans] }], remarks: [remark] };
  });
}

/** @returns where each payer is to pay */
async function openSessions({ service: { app }, merchant }: Store): Promise<Address[]> {
  const { merchantId, sdk } = merchant;
  const who = { merchantId, mode: 'live', clockOffset: 0 } as const;
  const addresses: Address[] = [];
  for (let i = 0; i < DEPOSITS; i++) {
    const { id } = await sdk.checkout.sessions.create({ amount: TOKENS, currency: 'USDT' });
    const session = await getSession(app.db, merchant, id);
    const { options } = await chooseOption(app, who, session, { currency: 'USDT', network: 'erc20' });
    addresses.push(getAddress(options[0]?.address ?? ''));
  }
  return addresses;
}

/** By the token's owner, a tenth of them in each block. */
async function pay({ world }: Store, addresses: readonly Address[]): Promise<void> {
  const { client, tokens } = world;
  const first = await client.getTransactionCount({ address: OWNER.address });
  for (const [i, to] of addresses.entries()) {
    await client.writeContract({
      ...by(OWNER, GAS_EACH),
      address: tokens.USDT,
      abi: TestUSDT.abi,
      functionName: 'mint',
      args: [to, BigInt(TOKENS)],
      nonce: first + i,
    });
    if ((i + 1) % (DEPOSITS / BLOCKS) === 0) await world.mine(1);
  }
}

async function countCredited({ service: { app }, merchant: { merchantId } }: Store): Promise<number> {
  const sql = `select count(*)::int as n from payment where merchant_id = '${merchantId}' and status = 'completed'`;
  const [found] = await execute(app.databaseUrl, sql);
  return found?.rows[0]?.n ?? 0;
}
