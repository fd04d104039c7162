import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { LEDGER_CHECKS } from '../ledger-checks.ts';
import { World } from './world.ts';

const PRICE = 3_000_000;
const POLL = { timeout: 60_000, interval: 200 };

let world: World;

beforeAll(async () => {
  world = await World.open({ servers: 1, workers: 1 });
}, 120_000);
afterAll(() => world?.close());

const query = (text: string, values: unknown[] = []) =>
  world.database.query<Record<string, unknown>>(text, values);

/** The only worker dies there. */
async function dieAt(crashPoint: string, cause: () => Promise<unknown> = async () => {}): Promise<void> {
  await world.worker.start({ crashPoint });
  await cause();
  expect(await world.worker.ended).toEqual({ signal: 'SIGKILL', code: null });
}

async function subscribe(more: object): Promise<{ id: string; payment_method_id?: string }> {
  const recurring = { interval: 'month' };
  const price_data = { currency: 'USDT', product: 'Gold', unit_amount: PRICE, recurring };
  const body = { customer: 'customer-1', currency: 'USDT', items: [{ price_data }], ...more };
  const made = await world.merchant.request('POST', '/subscriptions/create', {
    body,
    idempotencyKey: JSON.stringify(more),
  });
  return made.answer as { id: string };
}

test('fault 9: listed while its charge is on its way, the worker dies at each crash point after it: seized, released, one event each', async () => {
  const { merchant, worker } = world;
  const first = await subscribe({});
  const mandate = { currency: 'USDT', network: 'erc20', balance: 100 * PRICE };
  const active = await merchant.insist('POST', `/test_helpers/subscriptions/${first.id}/authorize`, mandate);
  expect(active).toMatchObject({ status: 'active' });
  await worker.kill();
  let id = '';
  await dieAt('billing.charge-locked', async () => {
    ({ id } = await subscribe({ payment_method_id: active.payment_method_id }));
  });
  // The chain has made it final, and nobody has booked it yet.
  const [wallet] = await query('select wallet_address from payment_method limit 1');
  await world.operate(({ risk }) => risk.add('erc20', String(wallet?.wallet_address), 'test'));
  for (const point of ['billing.invoices-written', 'billing.events-recorded', 'billing.charge-settled'])
    await dieAt(point);
  await worker.start();
  const invoice = async () => {
    const { data } = await merchant.insist('GET', `/invoices?subscription=${id}`);
    return (data as { id: string; status: string; payment_status: string }[])[0];
  };
  await expect.poll(async () => (await invoice())?.payment_status, POLL).toBe('failed');
  const [charge] = await query(
    `select p.payment_id::text, p.status, t.tx_id, t.kind from payment p
     join payment_transaction t using (merchant_id, payment_id) where t.kind = 'seized'`,
  );
  expect(charge).toMatchObject({ status: 'frozen', kind: 'seized' });
  const balances = async () => {
    const { data } = await merchant.insist('GET', '/balances');
    const row = (data as Record<string, number | string>[]).find(({ currency }) => currency === 'USDT');
    return { held: row?.held, seized: row?.seized };
  };
  expect(await balances()).toEqual({ held: 0, seized: PRICE });
  await worker.kill();
  const payment = encodeId('payment', String(charge?.payment_id));
  await dieAt('billing.invoices-written', async () => {
    const verdict = { payment, txId: String(charge?.tx_id) };
    for (const person of world.approvers)
      await world.operate(({ payments }) => payments.release({ ...verdict, ...person }));
  });
  expect(await balances()).toEqual({ held: PRICE, seized: 0 });
  await dieAt('billing.page-followed');
  await worker.start();
  expect(await merchant.insist('GET', `/subscriptions/${id}`)).toMatchObject({ status: 'active' });
  expect(await invoice()).toMatchObject({ status: 'paid', payment_status: 'completed' });
  expect(await balances()).toEqual({ held: 0, seized: 0 });
  const told = await query(
    `select type, count(*)::int from event where resource in ($1, $2, $3) and type <> 'payment.updated'
     group by type order by type`,
    [payment, (await invoice())?.id, id],
  );
  expect(told.map(({ type, count }) => `${String(type)} ${String(count)}`)).toEqual([
    'invoice.created 1',
    'invoice.paid 1',
    'invoice.payment_failed 1',
    'payment.completed 1',
    'payment.failed 1',
    'subscription.active 1',
    'subscription.created 1',
  ]);
}, 300_000);

test('fault 9: after all of it the books agree with themselves and with the chains', async () => {
  for (const [check, text] of Object.entries(LEDGER_CHECKS))
    expect([check, await query(text)]).toEqual([check, []]);
  const report = await world.operate(({ ledger }) => ledger.verify(() => {}));
  expect([report.differences, report.unseen]).toEqual([[], []]);
  expect(await world.judge()).toEqual([]);
}, 150_000);
