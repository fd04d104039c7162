import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { deliveriesOf, makeEvent, until, untilPublished } from './endpoints.ts';
import { Receivers } from './receiver.ts';

const BATCH_UPDATED = 'payout_batch.updated';

// Waits are short, but longer on a busy machine.

let service: TestService;
const receivers = new Receivers();
let counter = 0;

beforeAll(async () => {
  service = await startService({ worker: true, receive: receivers.post });
});
afterAll(() => service.stop());

async function openEndpoint(merchant: TestMerchant) {
  counter += 1;
  return await merchant.sdk.webhookEndpoints.create({
    url: `https://pausing${counter}.example/`,
    types: [BATCH_UPDATED],
  });
}

const statusesOf = async (merchant: TestMerchant) =>
  (await deliveriesOf(service, merchant.merchantId)).map(({ status }) => status);
const set = (merchant: TestMerchant, id: string, status: 'enabled' | 'disabled') =>
  merchant.sdk.webhookEndpoints.update(id, { status });

test('E9: a disabled endpoint’s pending and new deliveries wait; once enabled, each is sent at once in order, with the retries it had left', async () => {
  const merchant = await service.createMerchant();
  const { id, url } = await openEndpoint(merchant);
  receivers.behave(url, () => 503);
  const batches = [await makeEvent(merchant)];
  const attemptsOf = async () =>
    (await deliveriesOf(service, merchant.merchantId)).map((d) => d.attempts.length);
  await until('one attempt', async () => (await attemptsOf())[0] === 1);
  await merchant.sdk.testHelpers.advanceClock(120);
  await until('two attempts', async () => (await attemptsOf())[0] === 2);
  batches.push(await makeEvent(merchant));
  await until('the second one is tried', async () => (await attemptsOf())[1] === 1);
  await set(merchant, id, 'disabled');
  batches.push(await makeEvent(merchant), await makeEvent(merchant));
  await untilPublished(service, merchant.merchantId);
  expect(await statusesOf(merchant)).toEqual(['paused', 'paused', 'paused', 'paused']);
  const shown = (await merchant.sdk.deliveries.list().page()).data;
  expect(shown.map(({ status, next_attempt_at }) => [status, next_attempt_at])).toEqual(
    Array.from({ length: 4 }, () => ['paused', null]),
  );
  await merchant.sdk.testHelpers.advanceClock(100_000);
  const before = receivers.at(url).length;
  expect(before).toBe(3);

  // Held at the first answer, so that later ones start one after the other.
  receivers.behave(url, () => 500);
  await set(merchant, id, 'enabled');
  await until('each is tried', () => receivers.at(url).length === before + 4);
  const order = receivers.at(url).slice(before);
  const batchOf = ({ body }: { body: string }) => JSON.parse(body).data.object.batch_id;
  const [firstTries, retries] = [batches.slice(2), batches.slice(0, 2)];
  expect(order.map(batchOf).filter((batch) => firstTries.includes(batch))).toEqual(firstTries);
  expect(order.map(batchOf).filter((batch) => retries.includes(batch))).toEqual(retries);
  await until('all is recorded', async () => (await attemptsOf()).join() === '3,2,1,1');
  const series = (await deliveriesOf(service, merchant.merchantId)).map((d) => d.series_attempts);
  expect(series).toEqual([3, 2, 1, 1]);
  for (const delivery of (await merchant.sdk.deliveries.list().page()).data) {
    const last = delivery.attempts.at(-1)?.at ?? 0;
    expect(delivery.next_attempt_at).toBe(last + 60 * 2 ** delivery.attempts.length);
  }
});

test('pending deliveries go to a new URL, too', async () => {
  const merchant = await service.createMerchant();
  const { id, url } = await openEndpoint(merchant);
  receivers.behave(url, () => 500);
  await makeEvent(merchant);
  await until(
    'it failed',
    async () => (await deliveriesOf(service, merchant.merchantId))[0]?.attempts.length === 1,
  );
  const moved = await merchant.sdk.webhookEndpoints.update(id, { url: `${url}moved` });
  await merchant.sdk.testHelpers.advanceClock(120);
  await until('it arrives there', () => receivers.at(moved.url).length === 1);
  expect(receivers.at(url)).toHaveLength(1);
  await until('it is recorded', async () => (await statusesOf(merchant))[0] === 'delivered');
});

test('disabled while publishing, again and again: nothing is pending at a disabled endpoint, nothing paused at an enabled one', async () => {
  const merchant = await service.createMerchant();
  const { id, url } = await openEndpoint(merchant);
  let isOver = false;
  const toggling = (async () => {
    for (let n = 0; !isOver; n++) await set(merchant, id, n % 2 === 0 ? 'disabled' : 'enabled');
    await set(merchant, id, 'disabled');
  })();
  const writers = Array.from({ length: 4 }, async () => {
    for (let n = 0; n < 10; n++) await makeEvent(merchant);
  });
  await Promise.all(writers);
  isOver = true;
  await toggling;
  await untilPublished(service, merchant.merchantId);
  await until('what was in flight is over', async () =>
    (await statusesOf(merchant)).every((status) => status === 'paused' || status === 'delivered'),
  );
  await set(merchant, id, 'enabled');
  await until('all arrive', async () =>
    (await statusesOf(merchant)).every((status) => status === 'delivered'),
  );
  const deliveries = await deliveriesOf(service, merchant.merchantId);
  expect(deliveries).toHaveLength(40);
  expect(deliveries.map(({ attempts }) => attempts.length)).toEqual(deliveries.map(() => 1));
  expect(receivers.at(url)).toHaveLength(40);
});

test('enabled while an attempt is in flight: it is not made twice, and its answer counts', async () => {
  const merchant = await service.createMerchant();
  const { id, url } = await openEndpoint(merchant);
  let answer: (status: number) => void = () => {};
  receivers.behave(url, () => new Promise<number>((resolve) => (answer = resolve)));
  await makeEvent(merchant);
  await until('it is in flight', () => receivers.at(url).length === 1);
  await set(merchant, id, 'disabled');
  expect(await statusesOf(merchant)).toEqual(['paused']);
  await set(merchant, id, 'enabled');
  const [delivery] = (await merchant.sdk.deliveries.list().page()).data;
  expect(delivery?.status).toBe('pending');
  receivers.behave(url, () => 200);
  await makeEvent(merchant);
  await until('what is new arrives meanwhile', () => receivers.at(url).length === 2);
  answer(200);
  await until('both are recorded', async () => (await statusesOf(merchant)).every((s) => s === 'delivered'));
  const all = await deliveriesOf(service, merchant.merchantId);
  expect(all.map(({ attempts }) => attempts.length)).toEqual([1, 1]);
});

test('an attempt that fails after its endpoint was disabled leaves its delivery paused, with that attempt counted', async () => {
  const merchant = await service.createMerchant();
  const { id, url } = await openEndpoint(merchant);
  let answer: (status: number) => void = () => {};
  receivers.behave(url, () => new Promise<number>((resolve) => (answer = resolve)));
  await makeEvent(merchant);
  await until('it is in flight', () => receivers.at(url).length === 1);
  await set(merchant, id, 'disabled');
  answer(500);
  await until(
    'it is recorded',
    async () => (await deliveriesOf(service, merchant.merchantId))[0]?.attempts.length === 1,
  );
  const [paused] = await deliveriesOf(service, merchant.merchantId);
  expect(paused).toMatchObject({ status: 'paused', series_attempts: 1 });
  receivers.behave(url, () => 200);
  await set(merchant, id, 'enabled');
  await until('it arrives', async () => (await statusesOf(merchant))[0] === 'delivered');
});

test('more deliveries than one transaction moves are paused and resumed, all of them', async () => {
  const merchant = await service.createMerchant();
  const { id, url } = await openEndpoint(merchant);
  const batchId = await makeEvent(merchant);
  await until('the first arrives', async () => (await statusesOf(merchant))[0] === 'delivered');
  const [first] = await deliveriesOf(service, merchant.merchantId);
  const [event] = (await merchant.sdk.events.list({ resource: batchId }).page()).data;
  if (first === undefined || event === undefined) throw new Error('unreachable');
  expect(first.event).toBe(event.id);
  // Half of them retries that are due in a day.
  const count = 12_000;
  const own = {
    merchant_id: merchant.merchantId,
    endpoint_id: first.endpoint_id,
    store_id: merchant.storeId,
  };
  const rows = Array.from({ length: count }, (_, n) => ({
    ...own,
    event_id: newId(),
    delivery_id: newId(),
    event_type: BATCH_UPDATED as typeof BATCH_UPDATED,
    number: n + 2,
    status: 'pending' as const,
    series_attempts: n % 2,
    due_at: Number(first.created_at) + 86_400,
    event_created_at: first.created_at,
    created_at: first.created_at,
  }));
  for (let n = 0; n < count; n += 2_000)
    await service.app.db
      .insertInto('delivery')
      .values(rows.slice(n, n + 2_000))
      .execute();
  await set(merchant, id, 'disabled');
  const counts = async () => {
    const all = await statusesOf(merchant);
    return Object.fromEntries(
      ['pending', 'paused', 'delivered'].map((s) => [s, all.filter((a) => a === s).length]),
    );
  };
  await until('all wait', async () => (await counts()).paused === count);
  receivers.behave(url, () => new Promise(() => {}));
  await set(merchant, id, 'enabled');
  await until('none waits', async () => (await counts()).pending === count);
  const due = (await deliveriesOf(service, merchant.merchantId)).filter(({ status }) => status === 'pending');
  expect(due.filter(({ due_at }) => Number(due_at) > Number(first.created_at) + 3_600)).toEqual([]);
  expect(due.filter(({ series_attempts }) => series_attempts === 1)).toHaveLength(count / 2);
});
