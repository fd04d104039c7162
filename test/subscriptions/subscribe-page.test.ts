import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { invoicePages } from '../../packages/server/src/checkout/index.ts';
import { endCharges, insertCharges } from '../../packages/server/src/payments/charges/charges.ts';
import { paymentContext } from '../../packages/server/src/payments/deps.ts';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import { subscribeToken } from '../../packages/server/src/subscriptions/page-token.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { addInvoice, addSubscription } from './rows.ts';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

type Given = NonNullable<Parameters<typeof addSubscription>[2]>;

/** A subscription of rows alone, with what its page is asked for. */
async function subscription(given: Given = {}, of = merchant) {
  const secret = randomBytes(16).toString('hex');
  const { row, id } = await addSubscription(service, of, {
    status: 'incomplete',
    page_token: secret,
    success_url: 'https://shop.example/thanks',
    cancel_url: 'https://shop.example/cart',
    ...given,
  });
  const token = subscribeToken(row);
  const read = async (query = '') => {
    const answer = await fetch(`${service.baseUrl}/subscribe/${token}${query}`);
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  const set = (change: Partial<Given>) =>
    service.app.db
      .updateTable('subscription')
      .set(change as object)
      .where('merchant_id', '=', row.merchant_id)
      .where('subscription_id', '=', row.subscription_id)
      .execute();
  return { row, id, token, read, set };
}

const contextOf = ({ merchantId }: TestMerchant) =>
  paymentContext(service.app, { merchantId, mode: 'sandbox', clockOffset: 0 });

/** Its first invoice, with a page. */
async function firstInvoice(
  row: Awaited<ReturnType<typeof subscription>>['row'],
  amount = row.amount as bigint,
) {
  const context = await contextOf(merchant);
  const invoiceId = newId();
  const page = await transact(service.app.db, (tx) =>
    invoicePages.openInvoicePage(
      tx,
      {
        merchantId: row.merchant_id,
        storeId: row.store_id,
        invoiceId,
        customer: row.customer,
        customerEmail: null,
        amount,
        currency: row.currency,
        description: null,
        periodStart: 1_767_225_600,
        periodEnd: 1_768_003_200,
        successUrl: null,
        cancelUrl: null,
      },
      context,
    ),
  );
  const { row: invoice } = await addInvoice(service, row, {
    invoice_id: invoiceId,
    session_id: page.sessionId,
    amount_due: amount,
    billing_reason: 'subscription_create',
    period_start: 1_767_225_600,
    period_end: 1_768_003_200,
  });
  const setInvoice = (change: object) =>
    service.app.db
      .updateTable('invoice')
      .set(change)
      .where('merchant_id', '=', row.merchant_id)
      .where('invoice_id', '=', invoiceId)
      .execute();
  return { ...page, invoice, setInvoice };
}

test('it shows the plan, its price and period, and two ways to pay, without script', async () => {
  const { row, read, set, token } = await subscription({ description: 'With <b>everything</b>' });
  const { invoice } = await firstInvoice(row);
  await set({ latest_invoice_id: invoice.invoice_id });
  const page = await read();
  expect(page.status).toBe(200);
  expect(page.text).toContain('$39.98');
  expect(page.text).toContain('each month');
  expect(page.text).toContain('Gold');
  expect(page.text).toContain('With &lt;b>everything&lt;/b>');
  expect(page.text.match(/type="radio"/g)).toHaveLength(6);
  expect(page.text).toContain(`action="${token}/wallet?lang=en"`);
  expect(page.text).toContain('up to $79.96 a month');
  expect(page.text).not.toMatch(/<script|\son\w+=|style=/i);
  expect(page.headers.get('content-security-policy')).toMatch(
    /default-src 'none';.*form-action 'self'.*frame-ancestors 'none'/,
  );
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  expect(page.headers.get('refresh')).toBeNull();
  const [, once = ''] = /href="(\.\.\/checkout\/[^"]+)"/.exec(page.text) ?? [];
  const session = await fetch(new URL(once.replace('&amp;', '&'), `${service.baseUrl}/subscribe/x`));
  expect(session.status).toBe(200);
  expect(await session.text()).toContain('Pay $39.98');
});

test('part of a period, a trial, and nothing to pay: each is said', async () => {
  const part = await subscription();
  const { invoice } = await firstInvoice(part.row, 1_000n);
  await part.set({ latest_invoice_id: invoice.invoice_id });
  expect((await part.read()).text).toMatch(/Due now: \$10\.00 for Jan 1\u2009–\u20099, 2026/);
  const trial = await subscription({ trial_end: 1_790_000_000 });
  const text = (await trial.read()).text;
  expect(text).toContain('Free until Sep 21, 2026');
  expect(text).not.toContain('/checkout/');
});

test('what is under way, failed, done, overdue and over', async () => {
  const { row, read, set, token } = await subscription();
  const { invoice, setInvoice } = await firstInvoice(row);
  await set({ latest_invoice_id: invoice.invoice_id });
  const context = await contextOf(merchant);
  const method = { currency: 'USDT', network: 'erc20', wallet: '0x1', recipient: '0x2' } as const;
  const charge = {
    merchantId: row.merchant_id,
    storeId: row.store_id,
    invoiceId: invoice.invoice_id as string,
    customer: row.customer,
    amount: 3_998n,
    currency: 'USD',
    method,
    quote: { exchange_rate: '1', pay_amount: 39_980_000n },
    declineCode: null,
  };
  const [made] = await transact(service.app.db, (tx) => insertCharges(tx, [{ charge, context }]));
  const paymentId = made?.paymentId ?? '';
  await set({ payment_method_id: newId() });
  await setInvoice({ live_attempt: paymentId, charge_payment_id: paymentId, payment_status: 'processing' });
  const waiting = await read();
  expect(waiting.text).toContain('Your payment is on its way');
  expect(waiting.text).not.toContain('type="radio"');
  expect(waiting.headers.get('refresh')).toBe('5');
  const end = { paymentId, outcome: { declineCode: 'insufficient_balance' }, context };
  await transact(service.app.db, (tx) => endCharges(tx, row.merchant_id, [end]));
  await setInvoice({ live_attempt: null, payment_status: 'failed' });
  const failed = await read();
  expect(failed.text).toContain('too little money in the wallet');
  expect(failed.text).toContain('type="radio"');
  await set({ status: 'active', current_period_start: 1_790_000_000, current_period_end: 1_792_592_000 });
  const done = await read('?lang=es');
  expect(done.text).toContain('Su suscripción ha comenzado');
  expect(done.text).toContain('href="https://shop.example/thanks"');
  await set({ cancel_at: 1_792_592_000 });
  expect((await read()).text).toContain('Ends on');
  await set({ status: 'past_due', cancel_at: null });
  const overdue = (await read()).text;
  expect(overdue).toContain('Payment overdue');
  expect(overdue).not.toContain('has begun');
  expect(overdue).toContain('too little money in the wallet');
  expect(overdue).toContain('Pay $39.98 now');
  expect(overdue).toContain(`action="${token}/wallet?lang=en"`);
  await set({ status: 'incomplete_expired' });
  expect((await read()).text).toContain('This page has expired');
  await set({ status: 'canceled', canceled_at: 1_790_000_001 });
  const ended = await read();
  expect(ended.text).toContain('This subscription has ended');
  expect(ended.text).toContain('href="https://shop.example/cart"');
});

test('a live merchant’s page offers no wallet of ours', async () => {
  const live = await service.createMerchant({ mode: 'live' });
  const { read } = await subscription({}, live);
  const { text } = await read();
  expect(text).toContain('No wallet can be connected');
  expect(text).not.toContain('/wallet');
});

test('C1: a token of another subscription, merchant or secret opens nothing, and all get the same page', async () => {
  const [one, other] = [await subscription(), await subscription()];
  const forged = subscribeToken({ ...one.row, page_token: other.row.page_token });
  const texts = await Promise.all(
    [forged, one.token.slice(0, -1), `${one.token}1`, 'x', 'A'.repeat(5_000)].map(async (token) => {
      const answer = await fetch(`${service.baseUrl}/subscribe/${token}`);
      return [answer.status, await answer.text()] as const;
    }),
  );
  expect(new Set(texts.map(([status]) => status))).toEqual(new Set([404]));
  expect(new Set(texts.map(([, text]) => text)).size).toBe(1);
});

test('too many requests get a page that says so, without effect on another page', async () => {
  const [one, other] = [await subscription(), await subscription()];
  const answers = await Promise.all(Array.from({ length: 300 }, () => one.read()));
  const held = answers.filter(({ status }) => status === 429);
  expect(held.length).toBeGreaterThan(5);
  expect(held[0]?.text).toContain('One moment, please');
  expect(held[0]?.headers.get('retry-after')).toBe('60');
  expect((await other.read()).status).toBe(200);
});
