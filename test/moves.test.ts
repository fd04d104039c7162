import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { InvoiceFacts } from '../packages/server/src/invoices/decide/index.ts';
import { paidInvoice } from '../packages/server/src/invoices/decide/states.ts';
import {
  type PaymentMethodRow,
  updatePaymentMethod,
} from '../packages/server/src/payment-methods/queries.ts';
import { writeEnds } from '../packages/server/src/payments/charges/charge-queries.ts';
import {
  lockPayment,
  updatePayment,
  updatePayments,
  upsertTransactions,
} from '../packages/server/src/payments/reads/queries.ts';
import {
  inputOf,
  lockBatch,
  moveItems,
  readItems,
  replaceItem,
  updateBatch,
  updateItem,
  writeFindings,
  writeSettled,
} from '../packages/server/src/payouts/queries.ts';
import type { Tx } from '../packages/server/src/platform/db/db.ts';
import { newId } from '../packages/server/src/platform/db/ids/ids.ts';
import { transact } from '../packages/server/src/platform/db/transact.ts';
import { type RefundRow, updateRefund } from '../packages/server/src/refunds/queries.ts';
import { writeFacts } from '../packages/server/src/subscriptions/billing-queries.ts';
import type { SubscriptionFacts } from '../packages/server/src/subscriptions/decide/facts.ts';
import type { SubscriptionRow } from '../packages/server/src/subscriptions/queries.ts';
import { decodeId } from '../packages/server/src/tenancy/resource-ids.ts';
import {
  closeAttempts,
  insertAttempts,
  insertTransfers,
  markSent,
  readOpenAttempts,
  readTransfers,
  writeOutcomes,
} from '../packages/server/src/transfers/queries.ts';
import { moveDeliveries } from '../packages/server/src/webhooks/delivery-queries.ts';
import { insertDeliveries, recordAttempts } from '../packages/server/src/webhooks/queries.ts';
import { caller, draft, ok } from './payouts/requests.ts';
import { startService, type TestMerchant, type TestService } from './service.ts';
import { addEndpoint, deliveriesOf } from './webhooks/endpoints.ts';

// Whatever has decided it: what writes a state refuses a move that the states of the resource do not allow.

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant();
});
afterAll(() => service.stop());

const inTransaction = <T>(work: (tx: Tx) => Promise<T>) => transact(service.app.db, work);
const broken = (move: string) => `invariant broken: ${move}`;

test('a canceled batch and its items go nowhere', async () => {
  const calls = caller(service, merchant);
  const { batch_id } = await draft(calls, ['1.00', '2.00']);
  await ok(calls.cancel(batch_id));
  const batchId = decodeId('payoutBatch', batch_id) ?? '';
  const onBatch = (
    work: (
      tx: Tx,
      batch: Awaited<ReturnType<typeof lockBatch>>,
      items: Awaited<ReturnType<typeof readItems>>,
    ) => Promise<unknown>,
  ) =>
    inTransaction(async (tx) => {
      const batch = await lockBatch(tx, merchant.merchantId, batchId);
      return await work(tx, batch, await readItems(tx, merchant.merchantId, batchId));
    });
  await expect(onBatch((tx, batch) => updateBatch(tx, batch, { status: 'pending' }))).rejects.toThrow(
    broken('a payout batch goes from canceled to pending'),
  );
  await expect(onBatch((tx, batch) => moveItems(tx, batch, 'processing'))).rejects.toThrow(
    broken('every item of the batch may become processing'),
  );
  await expect(
    onBatch(async (tx, _batch, [item]) => item && (await updateItem(tx, item, { status: 'succeeded' }))),
  ).rejects.toThrow(broken('a payout item goes from canceled to succeeded'));
  const outcome = {
    status: 'succeeded',
    txId: 'tx',
    failureCode: null,
    failureMessage: null,
    completedAt: 1,
  } as const;
  await expect(
    onBatch((tx, batch, items) =>
      writeSettled(
        tx,
        batch,
        items.map(({ index }) => ({ index, ...outcome })),
      ),
    ),
  ).rejects.toThrow(broken('only items that are processing are settled'));
  const checkedOf = (items: Awaited<ReturnType<typeof readItems>>) =>
    items.map((item) => ({
      index: item.index,
      input: inputOf(item),
      canonical: item.address,
      amount: item.amount,
      fee: 0n,
      errors: [],
    }));
  await expect(onBatch((tx, batch, items) => writeFindings(tx, batch, checkedOf(items)))).rejects.toThrow(
    broken('only items of a batch that was not submitted are checked'),
  );
  await expect(
    onBatch(async (tx, batch, items) => {
      for (const checked of checkedOf(items)) await replaceItem(tx, batch, checked);
    }),
  ).rejects.toThrow(broken('the item may become valid'));
  expect((await calls.items(batch_id)).map(({ status }) => status)).toEqual(['canceled', 'canceled']);
});

test('a canceled payment does not wait for money again', async () => {
  const calls = caller(service, merchant);
  const session = await ok<{ id: string; payment_id: string }>(
    calls.post('/checkout/sessions/create', { amount: 100, currency: 'USD' }),
  );
  await ok(calls.post(`/checkout/sessions/${session.id}/cancel`, {}));
  const paymentId = decodeId('payment', session.payment_id) ?? '';
  await expect(
    inTransaction(async (tx) => {
      const { payment } = await lockPayment(tx, merchant.merchantId, paymentId);
      return await updatePayment(tx, payment, { status: 'processing' });
    }),
  ).rejects.toThrow(broken('a payment goes from cancelled to processing'));
  const statusOf = async () =>
    (await inTransaction((tx) => lockPayment(tx, merchant.merchantId, paymentId))).payment.status;
  await expect(
    inTransaction(async (tx) => {
      const { payment: before } = await lockPayment(tx, merchant.merchantId, paymentId);
      const change = { ...before, status: 'pending' } as const;
      await updatePayments(tx, merchant.merchantId, [{ before, change }]);
    }),
  ).rejects.toThrow(broken('a payment goes from cancelled to pending'));
  await expect(
    inTransaction(async (tx) => {
      const before = await lockPayment(tx, merchant.merchantId, paymentId);
      await writeEnds(tx, [{ before, end: { status: 'frozen' } }]);
    }),
  ).rejects.toThrow(broken('a payment goes from cancelled to frozen'));
  expect(await statusOf()).toBe('cancelled');
});

test('a final deposit is not seen again, nor gone', async () => {
  const calls = caller(service, merchant);
  const session = await ok<{ payment_id: string }>(
    calls.post('/checkout/sessions/create', { amount: 100, currency: 'USD' }),
  );
  const deposit = {
    network: 'erc20',
    tx_id: '0xfinal',
    index: 0,
    payment_id: decodeId('payment', session.payment_id) ?? '',
    currency: 'USDT',
    address: '0xto',
    sender: '0xfrom',
    amount: 1n,
    kind: 'counted',
    decision: null,
    held_amount: 0n,
    height: 1n,
    required_confirmations: 1,
    is_early: false,
    seen_at: 1,
  } as const;
  const write = (tx: Tx, change: { status: 'seen' | 'final' | 'gone'; final_at: number | null }) =>
    upsertTransactions(tx, merchant.merchantId, [{ ...deposit, ...change }]);
  for (const status of ['seen', 'gone'] as const) {
    await expect(
      inTransaction(async (tx) => {
        await write(tx, { status: 'seen', final_at: null });
        await write(tx, { status: 'gone', final_at: null });
        await write(tx, { status: 'final', final_at: 1 });
        await write(tx, { status, final_at: null });
      }),
    ).rejects.toThrow(broken('a final deposit stays final'));
  }
});

const orderOf = (groupId: string) => ({
  ownerType: 'test_owner',
  ownerId: newId(),
  groupId,
  place: 0,
  network: 'erc20' as const,
  currency: 'USDT' as const,
  address: '0xto',
  amount: 1n,
  memo: null,
});

/** One queued transfer in a group of its own. */
async function queueTransfer(tx: Tx) {
  const groupId = newId();
  await insertTransfers(tx, merchant.merchantId, [orderOf(groupId)], 1);
  const read = async () => (await readTransfers(tx, merchant.merchantId, [groupId])).map((t) => t.status);
  const [transfer] = await readTransfers(tx, merchant.merchantId, [groupId]);
  if (transfer === undefined) throw new Error('the transfer was not written');
  return { groupId, transfer, read };
}

let attempts = 0n;

async function reserve(tx: Tx, transfer: Awaited<ReturnType<typeof queueTransfer>>['transfer']) {
  const number = attempts++;
  const wallet = { sender: '0xhot', sequence: number, ordinal: number, previous: null };
  await insertAttempts(tx, [{ attemptId: newId(), ...wallet, transfers: [transfer] }], 1);
}

test('a failed transfer is neither paid nor sent', async () => {
  await inTransaction(async (tx) => {
    const { transfer, read } = await queueTransfer(tx);
    const { merchant_id: merchantId, transfer_id: transferId } = transfer;
    const failed = { to: 'failed', code: 'transfer_failed', message: 'planted', txId: null } as const;
    await writeOutcomes(tx, merchantId, [{ transferId, ...failed }], 1);
    await writeOutcomes(tx, merchantId, [{ transferId, to: 'succeeded', txId: '0xtx' }], 1);
    await writeOutcomes(tx, merchantId, [{ transferId, to: 'queued', alone: false, txId: null }], 1);
    await reserve(tx, transfer);
    expect(await read()).toEqual(['failed']);
  });
});

test('a transfer that an attempt carries gets no second attempt', async () => {
  await inTransaction(async (tx) => {
    const { transfer, groupId } = await queueTransfer(tx);
    await reserve(tx, transfer);
    const [first] = await readTransfers(tx, merchant.merchantId, [groupId]);
    await reserve(tx, transfer);
    const [second] = await readTransfers(tx, merchant.merchantId, [groupId]);
    expect(first?.status).toBe('sending');
    expect(second?.attempt_id).toBe(first?.attempt_id);
  });
});

test('an attempt without stored bytes is neither sent nor paid', async () => {
  await inTransaction(async (tx) => {
    const { transfer, groupId, read } = await queueTransfer(tx);
    await reserve(tx, transfer);
    const live = () => readOpenAttempts(tx, merchant.merchantId, [groupId]);
    const [attempt] = await live();
    if (attempt === undefined) throw new Error('the attempt was not written');
    await markSent(tx, merchant.merchantId, [attempt.attempt_id], 1);
    const transfers = [{ transferId: transfer.transfer_id, to: 'succeeded' as const }];
    const none = { detail: null, height: null, fee: null, signed: null, paidBy: new Map() };
    const outcome = { attempt, verdict: { attempt: 'succeeded' as const, transfers }, ...none };
    expect(await closeAttempts(tx, merchant.merchantId, [outcome], 1)).toEqual([]);
    expect((await live()).map(({ status }) => status)).toEqual(['reserved']);
    expect(await read()).toEqual(['sending']);
  });
});

test('a delivered delivery is not paused, and no late attempt makes it pending', async () => {
  const { endpointId } = await addEndpoint(service, merchant);
  const eventId = newId();
  const endpoint = { merchant_id: merchant.merchantId, endpoint_id: endpointId };
  const attempt = { endpointId, eventId, seriesBefore: 0, attempt: '{}' };
  const fresh = {
    deliveryId: newId(),
    endpointId,
    eventId,
    eventType: 'payout_batch.updated',
    number: 1n,
    status: 'pending',
    dueAt: 1,
    eventCreatedAt: 1,
  } as const;
  await inTransaction((tx) => insertDeliveries(tx, { ...merchant, clockOffset: 0 }, [fresh]));
  const next = { seriesAttempts: 1, dueAt: 1 };
  await recordAttempts(service.app.db, merchant.merchantId, [
    { ...attempt, next: { ...next, status: 'delivered' } },
  ]);
  await recordAttempts(service.app.db, merchant.merchantId, [
    { ...attempt, seriesBefore: 1, next: { ...next, status: 'pending' } },
  ]);
  await expect(
    inTransaction((tx) => moveDeliveries(tx, endpoint, [eventId], { status: 'paused' })),
  ).rejects.toThrow(broken('every one of the deliveries may become paused'));
  const found = await deliveriesOf(service, merchant.merchantId);
  expect(found.find(({ event_id }) => event_id === eventId)?.status).toBe('delivered');
});

// These are refused before anything is written, so no row is needed.
const key = { merchant_id: randomUUID() };
test('a refund that is over is not sent, a revoked payment method is not active, a void invoice is not paid', async () => {
  const refund = { ...key, refund_id: 'r', status: 'canceled' } as Pick<
    RefundRow,
    'merchant_id' | 'refund_id' | 'status'
  >;
  await expect(inTransaction((tx) => updateRefund(tx, refund, { status: 'processing' }))).rejects.toThrow(
    broken('a refund goes from canceled to processing'),
  );
  const method = { ...key, payment_method_id: randomUUID(), status: 'revoked' } as Pick<
    PaymentMethodRow,
    'merchant_id' | 'payment_method_id' | 'status'
  >;
  await expect(inTransaction((tx) => updatePaymentMethod(tx, method, { status: 'active' }))).rejects.toThrow(
    broken('a payment method goes from revoked to active'),
  );
  expect(() => paidInvoice({ status: 'void' } as InvoiceFacts, 1)).toThrow(
    broken('an invoice goes from void to paid'),
  );
});

test('a canceled subscription is not active again', async () => {
  const before = { ...key, subscription_id: randomUUID(), status: 'canceled' } as SubscriptionRow;
  const facts = { status: 'active' } as SubscriptionFacts;
  await expect(inTransaction((tx) => writeFacts(tx, [{ before, facts }]))).rejects.toThrow(
    broken('a subscription goes from canceled to active'),
  );
});
