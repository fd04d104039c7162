import { randomUUID } from 'node:crypto';
import { NETWORKS } from '@florin/contract/money';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveMandate } from '../../packages/server/src/payment-methods/mandates/index.ts';
import { mandateOf } from '../../packages/server/src/payment-methods/queries.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import { decodeId, encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { expectError } from '../http/expect-error.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { attemptsOf, chargePayer, expectPulledOnce, newPayer, paymentOf } from '../transfers/charges.ts';
import { Process } from '../transfers/process.ts';
import { methodCalls, type NewMethod, newMethod, TOKENS } from './requests.ts';

/** What is due next of payment methods, by id: the part of whoever bills. */
const needs = new Map<string, bigint>();
let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  service.app.chargeNeeds = async () => needs;
  merchant = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

const calls = (as: TestMerchant = merchant) => methodCalls(service, as);
const create = async (options?: NewMethod) => {
  const made = await newMethod(service, merchant, options);
  return { ...made, id: encodeId('paymentMethod', made.method.payment_method_id) };
};
const countEventsOf = async (id: string) =>
  (
    await asOwner(
      service,
      `delete from job where kind = 'payment_methods.news' and payload ->> 'paymentMethodId' = $1 returning 1`,
      [decodeId('paymentMethod', id)],
    )
  ).length;

test('a payment method as the specification draws it, on each network', async () => {
  for (const [i, network] of NETWORKS.entries()) {
    const { id, customer, mandate, method } = await create({ network, currency: 'USDC' });
    expect(await calls().read(id)).toEqual({
      id: expect.stringMatching(/^pm_[0-9a-z]{26}$/),
      object: 'payment_method',
      customer,
      merchant_id: encodeId('merchant', merchant.merchantId),
      type: 'wallet_mandate',
      currency: 'USDC',
      chain_type: i + 1,
      status: 'active',
      mandate_id: mandate.mandateId,
      metadata: {},
      created: Number(method.created_at),
    });
  }
});

test('a mandate that is reported twice is stored once', async () => {
  const { given, method } = await create();
  const now = { seconds: Number(method.created_at) + 5, realMs: Date.now() };
  const again = await transact(service.app.db, (tx) => saveMandate(tx, given, now));
  expect(again).toEqual(method);
});

test.each([
  ['no number of subscriptions', {}],
  ['a number of subscriptions and an end', { subscriptions: 3, endsAt: 2_000_000_000 }],
])('a mandate with %s is read as it was stored: its id is derived from every field', async (_name, more) => {
  const { given, method } = await create();
  const mandate = { ...given.mandate, ...more, mandateId: randomUUID() };
  const now = { seconds: Number(method.created_at), realMs: Date.now() };
  const row = await transact(service.app.db, (tx) => saveMandate(tx, { ...given, mandate }, now));
  expect(mandateOf(row)).toEqual(mandate);
});

test('lists are of a customer, by either id, newest first; nobody known has none', async () => {
  const external_customer_id = 'lists-1';
  const { id: customer } = await merchant.sdk.customers.create({ external_customer_id });
  const ids: string[] = [];
  for (const network of NETWORKS) ids.unshift((await create({ network, customer })).id);
  const idsIn = async (query: string) => (await calls().list(query)).data.map(({ id }) => id);
  expect(await idsIn(`?customer=${customer}`)).toEqual(ids);
  expect(await idsIn(`?customer=${external_customer_id}`)).toEqual(ids);
  expect((await idsIn('')).slice(0, 3)).toEqual(ids);
  const page = await calls().list(`?customer=${customer}&limit=2`);
  expect(page).toMatchObject({ has_more: true, url: `/api/v1/payment_methods?customer=${customer}&limit=2` });
  expect(await idsIn(`?customer=${customer}&limit=2&starting_after=${ids[1]}`)).toEqual([ids[2]]);
  for (const unknown of ['cus_unknown', 'nobody', encodeId('customer', merchant.merchantId)])
    expect(await calls().list(`?customer=${unknown}`)).toMatchObject({ data: [], has_more: false });
  const other = (await create()).id;
  const wrong = await calls().call(`/payment_methods?customer=${customer}&starting_after=${other}`);
  const expected = { status: 400, code: 'invalid_request_error', param: 'starting_after' };
  expectError(wrong, '/api/v1/payment_methods', expected);
});

test('they belong to the merchant: its other store reads them, another merchant does not', async () => {
  const { id } = await create();
  const otherStore = await service.addStore(merchant);
  expect(await calls(otherStore).read(id)).toEqual(await calls().read(id));
  const stranger = await service.createMerchant({ funds: 0n });
  for (const path of [`/payment_method/${id}`, '/payment_method/pm_unknown'])
    expect((await calls(stranger).call(path)).status).toBe(404);
  expect(await calls(stranger).list()).toMatchObject({ data: [] });
});

test('a change of metadata has no event', async () => {
  const { id } = await create();
  const before = await calls().read(id);
  const metadata = { plan: 'gold', seats: 3, trial: false };
  expect(await calls().update(id, { metadata })).toEqual({ ...before, metadata });
  expect(await calls().update(id, {})).toEqual({ ...before, metadata });
  expect(await calls().update(id, { metadata: {} })).toEqual(before);
  expect(await calls().events(id)).toEqual([]);
});

test('the newest active method is the default of its customer', async () => {
  const older = await create();
  const { customer } = older;
  const newer = await create({ customer, network: 'spl' });
  const defaultOf = async () => (await merchant.sdk.customers.retrieve(customer)).default_payment_method;
  expect(await defaultOf()).toBe(newer.id);
  await calls().revoke(newer.id);
  expect(await defaultOf()).toBe(older.id);
  await calls().change(older.id, { revoked: true });
  expect(await defaultOf()).toBeUndefined();
});

test('I7: a revoked one is so for good, whatever its wallet does, with one event', async () => {
  const { id } = await create();
  expect(await calls().revoke(id)).toMatchObject({ id, status: 'revoked' });
  const again = await calls().post(`/payment_methods/${id}/revoke`);
  expectError(again, '/api/v1/payment_methods', { status: 400, code: 'invalid_request_error' });
  expect(await countEventsOf(id)).toBe(1);
  expect(await calls().change(id, { balance: 5, allowance: 5 })).toMatchObject({ status: 'revoked' });
  const [event, ...others] = await calls().events(id);
  expect(others).toEqual([]);
  expect(event).toMatchObject({ sequence: 1, data: { previous_attributes: { status: 'active' } } });
  expect(event?.data.object).toEqual(await calls().read(id));
  expect(await countEventsOf(id)).toBe(0);
});

test.each(NETWORKS)(
  'on %s it is inactive while it cannot pay what is due, and back with the money',
  async (network) => {
    const { id, method } = await create({ network, balance: 100n });
    const { change, events } = calls();
    expect((await change(id, { balance: 0, allowance: 0 })).status).toBe('active');
    needs.set(method.payment_method_id, 40n);
    expect((await change(id, { balance: 40, allowance: 39 })).status).toBe('inactive');
    expect(await countEventsOf(id)).toBe(1);
    expect((await change(id, { allowance: 30 })).status).toBe('inactive');
    // Less of what was too little already: nobody looks again.
    expect(await countEventsOf(id)).toBe(0);
    expect((await change(id, { allowance: 35 })).status).toBe('inactive');
    expect(await countEventsOf(id)).toBe(1);
    expect((await change(id, { allowance: 40 })).status).toBe('active');
    expect((await change(id, { balance: 39 })).status).toBe('inactive');
    expect((await change(id, { balance: 40 * TOKENS })).status).toBe('active');
    // A token account on spl forgets a delegate that is revoked: its owner may approve again.
    const after = network === 'spl' ? ['inactive', 'active'] : ['revoked', 'revoked'];
    expect((await change(id, { revoked: true })).status).toBe(after[0]);
    expect((await change(id, { balance: 50 * TOKENS, allowance: 50 })).status).toBe(after[1]);
    const seen = await events(id);
    const statuses = ['inactive', 'active', 'inactive', 'active', ...new Set(after)];
    expect(seen.map(({ data }) => data.object.status)).toEqual(statuses);
    expect(seen.map(({ sequence }) => sequence)).toEqual(statuses.map((_, place) => place + 1));
    expect(seen.map(({ data }) => data.previous_attributes)).toEqual(
      ['active', ...statuses.slice(0, -1)].map((status) => ({ status })),
    );
  },
);

test('methods of one wallet share what it holds: all of them are read when one is changed', async () => {
  const { id, method, chain, given } = await create({ balance: 100n });
  const { mandateId: _, recipient: __, ...terms } = given.mandate;
  const setup = await chain.mandateSetup({ ...terms, salt: 'second', allowance: 1_000n });
  await chain.authorize(setup, { final: true });
  const now = { seconds: Number(method.created_at), realMs: Date.now() };
  const second = { ...given, mandate: setup.mandate };
  const sibling = await transact(service.app.db, (tx) => saveMandate(tx, second, now));
  needs.set(method.payment_method_id, 10n).set(sibling.payment_method_id, 60n);
  await calls().change(id, { balance: 50 });
  expect((await calls().read(id)).status).toBe('active');
  expect((await calls().read(encodeId('paymentMethod', sibling.payment_method_id))).status).toBe('inactive');
});

test.each([true, false])(
  'a revoke ends a charge that was not sent, and keeps one that may be on the chain (sent: %s)',
  async (isSent) => {
    const payer = await newPayer(service, 'erc20');
    const id = encodeId('paymentMethod', payer.method.payment_method_id);
    const charge = await chargePayer(service, payer);
    const process = new Process(service.app, payer.merchant.merchantId);
    if (isSent) while ((await process.step()) !== 'transfers.send');
    await methodCalls(service, payer.merchant).revoke(id);
    await process.finish('erc20');
    expect(await paymentOf(service, charge)).toEqual(
      isSent
        ? { status: 'completed', decline_code: null }
        : { status: 'failed', decline_code: 'mandate_revoked' },
    );
    expect(await attemptsOf(service, charge)).toEqual(isSent ? ['succeeded'] : []);
    await expectPulledOnce(service, [charge]);
  },
);

test('a wallet that a charge on its way empties lacks nothing for it', async () => {
  const payer = await newPayer(service, 'spl', { balance: 100n, allowance: 100n });
  const { payment_method_id: paymentMethodId } = payer.method;
  const id = encodeId('paymentMethod', paymentMethodId);
  const own = methodCalls(service, payer.merchant);
  needs.set(paymentMethodId, 100n);
  const charge = await chargePayer(service, payer, 100n);
  const process = new Process(service.app, payer.merchant.merchantId);
  while ((await process.step()) !== 'transfers.send');
  await payer.chain.mine(4);
  expect(await payer.chain.balance(payer.wallet.owner, 'USDT', 'final')).toBe(0n);
  expect((await own.change(id, {})).status).toBe('active');
  await process.finish('spl');
  // What comes next needs as much again.
  expect((await own.change(id, {})).status).toBe('inactive');
  await expectPulledOnce(service, [charge]);
});

test('only a sandbox merchant plays with wallets, and only with its own', async () => {
  const { id } = await create();
  const stranger = await service.createMerchant({ funds: 0n });
  expect((await calls(stranger).post(`/test_helpers/payment_methods/${id}`, { balance: 1 })).status).toBe(
    404,
  );
  const live = await service.createMerchant({ mode: 'live', funds: 0n });
  expect((await calls(live).post(`/test_helpers/payment_methods/${id}`, { balance: 1 })).status).toBe(403);
  for (const body of [{ balance: -1 }, { allowance: '5' }, { revoked: false }, { status: 'active' }])
    expect((await calls().post(`/test_helpers/payment_methods/${id}`, body)).status).toBe(400);
});

test('I1: after all of it ledger and chains agree', () => expectLedgerWhole(service));
