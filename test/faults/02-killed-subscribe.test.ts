import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await World.open({ servers: 2, workers: 1 });
}, 120_000);
afterAll(() => world?.close());

const BEFORE_COMMIT = [
  'subscription.before-transaction',
  'subscription.key-claimed',
  'subscription.inserted',
  'billing.invoices-written',
  'billing.events-recorded',
] as const;
const AFTER_COMMIT = ['subscription.after-commit'] as const;

const body = (customer: string) => ({
  customer,
  currency: 'USD',
  items: [
    {
      price_data: { currency: 'USD', product: 'Gold', unit_amount: 2_000, recurring: { interval: 'month' } },
    },
  ],
});

/** All that there is of a customer's subscriptions: their rows, invoices and events. */
const leftOf = (customer: string) =>
  world.database.query<{ what: string }>(
    `select 'subscription' as what from subscription where customer = $1
     union all select 'invoice' from invoice where customer = $1
     union all select e.type from event e where e.body like '%"customer":"' || $1 || '"%' and e.type like 'subscription.%'
     union all select 'key' from idempotency_key where operation = 'subscription.create' and key = $1`,
    [customer],
  );

/** Lets the first server die in a create. @returns the customer, whose id is the key too, and what the death left */
async function createAndDie(crashPoint: string) {
  await world.server.kill();
  await world.server.start({ crashPoint });
  const customer = `c-${randomUUID()}`;
  const request = { body: body(customer), idempotencyKey: customer };
  const lost = await world.merchant.request('POST', '/subscriptions/create', { ...request, node: 0 });
  expect(lost.status).toBe(0);
  expect(await world.server.ended).toEqual({ signal: 'SIGKILL', code: null });
  return { customer, request, left: await leftOf(customer) };
}

const ONE = ['invoice', 'key', 'subscription', 'subscription.created'];
const wordsOf = (rows: { what: string }[]) => rows.map(({ what }) => what).sort();

test.each(BEFORE_COMMIT)(
  'fault 2, I6: a server that dies at %s leaves nothing; the same key again makes one subscription and one event',
  async (at) => {
    const { customer, request, left } = await createAndDie(at);
    expect(left).toEqual([]);
    const retried = await world.merchant.request('POST', '/subscriptions/create', { ...request, node: 1 });
    expect(retried.status, retried.text).toBe(200);
    expect(wordsOf(await leftOf(customer))).toEqual(ONE);
  },
  60_000,
);

test.each(AFTER_COMMIT)(
  'fault 2, I4, I5: a server that dies at %s has made it; the same key again shows it',
  async (at) => {
    const { customer, request, left } = await createAndDie(at);
    expect(wordsOf(left)).toEqual(ONE);
    const retried = await world.merchant.request('POST', '/subscriptions/create', { ...request, node: 1 });
    expect(retried.status, retried.text).toBe(200);
    expect(retried.answer).toMatchObject({
      customer,
      status: 'incomplete',
      checkout_url: expect.any(String),
    });
    expect(wordsOf(await leftOf(customer))).toEqual(ONE);
  },
  60_000,
);
