import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { auditNetwork } from '../../packages/server/src/custody/audit.ts';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { PAYMENT_SETTINGS } from '../../packages/server/src/payments/settings.ts';
import { verifyLedger } from '../../packages/server/src/reconciliation/verify-ledger.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/index.ts';
import { jobOf } from '../job.ts';
import { startService, type TestService } from '../service.ts';
import { TOKEN } from './requests.ts';
import { Shop } from './shop.ts';

/** As on Ethereum: final after many blocks, and small deposits may be credited after some of them. */
const FINALITY = { confirmations: 20, earlyConfirmations: 5 };
const HUNDRED = 100 * TOKEN;

let service: TestService;
const shops: Shop[] = [];
beforeAll(async () => {
  service = await startService();
});
afterEach(async () => {
  // Each shop's chains have their own finality, so each is compared by its own.
  for (const shop of shops.splice(0)) await expectBooksAgree(shop);
});
afterAll(() => service.stop());

async function expectBooksAgree(shop: Shop): Promise<void> {
  const { differences } = await verifyLedger(shop.deps, () => {});
  const own = encodeId('merchant', shop.merchant.merchantId);
  expect(differences.filter((one) => one.merchant_id === own)).toEqual([]);
}

async function openShop(): Promise<Shop> {
  const shop = await Shop.open(service, FINALITY);
  shops.push(shop);
  return shop;
}

const audit = (shop: Shop) => auditNetwork(shop.deps, jobOf(shop.merchant.merchantId, { network: 'erc20' }));
const mine = (shop: Shop, blocks: number) => shop.chain().mine(blocks);
const set = (shop: Shop, name: 'earlyCreditUpTo' | 'earlyCreditPerHour', value: string) =>
  writeSetting(service.app.db, shop.merchant.merchantId, PAYMENT_SETTINGS[name], value);
const stops = async (shop: Shop) =>
  (await networkCommands(service.app).list())
    .filter((line) => line.merchant_id === encodeId('merchant', shop.merchant.merchantId))
    .map(({ status }) => status);

test('K1: a small payment completes at early confirmations and is not credited again when its block is final', async () => {
  const shop = await openShop();
  const due = await shop.due();
  await shop.send(due.address);
  await mine(shop, 3);
  await shop.scan();
  expect(await shop.payment(due)).toMatchObject({
    status: 'processing',
    transactions: [{ status: 'seen', confirmations: 4, required_confirmations: 5 }],
  });
  expect(await shop.balance()).toMatchObject({ available: 0 });
  await mine(shop, 1);
  await shop.scan();
  const completed = await shop.payment(due);
  expect(completed).toMatchObject({
    status: 'completed',
    transactions: [{ status: 'final', confirmations: 5, required_confirmations: 5 }],
  });
  expect(await shop.balance()).toMatchObject({ available: HUNDRED });
  const { differences } = await verifyLedger(shop.deps, () => {});
  expect(differences).toEqual([]);
  await mine(shop, 30);
  for (let scan = 0; scan < 3; scan++) await shop.scan();
  await shop.forget();
  await shop.scan();
  await audit(shop);
  expect(await shop.payment(due)).toEqual(completed);
  expect(await shop.balance()).toMatchObject({ available: HUNDRED });
});

test('K1: all transfers of a payment together decide whether it is small, also those that came before', async () => {
  const shop = await openShop();
  await set(shop, 'earlyCreditUpTo', '100.00');
  const due = await shop.due();
  await shop.send(due.address, { amount: BigInt(HUNDRED) });
  await shop.send(due.address, { amount: 1n });
  await mine(shop, 10);
  await shop.scan();
  expect(await shop.payment(due)).toMatchObject({
    status: 'processing',
    transactions: [{ required_confirmations: 20 }, { required_confirmations: 20 }],
  });
  await mine(shop, 10);
  await shop.scan();
  expect(await shop.payment(due)).toMatchObject({ status: 'completed', exceptions: ['overpaid'] });
});

test('K1: 0.00 turns it off', async () => {
  const shop = await openShop();
  await set(shop, 'earlyCreditUpTo', '0.00');
  const due = await shop.due();
  await shop.send(due.address);
  await mine(shop, 10);
  await shop.scan();
  expect(await shop.payment(due)).toMatchObject({ status: 'processing' });
});

test('K1: a store gets no more than its limit in an hour; what does not fit waits for its block to be final', async () => {
  const shop = await openShop();
  await set(shop, 'earlyCreditPerHour', '250.00');
  const dues = [await shop.due(), await shop.due(), await shop.due()];
  for (const { address } of dues) await shop.send(address);
  await mine(shop, 6);
  await Promise.all([shop.scan(), shop.scan()]);
  await shop.scan();
  const statuses = async () =>
    (await Promise.all(dues.map((due) => shop.payment(due)))).map(({ status }) => status).sort();
  expect(await statuses()).toEqual(['completed', 'completed', 'processing']);
  expect(await shop.balance()).toMatchObject({ available: 2 * HUNDRED });
  await mine(shop, 20);
  await shop.scan();
  expect(await statuses()).toEqual(['completed', 'completed', 'completed']);
});

test('K1, fault 49: one that vanishes after it is credited is the operator’s loss, stops early credit and not sending', async () => {
  const shop = await openShop();
  const due = await shop.due();
  await shop.send(due.address);
  await mine(shop, 6);
  await shop.scan();
  expect(await shop.payment(due)).toMatchObject({ status: 'completed' });
  await shop.chain().reorg(8);
  await mine(shop, 8);
  await shop.scan();
  expect(await audit(shop)).not.toBe('done');
  expect(await stops(shop)).toEqual([]);
  await mine(shop, 30);
  await shop.scan();
  await audit(shop);
  expect(await stops(shop)).toEqual(['no_early_credit']);
  expect(await shop.payment(due)).toMatchObject({ status: 'completed' });
  expect(await shop.balance()).toMatchObject({ available: HUNDRED });

  const next = await shop.due();
  await shop.send(next.address);
  await mine(shop, 10);
  await shop.scan();
  expect(await shop.payment(next)).toMatchObject({ status: 'processing' });
  await networkCommands(service.app).resume('erc20', encodeId('merchant', shop.merchant.merchantId));
  await shop.scan();
  expect(await shop.payment(next)).toMatchObject({ status: 'completed' });
});

test('K1: one that a reorganisation moves to another block stays credited, and nobody has lost anything', async () => {
  const shop = await openShop();
  const due = await shop.due();
  await shop.send(due.address);
  await mine(shop, 6);
  await shop.scan();
  await mine(shop, 4);
  await shop.chain().reorg(11, { remine: true });
  await shop.scan();
  await mine(shop, 14);
  await audit(shop);
  await mine(shop, 20);
  await shop.scan();
  await audit(shop);
  expect(await stops(shop)).toEqual([]);
  expect(await shop.payment(due)).toMatchObject({ status: 'completed' });
  expect(await shop.balance()).toMatchObject({ available: HUNDRED });
});
