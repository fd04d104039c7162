import { randomUUID } from 'node:crypto';
import type { Invoice, Subscription } from '@florin/contract/schemas';
import { openChains } from '../../packages/server/src/chains/index.ts';
import { checkout } from '../checkout/requests.ts';
import { ok } from '../payouts/requests.ts';
import type { TestMerchant, TestService } from '../service.ts';

export const HOUR = 3_600;
export const DAY = 86_400;
export type Interval = 'day' | 'week' | 'month' | 'year';

export const item = (unitAmount: number, interval: Interval = 'month', currency = 'USD') => ({
  price_data: { currency, product: 'Gold', unit_amount: unitAmount, recurring: { interval } },
});

/** 20.00 USD a month for a customer of that name. */
export const order = (more: object = {}) => ({
  customer: 'customer-1',
  currency: 'USD',
  items: [item(2_000)],
  ...more,
});

/** Calls of one merchant around subscriptions, each expected to be answered 200. */
export function billing(service: TestService, merchant: TestMerchant) {
  const calls = checkout(service, merchant);
  const create = (body: object, key: string = randomUUID()) =>
    calls.post('/subscriptions/create', body, { 'idempotency-key': key });
  const read = (id: string) => ok<Subscription>(calls.call(`/subscriptions/${id}`));
  const invoices = async (id: string) => {
    const { data } = await ok<{ data: Invoice[] }>(calls.call(`/invoices?subscription=${id}&limit=100`));
    return data.reverse();
  };
  return {
    ...calls,
    merchant,
    create,
    read,
    invoices,
    make: (more: object = {}) => ok<Subscription>(create(order(more))),
    latest: async (id: string) => {
      const { latest_invoice: latest } = await read(id);
      return await ok<Invoice>(calls.call(`/invoices/${latest}`));
    },
    cancel: (id: string, body: object = {}) =>
      ok<Subscription>(calls.post(`/subscriptions/${id}/cancel`, body)),
    update: (id: string, body: object) => ok<Subscription>(calls.post(`/subscriptions/${id}/update`, body)),
    preview: (id: string, body: object) =>
      ok<Invoice>(calls.post(`/subscriptions/${id}/update/preview`, body)),
    payInvoice: (id: string) => calls.post(`/invoices/${id}/pay`),
    authorize: (id: string, body: object = {}) =>
      ok<Subscription>(
        calls.post(`/test_helpers/subscriptions/${id}/authorize`, {
          currency: 'USDT',
          network: 'erc20',
          ...body,
        }),
      ),
    advance: async (seconds: number) => {
      for (let left = seconds; left > 0; ) {
        const before = await ok<{ now: number }>(calls.call('/test_helpers/clock'));
        const after = await ok<{ now: number; done: boolean }>(
          calls.post('/test_helpers/clock/advance', { seconds: left }),
        );
        if (after.done) return after.now;
        left -= after.now - before.now;
      }
      return 0;
    },
    eventTypes: () => eventTypesOf(merchant),
    wallet: () => payerOf(service, merchant),
  };
}
export type Billing = ReturnType<typeof billing>;

/** Types of all events of the merchant's subscriptions, invoices and payments, oldest first. */
async function eventTypesOf(merchant: TestMerchant): Promise<string[]> {
  const types: string[] = [];
  for await (const { type } of merchant.sdk.events.list({})) types.push(type);
  return types
    .reverse()
    .filter((type) => !type.endsWith('payment.updated') && type !== 'payment_method.updated');
}

/** What the payer of the newest mandate does with its wallet on the chain. */
async function payerOf({ app }: TestService, { merchantId }: TestMerchant) {
  const method = await app.db
    .selectFrom('payment_method')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .orderBy('created_at', 'desc')
    .orderBy('payment_method_id', 'desc')
    .executeTakeFirstOrThrow();
  const merchantNow = async () => {
    const row = await app.db
      .selectFrom('merchant')
      .select('clock_offset')
      .where('merchant_id', '=', merchantId)
      .executeTakeFirstOrThrow();
    return app.clock.nowSeconds() + Number(row.clock_offset);
  };
  const chain = openChains({ simulatedDb: app.simulatedDb, merchantNow }).sandbox(merchantId, method.network);
  const wallet = { owner: method.wallet_address, asset: method.currency };
  return {
    method,
    hold: (balance: bigint) => chain.hold(wallet, balance, { final: true }),
    revoke: () =>
      chain.revoke(
        {
          payer: method.wallet_address,
          asset: method.currency,
          mandateId: method.mandate_id,
        } as Parameters<typeof chain.revoke>[0],
        { final: true },
      ),
    allow: (amount: bigint) => chain.approve(wallet, amount, { final: true }),
  };
}
