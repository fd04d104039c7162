import { NETWORKS } from '@florin/contract/money';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UnservedMandate } from '../../packages/server/src/chains/charges/index.ts';
import { countElsewhere } from '../../packages/server/src/payment-methods/charges/index.ts';
import { PAYMENT_METHOD_SETTINGS } from '../../packages/server/src/payment-methods/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { asOwner } from '../ledger.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { methodCalls, newMethod } from './requests.ts';

const DAY = 86_400;
/** What is due next of payment methods, by id: the part of whoever bills. */
const needs = new Map<string, bigint>();
let service: TestService;

beforeAll(async () => {
  service = await startService();
  service.app.chargeNeeds = async () => needs;
  await service.startWorker();
});
afterAll(() => service.stop());

/** A merchant whose methods are read each day. */
async function newMerchant(): Promise<TestMerchant> {
  const merchant = await service.createMerchant({ funds: 0n });
  const { readEverySeconds } = PAYMENT_METHOD_SETTINGS;
  await writeSetting(service.app.db, merchant.merchantId, readEverySeconds, DAY);
  return merchant;
}

async function advance(merchant: TestMerchant, seconds: number): Promise<void> {
  const { status, json } = await methodCalls(service, merchant).post('/test_helpers/clock/advance', {
    seconds,
  });
  expect([status, json.done]).toEqual([200, true]);
}

const statusesOf = async (merchant: TestMerchant) =>
  (await methodCalls(service, merchant).list('?limit=100')).data.map(({ status }) => status).toReversed();

test('what a wallet lacks is seen within a day, before the charge is due, and what it got back too', async () => {
  const merchant = await newMerchant();
  const made = await Promise.all(NETWORKS.map((network) => newMethod(service, merchant, { network })));
  for (const { method } of made) needs.set(method.payment_method_id, 500n);
  for (const { chain, mandate } of made)
    await chain.hold({ owner: mandate.payer, asset: mandate.asset }, 499n, { final: true });
  await advance(merchant, DAY);
  expect(await statusesOf(merchant)).toEqual(['inactive', 'inactive', 'inactive']);
  for (const { chain, mandate } of made)
    await chain.hold({ owner: mandate.payer, asset: mandate.asset }, 500n, { final: true });
  await advance(merchant, DAY);
  expect(await statusesOf(merchant)).toEqual(['active', 'active', 'active']);
  for (const { method } of made) {
    const id = encodeId('paymentMethod', method.payment_method_id);
    const events = await methodCalls(service, merchant).events(id);
    expect(events.map(({ data }) => data.object.status)).toEqual(['inactive', 'active']);
  }
});

test('a clock does not stop for polls of wallets: it passes a year of them in one call', async () => {
  const merchant = await newMerchant();
  const { readEverySeconds } = PAYMENT_METHOD_SETTINGS;
  await writeSetting(service.app.db, merchant.merchantId, readEverySeconds, 60);
  const { method, chain, mandate } = await newMethod(service, merchant, { network: 'erc20' });
  needs.set(method.payment_method_id, 500n);
  await chain.hold({ owner: mandate.payer, asset: mandate.asset }, 499n, { final: true });
  await advance(merchant, 365 * DAY);
  expect(await statusesOf(merchant)).toEqual(['inactive']);
});

test('a payer who takes the mandate back is seen; what is revoked for good is read no more', async () => {
  const merchant = await newMerchant();
  const made = await Promise.all(NETWORKS.map((network) => newMethod(service, merchant, { network })));
  for (const { chain, mandate, method } of made) {
    needs.set(method.payment_method_id, 1n);
    await chain.revoke(mandate, { final: true });
  }
  await advance(merchant, DAY);
  // On spl nothing tells it from an approval that is not there yet.
  expect((await statusesOf(merchant)).toSorted()).toEqual(['inactive', 'revoked', 'revoked']);
  const jobs = `select payload ->> 'network' as network from job
    where merchant_id = $1 and kind = 'payment_methods.watch'`;
  expect(await asOwner(service, jobs, [merchant.merchantId])).toEqual([{ network: 'spl' }]);
});

test('nobody knows while the network is away, and all is well once it is back', async () => {
  const merchant = await newMerchant();
  const { method } = await newMethod(service, merchant, { network: 'trc20' });
  const { post, events } = methodCalls(service, merchant);
  await advance(merchant, DAY / 2);
  expect((await post('/test_helpers/chains/trc20', { outage_seconds: DAY })).status).toBe(200);
  await advance(merchant, DAY / 2 + 60);
  expect(await statusesOf(merchant)).toEqual(['unknown']);
  await advance(merchant, DAY);
  expect(await statusesOf(merchant)).toEqual(['active']);
  const seen = await events(encodeId('paymentMethod', method.payment_method_id));
  expect(seen.map(({ data }) => data.object.status)).toEqual(['unknown', 'active']);
});

test('after some days a mandate of a collector that was replaced can be given anew, and charges again where it is put back', async () => {
  const merchant = await newMerchant();
  const { method } = await newMethod(service, merchant, { network: 'erc20' });
  needs.set(method.payment_method_id, 1n);
  const { chains } = service.app;
  const replaced: typeof chains.of = (owner, network) =>
    new Proxy(chains.of(owner, network), {
      get: (chain, name) =>
        name === 'mandateStates'
          ? () => Promise.reject(new UnservedMandate('another collector'))
          : Reflect.get(chain, name, chain),
    });
  service.app.chains = { ...chains, of: replaced };
  try {
    await advance(merchant, DAY);
    expect(await statusesOf(merchant)).toEqual(['unknown']);
    expect((await service.app.readState()).elsewhere.get('erc20')).toBe(1);
    await advance(merchant, 4 * DAY);
    expect(await statusesOf(merchant)).toEqual(['inactive']);
  } finally {
    service.app.chains = chains;
  }
  await advance(merchant, 2 * DAY);
  expect(await statusesOf(merchant)).toEqual(['active']);
  expect((await countElsewhere(service.app.db)).get('erc20')).toBeUndefined();
});

test('what a reorganisation has taken cannot be charged, until it is there again', async () => {
  const merchant = await newMerchant();
  const { method, chain, mandate } = await newMethod(service, merchant);
  needs.set(method.payment_method_id, 1n);
  await advance(merchant, 1);
  await chain.reorg(40);
  await advance(merchant, DAY);
  expect(await statusesOf(merchant)).toEqual(['inactive']);
  const wallet = { owner: mandate.payer, asset: mandate.asset };
  const { mandateId: _, recipient: __, ...terms } = mandate;
  await chain.authorize(await chain.mandateSetup({ ...terms, allowance: 5n }), { final: true });
  await chain.hold(wallet, 5n, { final: true });
  await advance(merchant, DAY);
  expect(await statusesOf(merchant)).toEqual(['active']);
});

test('more methods than one read takes are all read, each day once', async () => {
  const merchant = await newMerchant();
  const { method } = await newMethod(service, merchant, { balance: 10n });
  // Copies of one mandate, as the chain takes them for one: a payer's wallet that many subscriptions share.
  await asOwner(
    service,
    `insert into payment_method select merchant_id, gen_random_uuid(), store_id, customer_id, currency, network,
       wallet_address, recipient, mandate_id || n, salt, cap_amount, interval, starts_at, ends_at, status, balance,
       allowance, read_at, next_read_at, metadata, created_at
     from payment_method, generate_series(1, 1100) n where merchant_id = $1`,
    [merchant.merchantId],
  );
  await advance(merchant, 2 * DAY);
  const read = `
    select status, count(*)::int as count, min(read_at) >= $2 as is_read from payment_method
    where merchant_id = $1 and payment_method_id <> $3 group by status`;
  const lastDay = Number(method.created_at) + DAY;
  expect(await asOwner(service, read, [merchant.merchantId, lastDay, method.payment_method_id])).toEqual([
    // The collector knows none of the copies: they allow nothing, and nothing is due of them.
    { status: 'active', count: 1_100, is_read: true },
  ]);
});
