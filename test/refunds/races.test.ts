import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { PAYOUT_SETTINGS } from '../../packages/server/src/payouts/index.ts';
import { shortRefunds } from '../../packages/server/src/refunds/queries.ts';
import { REFUND_SETTINGS } from '../../packages/server/src/refunds/settings.ts';
import { clearSetting, writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { TRANSFER_SETTINGS } from '../../packages/server/src/transfers/index.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { scaled } from '../scale.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { refunds, refusal, shop, TOKEN } from './requests.ts';

const FUNDS = 1_000n * BigInt(TOKEN);
const POLL = { timeout: 60_000, interval: 200 };

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true });
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const count = (texts: readonly string[]) =>
  Object.fromEntries([...Map.groupBy(texts, (text) => text)].map(([text, all]) => [text, all.length]));

test('B9: 50 concurrent partial refunds over two nodes: as many as were paid for, and not one more', async () => {
  const { merchant, paid, payment, balance, create, ended } = await shop(service, {
    funds: FUNDS,
  });
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const second = refunds(service, merchant, await service.addNode());
  const { id } = await paid();
  const part = { payment_id: id, amount: 7 * TOKEN, currency: 'USDT', address: erc20.succeed };
  const said = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      (i % 2 === 0 ? create : second.create)({ ...part, refund_id: `p-${i}` }),
    ),
  );
  expect(count(said.map(refusal))).toEqual({ 200: 14, '400 amount': 36 });
  expect(await balance()).toMatchObject({ available: 3_002 * TOKEN, refund_hold: 98 * TOKEN });
  const made = said.flatMap(({ status }, i) => (status === 200 ? [`p-${i}`] : []));
  for (const refundId of made) expect(await ended(refundId)).toMatchObject({ status: 'succeeded' });
  expect(await payment(id)).toMatchObject({ amount_refunded: 98 * TOKEN });
  const transfers = [];
  for await (const one of merchant.sdk.testHelpers.transfers('erc20', erc20.succeed)) transfers.push(one);
  expect(transfers).toHaveLength(14);
}, 90_000);

test('B9: concurrent refunds of one wrong token never exceed it', async () => {
  const { merchant, open, pay, create, balance } = await shop(service);
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const session = await open();
  const wrong = await pay(session.id, { currency: 'USDC', amount: 10 * TOKEN });
  const by = { payment_id: wrong.id, tx_id: wrong.transactions[0]?.tx_id, address: erc20.succeed };
  const said = await Promise.all(
    Array.from({ length: 20 }, () => create({ ...by, amount: 3 * TOKEN, currency: 'USDC' })),
  );
  expect(count(said.map(refusal))).toEqual({ 200: 3, '400 amount': 17 });
  expect(await balance('USDC')).toMatchObject({ held: TOKEN, refund_hold: 9 * TOKEN });
});

test('B1, B4: one refund_id many times at once is one refund; with other parameters it is 409', async () => {
  const { merchant, paid, create, balance, post } = await shop(service, { funds: FUNDS });
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const second = refunds(service, merchant, await service.addNode());
  const { id } = await paid();
  for (let round = 0; round < scaled(50, 4); round++) {
    const body = {
      refund_id: `once-${round}`,
      payment_id: id,
      amount: 10_000,
      currency: 'USDT',
      address: erc20.succeed,
    };
    const said = await Promise.all(
      Array.from({ length: scaled(200, 20) }, (_, i) =>
        (i % 2 === 0 ? create : second.create)(i % 5 === 4 ? { ...body, amount: 20_000 } : body),
      ),
    );
    const amounts = new Set(said.filter(({ status }) => status === 200).map(({ json }) => json.amount));
    expect(amounts.size).toBe(1);
    const others = said.filter(({ status }) => status !== 200).map(refusal);
    expect(new Set(others)).toEqual(new Set(['409 refund_id']));
    const again = await create({ ...body, amount: [...amounts][0] });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    await post(`/refunds/${body.refund_id}/cancel`);
  }
  expect((await balance()).available).toBeLessThanOrEqual(3_100 * TOKEN);
});

test('B5: a refund belongs to its store: the other store of the merchant gets 403, another merchant 404', async () => {
  const { merchant, paid, refund, create } = await shop(service, { funds: FUNDS });
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const { id } = await paid();
  const body = { refund_id: 'mine', payment_id: id, address: erc20.succeed };
  await refund(body);
  const sister = refunds(service, await service.addStore(merchant));
  expect((await sister.create(body)).status).toBe(403);
  expect((await sister.call('/refunds/mine')).status).toBe(403);
  const own = await sister.paid();
  expect((await sister.create({ ...body, payment_id: own.id })).status).toBe(409);
  const stranger = await shop(service, { funds: FUNDS });
  expect(refusal(await stranger.create(body))).toBe('404 resource_not_found');
  const theirs = await stranger.paid();
  expect((await stranger.create({ ...body, payment_id: theirs.id })).status).toBe(200);
  expect((await create(body)).status).toBe(200);
});

test('H2: concurrent refunds and payouts of one balance spend it once', async () => {
  const { merchant, paid, create, balance, post, call } = await shop(service);
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const payments = await Promise.all(Array.from({ length: 4 }, () => paid()));
  const items = [{ network: 'erc20', address: erc20.stuck, amount: '150.00' }];
  const batches = await Promise.all(
    Array.from({ length: 3 }, (_, i) =>
      post('/payout-batches', { currency: 'USDT', items }, { 'idempotency-key': `k${i}` }),
    ),
  );
  const said = await Promise.all([
    ...payments.map(({ id }) => create({ payment_id: id })),
    ...batches.map(({ json }) => post(`/payout-batches/${String(json.batch_id)}/submit`)),
  ]);
  expect(said.every(({ status }) => status < 500)).toBe(true);
  const after = await balance();
  const { available = 0, refund_hold: held = 0 } = after;
  const refunded = said.slice(0, 4).filter(({ status }) => status === 200).length;
  expect(held).toBe(refunded * 100 * TOKEN);
  const balances = await call('/balances');
  const [row] = balances.json.data as { payout_hold: number }[];
  expect(available + held + (row?.payout_hold ?? 0)).toBe(400 * TOKEN);
  const refused = said.slice(0, 4).filter(({ status }) => status !== 200);
  expect(refused.map(refusal)).toEqual(refused.map(() => '400 insufficient_balance'));
  for (const { json } of batches) await post(`/payout-batches/${String(json.batch_id)}/cancel`);
});

test('concurrent cancel and send: one of them wins, and the money is in one balance', async () => {
  const { merchant, paid, refund, cancel, ended, balance } = await shop(service, { funds: FUNDS });
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const { id } = await paid();
  let left = 3_100 * TOKEN;
  for (let round = 0; round < scaled(60, 6); round++) {
    const refundId = `race-${round}`;
    const body = { refund_id: refundId, payment_id: id, amount: TOKEN, currency: 'USDT' };
    await refund({ ...body, address: erc20.succeed });
    await Promise.all([cancel(refundId), cancel(refundId)]);
    const { status } = await ended(refundId);
    expect(['succeeded', 'canceled']).toContain(status);
    if (status === 'succeeded') left -= TOKEN;
  }
  expect(await balance()).toEqual({ available: left, held: 0, refund_hold: 0 });
});

test('a refund that was sent cannot be canceled', async () => {
  const { merchant, paid, refund, cancel, read } = await shop(service, { funds: FUNDS });
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  await refund({ refund_id: 'stuck', payment_id: (await paid()).id, address: erc20.stuck });
  await expect.poll(async () => (await read('stuck')).status, POLL).toBe('processing');
  expect(refusal(await cancel('stuck'))).toBe('400 invalid_request_error');
});

test('the daily limit holds for concurrent refunds, sums both tokens, and is released', async () => {
  const { merchant, paid, create, cancel } = await shop(service);
  await writeSetting(service.app.db, merchant.merchantId, REFUND_SETTINGS.dailyLimit, '100.00');
  const first = await paid({ amount: 150 * TOKEN });
  const second = await paid({ currency: 'USDC' }, { currency: 'USDC' });
  const part = (refundId: string, payment: string, currency: string) =>
    create({ refund_id: refundId, payment_id: payment, amount: 15 * TOKEN, currency });
  const said = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      i % 2 === 0 ? part(`d-${i}`, first.id, 'USDT') : part(`d-${i}`, second.id, 'USDC'),
    ),
  );
  expect(count(said.map(refusal))).toEqual({ 200: 6, '429 DAILY_REFUND_LIMIT_EXCEEDED': 6 });
  const refused = said.find(({ status }) => status === 429);
  expect(refused?.headers.get('retry-after')).toBeNull();
  expect(refused?.json).toMatchObject({ error: { type: 'rate_limit_error' } });
  // Above the limit alone, and with what is left of the day.
  expect(refusal(await create({ payment_id: first.id, amount: 101 * TOKEN, currency: 'USDT' }))).toMatch(
    /^429|^400 amount/,
  );
  const made = said.findIndex(({ status }) => status === 200);
  expect((await cancel(`d-${made}`)).status).toBe(200);
  expect((await part('again', first.id, 'USDT')).status).toBe(200);
  expect((await part('full', first.id, 'USDT')).status).toBe(429);
  const sister = refunds(service, await service.addStore(merchant));
  expect((await sister.create({ payment_id: (await sister.paid()).id })).status).toBe(200);
  const seconds = 86_400 - ((await merchant.sdk.testHelpers.now()) % 86_400);
  await merchant.sdk.testHelpers.advanceClock(seconds);
  expect((await part('tomorrow', first.id, 'USDT')).status).toBe(200);
});

test('with a delay a refund can be canceled until it is over; a claimed one from the claim on', async () => {
  const { merchant, paid, refund, cancel, claim, read, ended } = await shop(service, { funds: FUNDS });
  await writeSetting(service.app.db, merchant.merchantId, REFUND_SETTINGS.delaySeconds, 600);
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const { id } = await paid();
  const part = { payment_id: id, amount: TOKEN, currency: 'USDT' };
  await refund({ ...part, refund_id: 'given', address: erc20.succeed });
  await refund({ ...part, refund_id: 'regret', address: erc20.succeed });
  await refund({ ...part, refund_id: 'asked' });
  await merchant.sdk.testHelpers.advanceClock(500);
  expect((await cancel('regret')).status).toBe(200);
  expect((await claim('asked', erc20.succeed)).status).toBe(200);
  expect(await read('given')).toMatchObject({ status: 'pending' });
  await merchant.sdk.testHelpers.advanceClock(200);
  expect(await ended('given')).toMatchObject({ status: 'succeeded' });
  expect(await read('asked')).toMatchObject({ status: 'pending' });
  await merchant.sdk.testHelpers.advanceClock(500);
  expect(await ended('asked')).toMatchObject({ status: 'succeeded' });
  expect(await read('regret')).toMatchObject({ status: 'canceled' });
});

test('while a token is paused refunds of it wait, and can be canceled', async () => {
  const { merchant, paid, refund, cancel, ended, read } = await shop(service, { funds: FUNDS });
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const { id } = await paid();
  await writeSetting(service.app.db, merchant.merchantId, TRANSFER_SETTINGS.paused, 'USDT:erc20');
  const part = { payment_id: id, amount: TOKEN, currency: 'USDT', address: erc20.succeed };
  await refund({ ...part, refund_id: 'waits' });
  await refund({ ...part, refund_id: 'canceled' });
  await merchant.sdk.testHelpers.advanceClock(100);
  const waits = { status: 'pending', waiting_for: 'network_paused' };
  for (const id of ['waits', 'canceled']) await expect.poll(() => read(id), POLL).toMatchObject(waits);
  expect((await cancel('canceled')).status).toBe(200);
  expect(await read('canceled')).toMatchObject({ status: 'canceled', waiting_for: null });
  await clearSetting(service.app.db, merchant.merchantId, TRANSFER_SETTINGS.paused);
  await expect.poll(async () => (await read('waits')).status, POLL).not.toBe('pending');
  expect(await ended('waits')).toMatchObject({ status: 'succeeded' });
}, 90_000);

test('fault 49: while a network is stopped its refunds wait, can be canceled, and resume with it', async () => {
  const { merchant, paid, refund, cancel, ended, read } = await shop(service, { funds: FUNDS });
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const { id } = await paid();
  const stop = { merchant_id: merchant.merchantId, network: 'erc20', reason: 'test', stopped_at: 0 } as const;
  await service.app.db.insertInto('network_stop').values(stop).execute();
  const part = { payment_id: id, amount: TOKEN, currency: 'USDT', address: erc20.succeed };
  await refund({ ...part, refund_id: 'waits' });
  await refund({ ...part, refund_id: 'canceled' });
  await merchant.sdk.testHelpers.advanceClock(60);
  expect(await read('waits')).toMatchObject({ status: 'pending' });
  expect((await cancel('canceled')).json).toMatchObject({ status: 'canceled' });
  await service.app.db.deleteFrom('network_stop').where('merchant_id', '=', merchant.merchantId).execute();
  await expect.poll(async () => (await read('waits')).status, POLL).not.toBe('pending');
  expect(await ended('waits')).toMatchObject({ status: 'succeeded' });
}, 90_000);

/** Has a payout that nobody approves set coins of a network aside, while another network covers the balance. */
async function reserveCoins({ merchantId, sdk }: TestMerchant, amount: string): Promise<void> {
  const { erc20 } = await sdk.testHelpers.addresses();
  await writeSetting(service.app.db, merchantId, PAYOUT_SETTINGS.approvalAbove, '0.00');
  await sdk.testHelpers.fund({ currency: 'USDT', network: 'trc20', amount: '1000' });
  const items = [{ network: 'erc20', address: erc20.succeed, amount } as const];
  const { batch_id } = await sdk.payouts.create({ currency: 'USDT', items });
  expect(await sdk.payouts.submit(batch_id)).toMatchObject({ status: 'pending_approval' });
}

test('a refund without enough coins on its network waits with an alarm, and is sent once they arrive', async () => {
  const { merchant, paid, refund, read, ended, balance } = await shop(service);
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const { id } = await paid();
  await reserveCoins(merchant, '50.00');
  await refund({ refund_id: 'short', payment_id: id, address: erc20.succeed });
  await expect
    .poll(async () => (await shortRefunds(service.app.db)).map(({ network, count: n }) => [network, n]), POLL)
    .toEqual([['erc20', 1]]);
  // Less than the seven days after which the payout gives its coins back.
  await merchant.sdk.testHelpers.advanceClock(100_000);
  expect(await read('short')).toMatchObject({ status: 'pending' });
  expect(await balance()).toMatchObject({ refund_hold: 100 * TOKEN });
  await merchant.sdk.testHelpers.fund({ currency: 'USDT', network: 'erc20', amount: '200' });
  await expect.poll(async () => (await read('short')).status, POLL).not.toBe('pending');
  expect(await ended('short')).toMatchObject({ status: 'succeeded' });
  expect(await shortRefunds(service.app.db)).toEqual([]);
}, 90_000);
