import type { Network } from '@florin/contract/money';
import type { CheckoutSession } from '@florin/contract/schemas';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addToPool } from '../../packages/server/src/chains/pool/index.ts';
import { AddressPoolEmpty } from '../../packages/server/src/chains/port/index.ts';
import { fillPool, takeAddress } from '../../packages/server/src/payments/deposits/address-pools.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import type { JobRun } from '../../packages/server/src/platform/jobs/index.ts';
import { createLogger } from '../../packages/server/src/platform/observability/index.ts';
import { jobOf } from '../job.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { scanOnce } from './deposits-by-hand.ts';
import { checkout, TOKEN } from './requests.ts';

// The simulated chains say here, by the port, that the holder of the keys names deposit addresses ahead, as on networks where no public key
// derives them.

const NETWORK: Network = 'trc20';
const AWAY_SECONDS = 1_000_000;
let service: TestService;
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  const log = createLogger('warn', { write: (line) => void lines.push(JSON.parse(line)) });
  service = await startService({ log, simchainTiming: { namesAddresses: true } });
});
afterAll(() => service?.stop());

const chainOf = ({ merchantId }: TestMerchant) => service.app.chains.sandbox(merchantId, NETWORK);

function fill({ merchantId }: TestMerchant) {
  const step: JobRun['step'] = (change) => transact(service.app.db, change);
  const run: JobRun = { step, finish: step, onRevision: () => {}, signal: new AbortController().signal };
  return fillPool(service.app, jobOf(merchantId, { network: NETWORK }), run);
}

/** So many stored addresses, and nobody who names more. */
async function dryPool(count: number): Promise<TestMerchant> {
  const merchant = await service.createMerchant({ funds: 0n });
  const chain = chainOf(merchant);
  if (count > 0) {
    const addresses = (await chain.nameAddresses?.({ from: 0, count })) ?? [];
    const place = { merchantId: merchant.merchantId, network: NETWORK };
    await transact(service.app.db, (tx) => addToPool(tx, place, { from: 0n, addresses }));
  }
  await chain.outage(AWAY_SECONDS);
  return merchant;
}

const open = async (merchant: TestMerchant, count: number) =>
  await Promise.all(Array.from({ length: count }, () => checkout(service, merchant).open()));

/** As the script of the payer's page does. */
async function choose({ url }: CheckoutSession): Promise<{ status: number; message?: string }> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ option: `USDT:${NETWORK}` }),
  });
  if (answer.ok) return { status: answer.status };
  const { error }: { error: { code: string; message: string } } = JSON.parse(await answer.text());
  return { status: answer.status, message: `${error.code}: ${error.message}` };
}

const rowsOf = async <T>(text: string, { merchantId }: TestMerchant) =>
  await asOwner<T & object>(service, text, [merchantId]);
const givenTo = async (merchant: TestMerchant) =>
  await rowsOf<{ watch: string; address_index: bigint }>(
    'select watch, address_index from deposit_address where merchant_id = $1 order by address_index',
    merchant,
  );
const numbers = (count: number) => Array.from({ length: count }, (_, i) => BigInt(i));

const EMPTY = {
  status: 503,
  message:
    'service_unavailable: No address on trc20 can be given out at the moment. Choose another network, or try again later.',
};

test('50 payers at once on 20 addresses: each address goes to one, 30 are told, and are served once more are named', async () => {
  const merchant = await dryPool(20);
  const sessions = await open(merchant, 50);
  const answers = await Promise.all(sessions.map(choose));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
  expect(answers.filter(({ status }) => status !== 200)).toEqual(Array(30).fill(EMPTY));
  const given = await givenTo(merchant);
  expect(given.map(({ address_index: index }) => index)).toEqual(numbers(20));
  expect(new Set(given.map(({ watch }) => watch)).size).toBe(20);
  // Nothing of the refused is left, no number either, and the job that has more named is there.
  expect(await rowsOf('select payment_id from payment_option where merchant_id = $1', merchant)).toHaveLength(
    20,
  );
  expect(
    await rowsOf('select next_address_index from deposit_cursor where merchant_id = $1', merchant),
  ).toEqual([{ next_address_index: 20n }]);
  expect(
    await rowsOf(
      "select unique_key from job where merchant_id = $1 and kind = 'payments.fill-pool'",
      merchant,
    ),
  ).toEqual([{ unique_key: NETWORK }]);
  expect(await (await fetch(`${service.baseUrl}/metrics`)).text()).toContain(
    `florin_deposit_addresses_left{network="${NETWORK}"} 0`,
  );
  expect(await fill(merchant)).toEqual({ againAtMs: expect.any(Number) });
  expect(lines).toContainEqual(
    expect.objectContaining({ event: 'deposit_addresses_low', network: NETWORK, left: '0' }),
  );
  await chainOf(merchant).outage(0);
  // By two workers, as where one has lost its lease.
  expect(await Promise.all([fill(merchant), fill(merchant)])).toEqual(['done', 'done']);
  const refused = sessions.filter((_, i) => answers[i]?.status !== 200);
  expect(await Promise.all(refused.map(choose))).toEqual(Array(30).fill({ status: 200 }));
  const all = await givenTo(merchant);
  expect(all.map(({ address_index: index }) => index)).toEqual(numbers(50));
  const derived = await Promise.all(
    all.map(({ address_index: index }) => chainOf(merchant).depositAddress({ index: Number(index) })),
  );
  expect(all.map(({ watch }) => watch)).toEqual(derived.map(({ watch }) => watch));
});

test('the first payer of a merchant without a pool is refused, has it filled, and pays to an address of it', async () => {
  const { app } = service;
  const merchant = await service.createMerchant({ funds: 0n });
  const [session] = await open(merchant, 1);
  if (session === undefined) throw new Error('no session');
  expect(await choose(session)).toEqual(EMPTY);
  expect(await fill(merchant)).toBe('done');
  expect(await choose(session)).toEqual({ status: 200 });
  const [given] = await givenTo(merchant);
  const to = given?.watch ?? '';
  const { address: from } = await chainOf(merchant).depositAddress({ index: 1_000_000 });
  await chainOf(merchant).pay({ transfers: [{ from, to, asset: 'USDT', amount: 100n * BigInt(TOKEN) }] });
  await chainOf(merchant).mine(5);
  await scanOnce(app, merchant.merchantId, NETWORK);
  expect((await checkout(service, merchant).payment(session.payment_id)).status).toBe('completed');
  await expectLedgerWhole(service);
});

test('more are named before the pool is dry, and where a payer falls back nothing is given out twice', async () => {
  const merchant = await dryPool(1);
  const chain = chainOf(merchant);
  const now = { seconds: 1, realMs: service.app.clock.nowMs() };
  const take = (isKept: boolean) =>
    transact(service.app.db, async (tx) => {
      const { index, watch } = await takeAddress(tx, chain, merchant.merchantId, now);
      if (!isKept) throw new Error('the payer’s transaction ends');
      return { index, watch };
    });
  await expect(take(false)).rejects.toThrow('ends');
  const { watch } = await chain.depositAddress({ index: 0 });
  expect(await take(true)).toEqual({ index: 0n, watch });
  expect(
    await rowsOf("select kind from job where merchant_id = $1 and kind = 'payments.fill-pool'", merchant),
  ).toHaveLength(1);
  await expect(take(true)).rejects.toThrow(AddressPoolEmpty);
});

test('two workers that store the same addresses at once store each once', async () => {
  const merchant = await dryPool(0);
  await chainOf(merchant).outage(0);
  const place = { merchantId: merchant.merchantId, network: NETWORK };
  for (let from = 0; from < 2_000; from += 200) {
    const addresses = (await chainOf(merchant).nameAddresses?.({ from, count: 200 })) ?? [];
    const add = () =>
      transact(service.app.db, (tx) => addToPool(tx, place, { from: BigInt(from), addresses }));
    await Promise.all([add(), add(), add()]);
  }
  expect(
    await rowsOf(
      'select count(distinct watch), count(*) as stored from deposit_pool_address where merchant_id = $1',
      merchant,
    ),
  ).toEqual([{ count: 2_000n, stored: 2_000n }]);
});

test('a holder of the keys that names other addresses than before is not believed', async () => {
  const merchant = await dryPool(3);
  const other = await service.createMerchant({ funds: 0n });
  const place = { merchantId: merchant.merchantId, network: NETWORK };
  const named = async (from: number, whose: TestMerchant) =>
    (await chainOf(whose).nameAddresses?.({ from, count: 3 })) ?? [];
  const add = async (from: bigint, addresses: Awaited<ReturnType<typeof named>>) =>
    await transact(service.app.db, (tx) => addToPool(tx, place, { from, addresses }));
  await chainOf(merchant).outage(0);
  await expect(add(2n, await named(2, other))).rejects.toThrow('as number 2 on trc20');
  await expect(add(3n, await named(0, merchant))).rejects.toThrow('deposit_pool_address');
  await expect(add(5n, await named(5, merchant))).rejects.toThrow('a gap before number 5');
  await add(0n, await named(0, merchant));
  expect(
    await rowsOf(
      'select filled_to, (select count(*) from deposit_pool_address a where a.merchant_id = p.merchant_id) as stored from deposit_pool p where merchant_id = $1',
      merchant,
    ),
  ).toEqual([{ filled_to: 3n, stored: 3n }]);
});
