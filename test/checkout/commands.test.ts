import { afterAll, beforeAll, expect, test } from 'vitest';
import { florinOf } from '../florin-command.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { eventTypesOf } from './requests.ts';

// Each command is a process of its own.

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

const run = (...words: string[]) => florinOf(service, merchant).run(...words);
const ask = <T>(...words: string[]) => florinOf(service, merchant).ask<T>(...words);

test('a session is created, shown and canceled; prices have a decimal point', async () => {
  const made = await ask<{ id: string }>(
    'checkout',
    'create',
    '19.99',
    'usd',
    '--order-id',
    'A-1',
    '--expires-in',
    '10m',
  );
  expect(made).toMatchObject({ amount: 1_999, currency: 'USD', order_id: 'A-1', status: 'open' });
  const { stdout } = await run('checkout', 'show', made.id);
  expect(stdout).toMatch(/price\s+\$19\.99\n/);
  expect(await ask('checkout', 'cancel', made.id)).toMatchObject({ id: made.id, status: 'canceled' });

  for (const words of [
    ['19.999', 'USD'],
    ['500.5', 'JPY'],
    ['1', 'XYZ'],
  ]) {
    const wrong = await run('checkout', 'create', ...words);
    expect([words, wrong.code, wrong.stdout]).toEqual([words, 2, '']);
  }
  const unknown = await run('checkout', 'show', 'cs_nothing', '--json');
  expect([unknown.code, JSON.parse(unknown.stderr).error.code]).toEqual([1, 'resource_not_found']);
});

test('a payment is shown with its transfers, and its held amount is accepted', async () => {
  const { sdk } = merchant;
  const session = await sdk.checkout.sessions.create({ amount: 100_000_000n, currency: 'USDT' });
  await sdk.testHelpers.checkout.sessions.pay(session.id, {
    currency: 'USDT',
    network: 'erc20',
    amount: '40.00',
  });
  const { stdout } = await run('payments', 'show', session.id);
  expect(stdout).toMatch(/received\s+40\.000000 USDT\n/);
  expect(stdout).toMatch(/exceptions\s+underpaid\n/);
  expect(stdout).toMatch(/40\.000000 USDT\s+erc20\s+counted\s+final\s+3\/3/);
  expect(await ask('payments', 'accept', session.payment_id)).toMatchObject({ status: 'completed' });
  const again = await run('payments', 'accept', session.payment_id);
  expect([again.code, again.stdout]).toEqual([1, '']);
});

test.each([
  ['payment.completed', { status: 'completed' }],
  ['payment.failed', { status: 'frozen' }],
  ['payment.expired', { status: 'expired' }],
  ['payment.cancelled', { status: 'cancelled' }],
  ['payment.updated', { status: 'pending', exceptions: ['underpaid'] }],
] as const)('florin trigger %s makes a real payment that ends so', async (type, expected) => {
  const { resource, events } = await ask<{ resource: string; events: string[] }>('trigger', type);
  expect(events).not.toEqual([]);
  const event = await merchant.sdk.events.retrieve(events.at(-1) ?? '');
  expect(event).toMatchObject({ type, data: { object: { id: resource, ...expected } } });
  expect(await merchant.sdk.payments.retrieve(resource)).toMatchObject(expected);
  if (type !== 'payment.updated') expect(await eventTypesOf(merchant, resource)).toEqual([type]);
});

test('payments, sessions and refunds are listed by their filters, as a table, JSON and CSV', async () => {
  const { sdk } = merchant;
  const session = await sdk.checkout.sessions.create({
    amount: 100_000_000n,
    currency: 'USDT',
    order_id: 'L-1',
  });
  await sdk.testHelpers.checkout.sessions.pay(session.id, {
    currency: 'USDT',
    network: 'erc20',
    amount: '30.00',
  });
  const found = await ask<{ id: string }[]>('payments', 'list', '--order-id', 'L-1', '--since', 'today');
  expect(found.map(({ id }) => id)).toEqual([session.payment_id]);
  const { stdout } = await run('payments', 'list', '--exception', 'underpaid', '--status', 'pending');
  expect(stdout).toContain(session.payment_id);
  expect(stdout).toMatch(/^ID\s+STATUS\s+PRICE\s+RECEIVED/);
  expect(await ask('payments', 'list', '--until', 'yesterday')).toEqual([]);
  const sessions = await ask<{ id: string }[]>('checkout', 'list', '--order-id', 'L-1', '--limit', '1');
  expect(sessions.map(({ id }) => id)).toEqual([session.id]);
  expect(await ask('refunds', 'list', '--status', 'failed')).toEqual([]);

  const csv = await run('checkout', 'list', '--order-id', 'L-1', '--csv');
  expect(csv.code).toBe(0);
  const [heading = '', row = '', ...rest] = csv.stdout.split('\r\n');
  expect(heading).toMatch(/^id,object,store_id,.*expires_at_utc,metadata,created_utc,completed_at_utc$/);
  expect(row.startsWith(session.id)).toBe(true);
  expect(rest).toEqual(['# 1 rows', '']);

  const wrong = await run('payments', 'list', '--since', 'today', '--until', 'yesterday');
  expect([wrong.code, wrong.stderr.trim().split('\n').length]).toEqual([1, 1]);
  expect(wrong.stderr).toContain('created[lt]');
  expect((await run('payments', 'list', '--since', 'tomorrow')).code).toBe(2);
});
