import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { florinOf } from '../florin-command.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { addInvoice, addPaymentMethod, addSubscription } from './rows.ts';

// Each command is a process of its own.

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

const run = (...words: string[]) => florinOf(service, merchant).run(...words);
const ask = <T>(...words: string[]) => florinOf(service, merchant).ask<T>(...words);

test('subscriptions are listed by customer and status, and shown as people write them', async () => {
  const { id } = await addSubscription(service, merchant, {
    current_period_start: 1_790_000_000,
    current_period_end: 1_792_592_000,
  });
  await addSubscription(service, merchant, { customer: 'another' });
  expect(await ask('subscriptions', 'list')).toHaveLength(2);
  const words = ['subscriptions', 'list', '--customer', 'customer-1', '--status', 'active'];
  expect(await ask(...words)).toMatchObject([{ id, object: 'subscription' }]);
  const { stdout: table } = await run(...words);
  expect(table).toMatch(/^ID\s+STATUS\s+CUSTOMER\s+ITEMS\s+PERIOD END\s+CREATED\n/);
  expect(table).toContain('2 × Gold at $19.99 a month');
  const { stdout } = await run('subscriptions', 'show', id);
  expect(stdout).toMatch(/period end +2026-10-21T/);
  expect(await ask('subscriptions', 'show', id)).toEqual(await merchant.sdk.subscriptions.retrieve(id));
  const wrong = await run('subscriptions', 'list', '--status', 'open');
  expect([wrong.code, wrong.stdout]).toEqual([2, '']);
  const unknown = await run('subscriptions', 'show', 'sub_nothing', '--json');
  expect([unknown.code, JSON.parse(unknown.stderr).error.code]).toEqual([1, 'resource_not_found']);
});

test('invoices are listed page by page and shown', async () => {
  const { row, id: subscription } = await addSubscription(service, merchant, { customer: 'invoiced' });
  const made: string[] = [];
  for (let n = 1; n <= 3; n++) made.unshift((await addInvoice(service, row, { period_start: n })).id);
  const words = ['invoices', 'list', '--subscription', subscription, '--limit', '2'];
  const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);
  expect(idsOf(await ask(...words))).toEqual(made.slice(0, 2));
  expect(idsOf(await ask(...words, '--after', made[1] ?? ''))).toEqual(made.slice(2));
  expect(idsOf(await ask('invoices', 'list', '--customer', 'invoiced', '--status', 'open'))).toEqual(made);
  const { stdout } = await run('invoices', 'show', made[0] ?? '');
  expect(stdout).toMatch(/due +\$39\.98\n/);
  expect(stdout).toMatch(/payment status +pending\n/);
});

test('payment methods are listed, shown and revoked', async () => {
  const { row } = await addSubscription(service, merchant, { customer: 'with-wallet' });
  const { id } = await addPaymentMethod(service, row);
  const customer = encodeId('customer', row.customer_id);
  for (const name of ['with-wallet', customer])
    expect(await ask('payment-methods', 'list', '--customer', name)).toMatchObject([{ id, customer }]);
  const { stdout } = await run('payment-methods', 'show', id);
  expect(stdout).toMatch(/network +trc20\n/);
  expect(await ask('payment-methods', 'revoke', id)).toMatchObject({ id, status: 'revoked' });
});

test('a subscription is created, changed and canceled', async () => {
  const worker = await service.startWorker();
  const who = '--customer by-command --every month --product Gold --quantity 2'.split(' ');
  const more = ['--description', 'Membership', '--idempotency-key', 'cmd 1'];
  const made = await ask<{ id: string; checkout_url: string; latest_invoice: string }>(
    'subscriptions',
    'create',
    '19.99',
    'usd',
    ...who,
    ...more,
  );
  expect(made).toMatchObject({
    status: 'incomplete',
    customer: 'by-command',
    currency: 'USD',
    description: 'Membership',
    items: [{ price_data: { unit_amount: 1_999, product: 'Gold' }, quantity: 2 }],
    checkout_url: expect.stringMatching(/^http/),
  });
  // A first charge that its method does not exist for.
  const early = await run('invoices', 'pay', made.latest_invoice, '--json');
  expect([early.code, JSON.parse(early.stderr).error.code]).toEqual([1, 'invalid_request_error']);
  const option = { currency: 'USDT', network: 'trc20' } as const;
  await merchant.sdk.testHelpers.subscriptions.authorize(made.id, option);
  expect(await ask('invoices', 'show', made.latest_invoice)).toMatchObject({ status: 'paid' });

  const { stdout: preview } = await run('subscriptions', 'update', made.id, '--quantity', '5', '--preview');
  expect(preview).toMatch(/reason +subscription_update\n/);
  const changed = await ask(
    'subscriptions',
    'update',
    made.id,
    '--amount',
    '9.99',
    '--proration',
    'period-end',
  );
  // Announced for the next period: as before until then.
  expect(changed).toMatchObject({ items: [{ price_data: { unit_amount: 1_999 }, quantity: 2 }] });
  expect(await ask('subscriptions', 'cancel', made.id, '--at-period-end')).toMatchObject({
    status: 'active',
    cancel_at: expect.any(Number),
  });
  const kept = await ask<object>('subscriptions', 'update', made.id, '--keep');
  expect(kept).not.toHaveProperty('cancel_at');
  expect(await ask('subscriptions', 'cancel', made.id)).toMatchObject({ id: made.id, status: 'canceled' });

  for (const words of [
    ['create', '19.99', 'USD', '--customer', 'x', '--every', 'decade', '--product', 'Gold'],
    ['create', '19.999', 'USD', '--customer', 'x', '--every', 'month', '--product', 'Gold'],
    ['update', made.id],
    ['cancel', made.id, '--at-period-end', '--at', '2030-01-01'],
  ]) {
    const wrong = await run('subscriptions', ...words);
    expect([words, wrong.code, wrong.stdout]).toEqual([words, 2, '']);
  }
  await worker.stop(1_000);
});
