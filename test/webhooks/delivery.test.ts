import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordEvents } from '../../packages/server/src/events/index.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import { asOwner } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { addEndpoint, deliveriesOf, makeEvent, until } from './endpoints.ts';
import { Receivers, verified } from './receiver.ts';

const MINUTE = 60;

let service: TestService;
const receivers = new Receivers();

beforeAll(async () => {
  service = await startService({ worker: true, receive: receivers.post });
});
afterAll(() => service.stop());

const statusesOf = async (merchantId: string) =>
  (await deliveriesOf(service, merchantId)).map(({ status }) => status);

test('an event reaches an endpoint with its type: headers, signature and bytes of the specification', async () => {
  const merchant = await service.createMerchant();
  const { url } = await addEndpoint(service, merchant);
  const other = await addEndpoint(service, merchant, ['*']);
  const batchId = await makeEvent(merchant);
  await until('the event arrives', () => receivers.at(url).length === 1);
  const [received] = receivers.at(url);
  if (received === undefined) throw new Error('unreachable');
  const event = verified(received, merchant.secretKey);
  expect(event).toEqual(await merchant.sdk.events.retrieve(received.eventId));
  expect(event).toMatchObject({ id: received.eventId, type: 'payout_batch.updated', sequence: 1 });
  expect(event.data.object).toMatchObject({ batch_id: batchId, status: 'draft' });
  expect(new Set(Object.keys(received.headers))).toEqual(
    new Set([
      'Content-Type',
      'User-Agent',
      'X-Service-Signature',
      'X-Service-Timestamp',
      'X-Service-Nonce',
      'X-Service-Event-Type',
      'X-Service-Event-ID',
    ]),
  );
  expect(received.headers['User-Agent']).toBe('Service-Webhook/1.0');
  expect(received.headers['X-Service-Event-Type']).toBe('payout_batch.updated');
  await until('it is recorded', async () => (await statusesOf(merchant.merchantId))[0] === 'delivered');
  const [delivery] = await deliveriesOf(service, merchant.merchantId);
  expect(delivery?.attempts).toEqual([
    {
      at: expect.any(Number),
      duration_ms: expect.any(Number),
      status_code: 200,
      failure: null,
      response: 'answered 200',
      sent: expect.anything(),
    },
  ]);
  const [shown] = (await merchant.sdk.deliveries.list()).data;
  const { 'X-Service-Signature': signature = '', ...others } = received.headers;
  const kept = { ...others, 'X-Service-Signature': `${signature.slice(0, 8)}...` };
  expect(shown?.attempts[0]?.request_headers).toEqual(kept);
  expect(JSON.stringify(delivery?.attempts)).not.toContain(signature);
  await asOwner(
    service,
    "update delivery set attempts = jsonb_build_array((attempts -> 0) - 'sent') where delivery_id = $1",
    [delivery?.delivery_id],
  );
  const [older] = (await merchant.sdk.deliveries.list()).data;
  expect(older?.attempts).toEqual([{ ...shown?.attempts[0], request_headers: null }]);
  expect(receivers.at(other.url)).toEqual([]);
});

test('a delivery whose event passed its retention keeps no other one waiting', async () => {
  const merchant = await service.createMerchant();
  const { url } = await addEndpoint(service, merchant);
  receivers.behave(url, () => 503);
  await makeEvent(merchant);
  await until('the first attempt', () => receivers.at(url).length === 1);
  const [{ event_id: gone } = { event_id: '' }] = await deliveriesOf(service, merchant.merchantId);
  await asOwner(service, 'delete from event where event_id = $1', [gone]);
  receivers.behave(url, () => 200);
  await makeEvent(merchant);
  await merchant.sdk.testHelpers.advanceClock(2 * MINUTE);
  await until('the second event arrives', () => receivers.at(url).length === 2);
  await until('it is recorded', async () => (await statusesOf(merchant.merchantId)).includes('delivered'));
  expect((await statusesOf(merchant.merchantId)).toSorted()).toEqual(['delivered', 'pending']);
});

test('E6, E7: eleven attempts with the same id and bytes, each with a new signature, 2 to 1,024 minutes apart', async () => {
  const merchant = await service.createMerchant();
  const { url } = await addEndpoint(service, merchant);
  receivers.behave(url, () => 503);
  await makeEvent(merchant);
  for (let n = 1; n <= 11; n++) {
    await until(`attempt ${n}`, async () => {
      const [delivery] = await deliveriesOf(service, merchant.merchantId);
      return delivery?.attempts.length === n;
    });
    const [delivery] = await deliveriesOf(service, merchant.merchantId);
    if (n <= 10) {
      const began = delivery?.attempts.at(-1)?.at ?? 0;
      expect(Number(delivery?.due_at) - began).toBe(2 ** n * MINUTE);
      // A moment before it is due nothing is sent.
      await merchant.sdk.testHelpers.advanceClock(2 ** n * MINUTE - 20);
      expect(receivers.at(url).length).toBe(n);
      await merchant.sdk.testHelpers.advanceClock(20);
    }
  }
  expect(await statusesOf(merchant.merchantId)).toEqual(['exhausted']);
  const sent = receivers.at(url);
  expect(sent.length).toBe(11);
  expect(new Set(sent.map(({ eventId }) => eventId)).size).toBe(1);
  expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
  expect(new Set(sent.map(({ headers }) => headers['X-Service-Nonce'])).size).toBe(11);
  // Timestamps are real time, whatever the merchant's clock, so that receivers accept them.
  for (const one of sent) verified(one, merchant.secretKey);
});

test('E6: other 4xx and redirects end it at once; 429, 5xx and no answer are retried', async () => {
  const merchant = await service.createMerchant();
  const answers = [400, 401, 404, 410, 301, 304, 307, 429, 500, 599] as const;
  const failures = ['timeout', 'dns', 'connection', 'tls', 'address_denied', 'protocol'] as const;
  const expected = new Map<string, string>();
  for (const status of answers) {
    const { url, endpointId } = await addEndpoint(service, merchant);
    receivers.behave(url, () => status);
    expected.set(endpointId, status === 429 || status >= 500 ? 'pending' : 'failed');
  }
  for (const failure of failures) {
    const { url, endpointId } = await addEndpoint(service, merchant);
    receivers.behave(url, () => ({ failure }));
    expected.set(endpointId, 'pending');
  }
  await makeEvent(merchant);
  await until('all have been tried', async () => {
    const all = await deliveriesOf(service, merchant.merchantId);
    return all.length === expected.size && all.every(({ attempts }) => attempts.length === 1);
  });
  const deliveries = await deliveriesOf(service, merchant.merchantId);
  expect(new Map(deliveries.map((d) => [d.endpoint_id, d.status]))).toEqual(expected);
  const countOf = (failure: string) =>
    deliveries.filter(({ attempts }) => attempts[0]?.failure === failure).length;
  expect(failures.map(countOf)).toEqual(failures.map(() => 1));
  expect([countOf('redirect'), countOf('http_status')]).toEqual([3, 7]);
});

test('first tries start in order of creation, ten at most at a time, and none waits for an answer', async () => {
  const merchant = await service.createMerchant();
  const { url } = await addEndpoint(service, merchant);
  const held: (() => void)[] = [];
  receivers.behave(url, async (_received, _nth) => {
    await new Promise<void>((resolve) => held.push(resolve));
    return 200;
  });
  const batches: string[] = [];
  for (let i = 0; i < 25; i++) batches.push(await makeEvent(merchant));
  await until('ten are in flight', () => receivers.at(url).length === 10);
  while (receivers.at(url).length < 25 || held.length > 0) {
    held.shift()?.();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await until('all are delivered', async () =>
    (await statusesOf(merchant.merchantId)).every((status) => status === 'delivered'),
  );
  expect(receivers.mostInFlight.get(url)).toBe(10);
  const order = receivers.at(url).map(({ body }) => JSON.parse(body).data.object.batch_id);
  expect(order).toEqual(batches);
});

test('events of one change are started in the order of the change', async () => {
  const merchant = await service.createMerchant();
  const { url } = await addEndpoint(service, merchant, ['*']);
  const { merchantId, storeId } = merchant;
  // In order of names the resources would be reversed; one of them occurs twice.
  const changes = [
    { type: 'payment.completed', resource: 'pay_9' },
    { type: 'invoice.paid', resource: 'in_5' },
    { type: 'subscription.updated', resource: 'a_1' },
    { type: 'invoice.created', resource: 'in_0' },
    { type: 'subscription.canceled', resource: 'a_1' },
  ] as const;
  for (let change = 1; change <= 5; change++) {
    const nowMs = service.app.clock.nowMs();
    const common = { merchantId, storeId, livemode: false, before: null, after: { change }, nowMs };
    const nowSeconds = Math.floor(nowMs / 1000);
    await transact(service.app.db, (tx) =>
      recordEvents(
        tx,
        changes.map((one) => ({ ...common, ...one, nowSeconds })),
      ),
    );
  }
  const expected = [1, 2, 3, 4, 5].flatMap((change) => changes.map(({ type }) => `${change} ${type}`));
  await until('all have come', () => receivers.at(url).length >= expected.length);
  const came = receivers.at(url).map(({ body }) => JSON.parse(body));
  expect(came.map(({ type, data }) => `${data.object.change} ${type}`)).toEqual(expected);
});

test('fault 38, E5: events reach a healthy endpoint at once while attempts of its own and of others hang', async () => {
  const merchant = await service.createMerchant();
  const healthy = await addEndpoint(service, merchant);
  const open: (() => void)[] = [];
  const hang = () => new Promise<number>((resolve) => open.push(() => resolve(200)));
  for (let i = 0; i < 40; i++) receivers.behave((await addEndpoint(service, merchant)).url, hang);
  receivers.behave(healthy.url, (_received, _nth) => (receivers.at(healthy.url).length === 1 ? hang() : 200));
  await makeEvent(merchant);
  await until('everybody hangs', () => open.length === 41);
  const startedMs = Date.now();
  await makeEvent(merchant);
  await until('the next event passes the one that hangs', () => receivers.at(healthy.url).length === 2);
  // A generous bound: a wait for the end of a hanging attempt would exceed it.
  expect(Date.now() - startedMs).toBeLessThan(20_000);
  while (open.length > 0) {
    open.shift()?.();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await until('all ends', async () =>
    (await statusesOf(merchant.merchantId)).every((s) => s === 'delivered'),
  );
});

test('E9: an endpoint that has failed for five days is disabled, and its deliveries are paused', async () => {
  const impatient = await startService({ worker: true, receive: receivers.post, disableAfterSeconds: 0 });
  const merchant = await impatient.createMerchant();
  const { url, endpointId } = await addEndpoint(impatient, merchant);
  receivers.behave(url, () => 500);
  const other = await merchant.sdk.webhookEndpoints.create({
    url: 'https://owner.example/',
    types: ['webhook_endpoint.disabled'],
  });
  for (let i = 0; i < 12; i++) await makeEvent(merchant);
  const state = async () =>
    await impatient.app.db
      .selectFrom('webhook_endpoint')
      .selectAll()
      .where('endpoint_id', '=', endpointId)
      .executeTakeFirstOrThrow();
  await until('it is disabled', async () => (await state()).status === 'disabled');
  expect(await state()).toMatchObject({ disabled_reason: 'failing' });
  await until('another endpoint of the store gets the event', () => receivers.at(other.url).length === 1);
  const [told] = receivers.at(other.url);
  expect(told && verified(told, merchant.secretKey)).toMatchObject({
    type: 'webhook_endpoint.disabled',
    data: {
      object: { url, status: 'disabled', disabled_reason: 'failing' },
      previous_attributes: { status: 'enabled', disabled_reason: null },
    },
  });
  const waiting = async () =>
    (await deliveriesOf(impatient, merchant.merchantId)).filter((row) => row.endpoint_id === endpointId);
  await until('all its deliveries wait', async () =>
    (await waiting()).every(({ status }) => status === 'paused'),
  );
  await makeEvent(merchant);
  await until('later events wait too', async () => {
    const all = await waiting();
    return all.length === 13 && all.every(({ status }) => status === 'paused');
  });
  await impatient.stop();
});
