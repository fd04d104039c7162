import type { RecordedEventType } from '@florin/contract/schemas';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  checkoutContext,
  completeCharge,
  failCharge,
  insertCharge,
  type NewCharge,
  quoteCharge,
  readAgain,
  recordFailedCharge,
  takeUnswept,
} from '../../packages/server/src/checkout/index.ts';
import { recordEvents } from '../../packages/server/src/events/index.ts';
import { encodeId, newId } from '../../packages/server/src/platform/ids.ts';
import { transact } from '../../packages/server/src/platform/transact.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { newsOf } from './requests.ts';
import { Shop } from './shop.ts';

const TWENTY = 20_000_000;
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

/** What keeps invoices, reduced to its calls: a charge of 20 USD in USDT. */
async function billing(shop: Shop) {
  const { merchantId, storeId } = shop.merchant;
  const who = { merchantId, mode: 'sandbox', clockOffset: 0 } as const;
  const recipient = await shop.chain().hotAddress();
  const { address: wallet } = await shop.chain().depositAddress({ index: 1_000_000 });
  const quote = await quoteCharge(shop.deps, who, { amount: 2_000n, currency: 'USD' }, 'USDT');
  if (quote === undefined) throw new Error('the sandbox has rates');
  const charge = (): NewCharge & { quote: typeof quote } => ({
    merchantId,
    storeId,
    invoiceId: newId(),
    customer: 'payer-1',
    amount: 2_000n,
    currency: 'USD',
    method: { currency: 'USDT', network: 'erc20', wallet, recipient },
    quote,
  });
  const context = () => checkoutContext(shop.deps, who);
  const settle = async (paymentId: string, isNeeded = true) => {
    const now = await context();
    const txId = await shop.send(recipient, { from: wallet, amount: BigInt(TWENTY) });
    await shop.chain().mine(3);
    const book = () =>
      transact(shop.deps.db, async (tx) => {
        const change = await completeCharge(tx, { merchantId, paymentId }, { txId, isNeeded }, now);
        await recordEvents(tx, change === undefined ? [] : [change]);
        return change?.type;
      });
    return { txId, types: [await book(), await book()] as (RecordedEventType | undefined)[] };
  };
  return {
    wallet,
    recipient,
    charge,
    settle,
    start: async (own = charge()) => {
      const now = await context();
      return await transact(shop.deps.db, (tx) => insertCharge(tx, own, now));
    },
    fail: async (paymentId: string, code: string) => {
      const now = await context();
      return await transact(shop.deps.db, async (tx) => {
        const change = await failCharge(tx, { merchantId, paymentId }, code, now);
        await recordEvents(tx, change === undefined ? [] : [change]);
        return change?.type;
      });
    },
    refuse: async (own: NewCharge, code: string) => {
      const now = await context();
      return await transact(shop.deps.db, async (tx) => {
        const { paymentId, change } = await recordFailedCharge(tx, own, code, now);
        await recordEvents(tx, [change]);
        return paymentId;
      });
    },
    read: (paymentId: string) => shop.api.payment(encodeId('payment', paymentId)),
  };
}

test('a charge is shown from its order on, credited once, and shows the transaction that pulled it', async () => {
  const shop = await Shop.open(service);
  const { start, read, settle, wallet, recipient } = await billing(shop);
  const paymentId = await start();
  expect(await read(paymentId)).toMatchObject({
    status: 'processing',
    checkout_session: null,
    invoice: expect.stringMatching(/^in_/),
    customer: 'payer-1',
    amount: 2_000,
    currency: 'USD',
    pay_currency: 'USDT',
    network: 'erc20',
    pay_amount: TWENTY,
    exchange_rate: '1',
    address: null,
    amount_received: 0,
    transactions: [],
    expires_at: null,
  });
  const { txId, types } = await settle(paymentId);
  expect(types).toEqual(['payment.completed', undefined]);
  expect(await read(paymentId)).toMatchObject({
    status: 'completed',
    amount_received: TWENTY,
    exceptions: [],
    decline_code: null,
    completed_at: shop.now,
    transactions: [
      {
        tx_id: txId,
        index: 0,
        currency: 'USDT',
        network: 'erc20',
        address: recipient,
        from: wallet,
        amount: TWENTY,
        kind: 'counted',
        status: 'final',
        confirmations: 3,
      },
    ],
  });
  expect(await shop.balance()).toEqual({ available: TWENTY, held: 0, seized: 0 });
  expect(await newsOf(shop.merchant, encodeId('payment', paymentId))).toEqual(['payment.completed']);
});

test('a charge that fails says why, once; one that was never sent is made failed', async () => {
  const shop = await Shop.open(service);
  const { start, fail, refuse, charge, read } = await billing(shop);
  const sent = await start();
  expect([await fail(sent, 'insufficient_balance'), await fail(sent, 'cap_exceeded')]).toEqual([
    'payment.failed',
    undefined,
  ]);
  const unsent = await refuse({ ...charge(), quote: null }, 'mandate_revoked');
  expect(await read(sent)).toMatchObject({ status: 'failed', decline_code: 'insufficient_balance' });
  expect(await read(unsent)).toMatchObject({
    status: 'failed',
    decline_code: 'mandate_revoked',
    pay_currency: null,
  });
  for (const paymentId of [sent, unsent]) {
    const id = encodeId('payment', paymentId);
    expect(await newsOf(shop.merchant, id)).toEqual(['payment.failed']);
    expect((await shop.api.post(`/payment/${id}/accept`)).status).toBe(400);
    const body = { refund_id: `r-${id}`, payment_id: id };
    expect((await shop.api.post('/refunds/create', body)).json).toMatchObject({
      error: { param: 'payment_id' },
    });
  }
  expect(await shop.balance()).toEqual({ available: 0, held: 0, seized: 0 });
});

test('its refund needs no address: the wallet has proved itself, and the network and token are the charge’s', async () => {
  const shop = await Shop.open(service);
  const { start, settle, wallet } = await billing(shop);
  const paymentId = await start();
  await settle(paymentId);
  const refund = await shop.merchant.sdk.refunds.create({
    refund_id: 'r-1',
    payment_id: encodeId('payment', paymentId),
    amount: 5_000_000n,
    currency: 'USDT',
  });
  expect(refund).toMatchObject({ network: 'erc20', currency: 'USDT', address: wallet, claim_url: null });
  expect(await shop.balance()).toEqual({ available: TWENTY - 5_000_000, held: 0, seized: 0 });
});

test('a charge for an invoice that is paid by then lies in held: refundable, never accepted', async () => {
  const shop = await Shop.open(service);
  const { start, settle, read } = await billing(shop);
  const paymentId = await start();
  const { types } = await settle(paymentId, false);
  expect(types).toEqual(['payment.updated', undefined]);
  expect(await read(paymentId)).toMatchObject({ status: 'expired', amount_received: TWENTY });
  expect(await shop.balance()).toEqual({ available: 0, held: TWENTY, seized: 0 });
  const id = encodeId('payment', paymentId);
  expect((await shop.api.post(`/payment/${id}/accept`)).status).toBe(400);
  const refund = await shop.merchant.sdk.refunds.create({ refund_id: 'r-2', payment_id: id });
  expect(refund).toMatchObject({ amount: TWENTY });
  expect(await shop.balance()).toEqual({ available: 0, held: 0, seized: 0 });
});

test('charged coins lie where they are spent from: no sweep takes them, and no look at deposits', async () => {
  const shop = await Shop.open(service);
  const { start, settle } = await billing(shop);
  await settle(await start());
  const place = { merchantId: shop.merchant.merchantId, network: 'erc20' } as const;
  const swept = await transact(shop.deps.db, (tx) => takeUnswept(tx, place, { minimum: 0n, limit: 50 }));
  expect(swept).toEqual([]);
  const due = await shop.due();
  await shop.send(due.address);
  await shop.settle();
  const upTo = (await shop.chain().head()).finalHeight;
  const who = { ...place, mode: 'sandbox', clockOffset: 0 } as const;
  expect(await readAgain(shop.deps, who, { network: 'erc20', above: 0n, upTo })).toEqual({
    known: 1,
    missed: 0,
  });
});
