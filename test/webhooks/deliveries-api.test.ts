import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import { expectError } from '../http/expect-error.ts';
import { caller } from '../payouts/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { deliveriesOf, makeEvent, until, untilPublished } from './endpoints.ts';
import { type Behaviour, Receivers } from './receiver.ts';

const BATCH_UPDATED = 'payout_batch.updated';

// Waits are short, but longer on a busy machine.

let service: TestService;
const receivers = new Receivers();
let counter = 0;

beforeAll(async () => {
  service = await startService({ worker: true, receive: receivers.post });
});
afterAll(() => service.stop());

async function openEndpoint(merchant: TestMerchant, behaviour: Behaviour = () => 200) {
  counter += 1;
  const url = `https://receiver-of-api${counter}.example/`;
  receivers.behave(url, behaviour);
  return await merchant.sdk.webhookEndpoints.create({ url, types: [BATCH_UPDATED] });
}

const listed = async (merchant: TestMerchant, query = {}) =>
  (await merchant.sdk.deliveries.list({ limit: 100, ...query }).page()).data;
const untilAll = (merchant: TestMerchant, status: string, count: number) =>
  until(`${count} are ${status}`, async () => {
    const all = await listed(merchant);
    return all.length === count && all.every((delivery) => delivery.status === status);
  });
const advance = (merchant: TestMerchant, seconds: number) => merchant.sdk.testHelpers.advanceClock(seconds);
const refused = (answer: Awaited<ReturnType<ReturnType<typeof caller>['post']>>, param?: string) =>
  expectError(answer, '/api/v1/deliveries', {
    status: 400,
    code: 'invalid_request_error',
    ...(param === undefined ? {} : { param }),
  });

test('the list is newest first, in pages, by event, endpoint and state; unknown ids give an empty list', async () => {
  const merchant = await service.createMerchant();
  const good = await openEndpoint(merchant);
  const bad = await openEndpoint(merchant, () => 404);
  for (let n = 0; n < 3; n++) await makeEvent(merchant);
  await until('all are tried', async () => {
    const all = await listed(merchant);
    return all.length === 6 && all.every(({ attempts }) => attempts.length === 1);
  });
  const all = await listed(merchant);
  expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted((a, b) => (a < b ? 1 : -1)));
  const times = all.map(({ created }) => created);
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  const paged = [];
  for await (const delivery of merchant.sdk.deliveries.list({ limit: 4 })) paged.push(delivery);
  expect(paged).toEqual(all);
  expect(await listed(merchant, { endpoint_id: good.id })).toEqual(
    all.filter((d) => d.endpoint_id === good.id),
  );
  expect(await listed(merchant, { status: 'failed' })).toEqual(all.filter((d) => d.endpoint_id === bad.id));
  expect(await listed(merchant, { status: 'delivered' })).toHaveLength(3);
  expect(await listed(merchant, { status: 'paused' })).toEqual([]);
  const [newest] = all;
  const ofEvent = await listed(merchant, { event_id: newest?.event_id });
  expect(new Set(ofEvent.map(({ endpoint_id }) => endpoint_id))).toEqual(new Set([good.id, bad.id]));
  expect(await listed(merchant, { event_id: newest?.event_id, status: 'failed' })).toHaveLength(1);
  for (const [name, prefix] of [
    ['event_id', 'evt'],
    ['endpoint_id', 'we'],
  ]) {
    for (const id of [`${prefix}_00000000000000000000000000`, 'x', good.store_id])
      expect(await listed(merchant, { [name ?? '']: id })).toEqual([]);
  }
  const { call } = caller(service, merchant);
  refused(await call('/deliveries?status=lost'), 'status');
  refused(await call('/deliveries?type=x'), 'type');
  for (const cursor of ['whd_00000000000000000000000000', newest?.event_id, 'x'])
    refused(await call(`/deliveries?starting_after=${cursor}`), 'starting_after');
});

test('a delivered one is sent again: the same id and bytes, signed again, added to its attempts', async () => {
  const merchant = await service.createMerchant();
  const { url } = await openEndpoint(merchant);
  await makeEvent(merchant);
  await untilAll(merchant, 'delivered', 1);
  const [delivery] = await listed(merchant);
  if (delivery === undefined) throw new Error('unreachable');
  await advance(merchant, 3_600);
  const again = await merchant.sdk.deliveries.redeliver(delivery.id);
  expect(again).toMatchObject({ ...delivery, status: 'pending', next_attempt_at: expect.any(Number) });
  expect(again.next_attempt_at).toBeGreaterThanOrEqual(delivery.created + 3_600);
  await until('it arrives', () => receivers.at(url).length === 2);
  await untilAll(merchant, 'delivered', 1);
  const [first, second] = receivers.at(url);
  expect([second?.eventId, second?.body]).toEqual([first?.eventId, first?.body]);
  expect(second?.headers['X-Service-Nonce']).not.toBe(first?.headers['X-Service-Nonce']);
  const after = await merchant.sdk.deliveries.retrieve(delivery.id);
  expect(after.attempts).toHaveLength(2);
  expect(after.attempts[0]).toEqual(delivery.attempts[0]);
});

test('E6: an exhausted one begins a new series of ten retries; pending and paused ones are refused', async () => {
  const merchant = await service.createMerchant();
  const { id, url } = await openEndpoint(merchant, () => 500);
  const { post } = caller(service, merchant);
  await makeEvent(merchant);
  for (let n = 1; n <= 11; n++) {
    await until(`attempt ${n}`, async () => (await listed(merchant))[0]?.attempts.length === n);
    if (n === 11) break;
    const [pending] = await listed(merchant);
    const answer = await post(`/deliveries/${pending?.id}/redeliver`);
    refused(answer);
    expect(answer.text).toContain('is pending');
    await advance(merchant, 60 * 2 ** n);
  }
  const [exhausted] = await listed(merchant);
  if (exhausted === undefined) throw new Error('unreachable');
  expect(exhausted).toMatchObject({ status: 'exhausted', next_attempt_at: null });
  await merchant.sdk.deliveries.redeliver(exhausted.id);
  await until('it is tried', async () => (await listed(merchant))[0]?.attempts.length === 12);
  const [again] = await listed(merchant);
  const last = again?.attempts.at(-1)?.at ?? 0;
  expect(again).toMatchObject({ status: 'pending', next_attempt_at: last + 120 });
  await merchant.sdk.webhookEndpoints.update(id, { status: 'disabled' });
  const answer = await post(`/deliveries/${exhausted.id}/redeliver`);
  refused(answer);
  expect(answer.text).toContain('is paused');
  receivers.behave(url, () => 204);
  await merchant.sdk.webhookEndpoints.update(id, { status: 'enabled' });
  await untilAll(merchant, 'delivered', 1);
});

test('two concurrent redeliveries: one of them is refused and one attempt is made', async () => {
  const merchant = await service.createMerchant();
  const { url } = await openEndpoint(merchant);
  await makeEvent(merchant);
  await untilAll(merchant, 'delivered', 1);
  const [delivery] = await listed(merchant);
  const held: (() => void)[] = [];
  receivers.behave(url, () => new Promise<number>((resolve) => held.push(() => resolve(200))));
  const { post } = caller(service, merchant);
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => post(`/deliveries/${delivery?.id}/redeliver`)),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    200, 400, 400, 400, 400, 400,
  ]);
  await until('it is in flight', () => held.length === 1);
  held[0]?.();
  await untilAll(merchant, 'delivered', 1);
  expect(receivers.at(url)).toHaveLength(2);
});

test('fault 39: deliveries that failed since a time are sent again, and no others', async () => {
  const merchant = await service.createMerchant();
  const { id, url } = await openEndpoint(merchant, () => 404);
  const other = await openEndpoint(merchant, () => 404);
  await makeEvent(merchant);
  await untilAll(merchant, 'failed', 2);
  const now = await advance(merchant, 7_200);
  for (let n = 0; n < 3; n++) await makeEvent(merchant);
  await untilAll(merchant, 'failed', 8);
  receivers.behave(url, () => 200);
  const { webhookEndpoints } = merchant.sdk;
  const later = await webhookEndpoints.redeliver(id, { since: now + 3_600, which: 'failed' });
  expect(later).toEqual({ object: 'redelivery', endpoint_id: id, count: 0 });
  expect((await webhookEndpoints.redeliver(id, { since: now, which: 'failed' })).count).toBe(3);
  await until('three arrive', async () => (await listed(merchant, { status: 'delivered' })).length === 3);
  expect(await listed(merchant, { endpoint_id: other.id, status: 'failed' })).toHaveLength(4);
  // A delivery that succeeded meanwhile is not failed any more.
  expect((await webhookEndpoints.redeliver(id, { since: 0, which: 'failed' })).count).toBe(1);
  await until('four arrive', async () => (await listed(merchant, { status: 'delivered' })).length === 4);
  expect((await webhookEndpoints.redeliver(id, { since: 0, which: 'failed' })).count).toBe(0);
});

test('fault 39: missing events are sent to an endpoint: of its types, once, with the recorded bytes', async () => {
  const merchant = await service.createMerchant();
  const batches = [await makeEvent(merchant), await makeEvent(merchant)];
  await untilPublished(service, merchant.merchantId);
  const now = await advance(merchant, 7_200);
  batches.push(await makeEvent(merchant));
  await untilPublished(service, merchant.merchantId);
  const { id, url } = await openEndpoint(merchant);
  const none = await merchant.sdk.webhookEndpoints.create({ url: 'https://none.example/' });
  const send = (endpoint: string, since: number) =>
    merchant.sdk.webhookEndpoints.redeliver(endpoint, { since, which: 'missing' });
  // There are no events of the types of `*`.
  expect((await send(none.id, 0)).count).toBe(0);
  expect((await send(id, now)).count).toBe(1);
  await untilAll(merchant, 'delivered', 1);
  expect((await send(id, 0)).count).toBe(2);
  await untilAll(merchant, 'delivered', 3);
  expect((await send(id, 0)).count).toBe(0);
  const arrived = receivers.at(url);
  const batchOf = ({ body }: { body: string }) => JSON.parse(body).data.object.batch_id;
  expect(arrived.map(batchOf)).toEqual([batches[2], batches[0], batches[1]]);
  for (const { eventId, body } of arrived)
    expect(JSON.parse(body)).toEqual(await merchant.sdk.events.retrieve(eventId));
  const [delivery] = await listed(merchant);
  expect(delivery?.created).toBeGreaterThanOrEqual(now);
  // A failed one is not missing.
  receivers.behave(url, () => 410);
  await makeEvent(merchant);
  await until('it failed', async () => (await listed(merchant, { status: 'failed' })).length === 1);
  expect((await send(id, 0)).count).toBe(0);
});

test('a redelivery of missing events while events are published sends none twice', async () => {
  const merchant = await service.createMerchant();
  for (let n = 0; n < 10; n++) await makeEvent(merchant);
  const { id, url } = await openEndpoint(merchant);
  const writing = Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let n = 0; n < 5; n++) await makeEvent(merchant);
    }),
  );
  for (let n = 0; n < 20; n++)
    await merchant.sdk.webhookEndpoints.redeliver(id, { since: 0, which: 'missing' });
  await writing;
  await untilPublished(service, merchant.merchantId);
  await merchant.sdk.webhookEndpoints.redeliver(id, { since: 0, which: 'missing' });
  await untilAll(merchant, 'delivered', 30);
  expect(receivers.at(url)).toHaveLength(30);
});

test('thousands of failed deliveries are sent in batches, those that fail again meanwhile once', async () => {
  const merchant = await service.createMerchant();
  const { id } = await openEndpoint(merchant, () => 404);
  await makeEvent(merchant);
  await untilAll(merchant, 'failed', 1);
  const [first] = await deliveriesOf(service, merchant.merchantId);
  if (first === undefined) throw new Error('unreachable');
  const count = 2_500;
  const rows = Array.from({ length: count }, (_, n) => ({
    merchant_id: merchant.merchantId,
    endpoint_id: first.endpoint_id,
    store_id: merchant.storeId,
    event_id: newId(),
    delivery_id: newId(),
    event_type: BATCH_UPDATED as typeof BATCH_UPDATED,
    number: n + 2,
    status: n % 2 === 0 ? ('failed' as const) : ('exhausted' as const),
    series_attempts: 1,
    due_at: first.created_at,
    event_created_at: first.created_at,
    created_at: first.created_at,
  }));
  await service.app.db.insertInto('delivery').values(rows).execute();
  const { count: sent } = await merchant.sdk.webhookEndpoints.redeliver(id, { since: 0, which: 'failed' });
  expect(sent).toBe(count + 1);
});

test('which and since are checked', async () => {
  const merchant = await service.createMerchant();
  const { id } = await openEndpoint(merchant);
  const { post } = caller(service, merchant);
  const path = `/webhook_endpoints/${id}/redeliver`;
  refused(await post(path, { since: 0, which: 'delivered' }), 'which');
  refused(await post(path, { since: -1, which: 'failed' }), 'since');
  refused(await post(path, { since: '0', which: 'failed' }), 'since');
  refused(await post(path, { since: 1.5, which: 'failed' }), 'since');
  expectError(await post(path, { which: 'failed' }), path, {
    status: 400,
    code: 'parameter_missing',
    param: 'since',
  });
  expectError(await post(path, { since: 0 }), path, {
    status: 400,
    code: 'parameter_missing',
    param: 'which',
  });
  expect((await post(path, { since: Number.MAX_SAFE_INTEGER, which: 'missing' })).json.count).toBe(0);
});
