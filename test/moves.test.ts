import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { InvoiceFacts } from '../packages/server/src/invoices/index.ts';
import { paidInvoice } from '../packages/server/src/invoices/states.ts';
import {
  type PaymentMethodRow,
  updatePaymentMethod,
} from '../packages/server/src/payment-methods/queries.ts';
import { lockPayment, updatePayment } from '../packages/server/src/payments/queries.ts';
import {
  lockBatch,
  moveItems,
  readItems,
  updateBatch,
  updateItem,
  writeSettled,
} from '../packages/server/src/payouts/queries.ts';
import type { Tx } from '../packages/server/src/platform/db/db.ts';
import { transact } from '../packages/server/src/platform/db/transact.ts';
import { type RefundRow, updateRefund } from '../packages/server/src/refunds/queries.ts';
import { decodeId } from '../packages/server/src/tenancy/resource-ids.ts';
import { caller, draft, ok } from './payouts/requests.ts';
import { startService, type TestMerchant, type TestService } from './service.ts';

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
