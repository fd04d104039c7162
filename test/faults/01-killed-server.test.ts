import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await World.open({ servers: 2, workers: 1 });
}, 120_000);
afterAll(() => world?.close());

const AT_CREATE = [
  'create.before-transaction',
  'create.key-claimed',
  'create.batch-inserted',
  'create.before-commit',
] as const;
const AFTER_CREATE = ['create.after-commit', 'create.before-reply'] as const;

const BATCHES_OF_KEY = 'select batch_id from payout_batch where idempotency_key = $1';

/** Lets the first server die in a create. @returns key and body of the request that nobody answered */
async function createAndDie(crashPoint: string) {
  const server = world.server;
  await server.kill();
  await server.start({ crashPoint });
  const body = { currency: 'USDT', items: world.items('erc20', 3) };
  const idempotencyKey = randomUUID();
  const lost = await world.merchant.request('POST', '/payout-batches', { body, idempotencyKey, node: 0 });
  expect(lost.status).toBe(0);
  expect(await server.ended).toEqual({ signal: 'SIGKILL', code: null });
  const left = await world.database.query<{ batch_id: string }>(BATCHES_OF_KEY, [idempotencyKey]);
  return { body, idempotencyKey, left };
}

test.each(AT_CREATE)(
  'fault 1, B3: a server that dies at %s leaves nothing; a retry makes the batch',
  async (at) => {
    const { body, idempotencyKey, left } = await createAndDie(at);
    expect(left).toEqual([]);
    const retried = await world.merchant.request('POST', '/payout-batches', {
      body,
      idempotencyKey,
      node: 1,
    });
    expect(retried.status, retried.text).toBe(200);
    expect(await world.database.query(BATCHES_OF_KEY, [idempotencyKey])).toHaveLength(1);
  },
  60_000,
);

test.each(AFTER_CREATE)(
  'fault 1, B2: a server that dies at %s has made the batch; a retry shows it',
  async (at) => {
    const { body, idempotencyKey, left } = await createAndDie(at);
    expect(left).toHaveLength(1);
    const found = await world.merchant.request('GET', `/payout-batches?idempotency_key=${idempotencyKey}`, {
      node: 1,
    });
    const [first] = found.answer.data as { batch_id: string }[];
    const retried = await world.merchant.request('POST', '/payout-batches', {
      body,
      idempotencyKey,
      node: 1,
    });
    expect(retried.answer).toMatchObject({ batch_id: first?.batch_id, status: 'draft' });
  },
  60_000,
);

test.each(['submit.before-commit', 'submit.after-commit'])(
  'fault 1: a server that dies at %s submits once',
  async (at) => {
    const batchId = await world.merchant.create(world.items('trc20', 2));
    await world.server.kill();
    await world.server.start({ crashPoint: at });
    const lost = await world.merchant.request('POST', `/payout-batches/${batchId}/submit`, {
      body: {},
      node: 0,
    });
    expect(lost.status).toBe(0);
    await world.server.ended;
    await world.merchant.submit(batchId);
  },
  60_000,
);

test('fault 1: after all of it every payout is over, and nothing is lost or double', async () => {
  expect(await world.judge()).toEqual([]);
}, 150_000);
