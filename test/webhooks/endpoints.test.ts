import { EVENT_TYPES } from '@florin/contract/schemas';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { WEBHOOK_SETTINGS } from '../../packages/server/src/webhooks/index.ts';
import { expectError } from '../http/expect-error.ts';
import { callbackUrls } from '../own-cases/outbound.ts';
import { type Calls, caller } from '../payouts/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { addEndpoint, makeEvent, until, untilPublished } from './endpoints.ts';
import { Receivers } from './receiver.ts';

const PATH = '/webhook_endpoints';
const URL_OF_SHOP = 'https://shop.example/webhooks';
const BATCH_UPDATED = 'payout_batch.updated';

// Waits are short, but longer on a busy machine.

let service: TestService;
const receivers = new Receivers();
let merchant: TestMerchant;
let calls: Calls;

beforeAll(async () => {
  service = await startService({ worker: true, receive: receivers.post });
  merchant = await service.createMerchant();
  calls = caller(service, merchant);
});
afterAll(() => service.stop());

const refused = (answer: Awaited<ReturnType<Calls['post']>>, param?: string) =>
  expectError(answer, `/api/v1${PATH}`, {
    status: 400,
    code: 'invalid_request_error',
    ...(param === undefined ? {} : { param }),
  });

test('an endpoint has all types unless some are given, and its URL in normal form', async () => {
  const { status, json } = await calls.post(PATH, { url: 'HTTPS://Shop.Example:443/a/../b?c=d' });
  expect(status).toBe(200);
  expect(json).toEqual({
    id: expect.stringMatching(/^we_[0-9a-z]{26}$/),
    object: 'webhook_endpoint',
    store_id: expect.stringMatching(/^store_/),
    url: 'https://shop.example/b?c=d',
    types: ['*'],
    status: 'enabled',
    disabled_reason: null,
    created: expect.any(Number),
  });
  expect((await calls.call(`${PATH}/${String(json.id)}`)).json).toEqual(json);
  const some = await calls.post(PATH, { url: URL_OF_SHOP, types: ['*', BATCH_UPDATED] });
  expect(some.json.types).toEqual(['*', BATCH_UPDATED]);
});

test('POST twice makes two endpoints; the list shows them newest first, in pages', async () => {
  const other = await service.createMerchant();
  const made = [];
  for (let n = 0; n < 5; n++) made.push(await other.sdk.webhookEndpoints.create({ url: URL_OF_SHOP }));
  const ids = made.map(({ id }) => id).reverse();
  const all = [];
  for await (const endpoint of other.sdk.webhookEndpoints.list({ limit: 2 })) all.push(endpoint.id);
  expect(all).toEqual(ids);
  const page = await other.sdk.webhookEndpoints.list({ limit: 2, starting_after: ids[1] ?? '' }).page();
  expect(page).toMatchObject({ object: 'list', has_more: true });
  expect(page.data.map(({ id }) => id)).toEqual(ids.slice(2, 4));
  refused(await calls.call(`${PATH}?starting_after=${ids[0]}`), 'starting_after');
  refused(await calls.call(`${PATH}?starting_after=evt_00000000000000000000000000`), 'starting_after');
});

test('types: 1 to 30 distinct names of the specification or opt-in ones, or *', async () => {
  const wrong: [types: unknown, param: string][] = [
    [[], 'types'],
    [['invoice.payed'], 'types[0]'],
    [['*', 'webhook_endpoint.test'], 'types[1]'],
    [['invoice.paid', 'invoice.paid'], 'types'],
    [Array.from({ length: 31 }, (_, n) => EVENT_TYPES[n % EVENT_TYPES.length]), 'types'],
    ['*', 'types'],
    [null, 'types'],
  ];
  const { id } = await merchant.sdk.webhookEndpoints.create({ url: URL_OF_SHOP });
  for (const [types, param] of wrong) {
    refused(await calls.post(PATH, { url: URL_OF_SHOP, types }), param);
    refused(await calls.post(`${PATH}/${id}/update`, { types }), param);
  }
  expectError(await calls.post(PATH, { types: ['*'] }), PATH, {
    status: 400,
    code: 'parameter_missing',
    param: 'url',
  });
  refused(await calls.post(PATH, { url: URL_OF_SHOP, status: 'enabled' }), 'status');
  refused(await calls.post(`${PATH}/${id}/update`, { status: 'paused' }), 'status');
  expect((await merchant.sdk.webhookEndpoints.retrieve(id)).types).toEqual(['*']);
});

describe('bad inputs', () => {
  const rows = callbackUrls();
  const atSave = rows.filter((row) => row.expect === 'reject_at_save');

  test.each(atSave)('fault 33, E1: $url is refused at save ($why)', async ({ url }) => {
    const { id } = await merchant.sdk.webhookEndpoints.create({ url: URL_OF_SHOP });
    refused(await calls.post(PATH, { url }), 'url');
    refused(await calls.post(`${PATH}/${id}/update`, { url, types: ['invoice.paid'] }), 'url');
    expect(await merchant.sdk.webhookEndpoints.retrieve(id)).toMatchObject({
      url: URL_OF_SHOP,
      types: ['*'],
    });
  });

  test('fault 33: all others are saved or refused without being resolved', async () => {
    for (const { url } of rows.filter((row) => row.expect !== 'reject_at_save')) {
      const answer = await calls.post(PATH, { url });
      expect([url, answer.status === 200 || answer.status === 400]).toEqual([url, true]);
    }
  });
});

test('a URL has at most 2,048 characters, in its normal form too', async () => {
  const long = `${URL_OF_SHOP}/`.padEnd(2_048, 'x');
  expect((await calls.post(PATH, { url: long })).status).toBe(200);
  refused(await calls.post(PATH, { url: `${long}x` }), 'url');
  refused(await calls.post(PATH, { url: `${URL_OF_SHOP}/`.padEnd(2_048, 'é') }), 'url');
});

test('C1: writing needs the scope write, reading needs read', async () => {
  const reader = caller(service, await service.createMerchant({ scopes: ['read'] }));
  const writer = caller(service, await service.createMerchant({ scopes: ['write'] }));
  const made = await writer.post(PATH, { url: URL_OF_SHOP });
  expect(made.status).toBe(200);
  for (const path of [PATH, `${PATH}/x`, '/deliveries', '/deliveries/x'])
    expect([path, (await writer.call(path)).status]).toEqual([path, 403]);
  const posts: [path: string, body: object][] = [
    [PATH, { url: URL_OF_SHOP }],
    [`${PATH}/x/update`, {}],
    [`${PATH}/x/test`, {}],
    [`${PATH}/x/redeliver`, { since: 0, which: 'failed' }],
    ['/deliveries/x/redeliver', {}],
  ];
  for (const [path, body] of posts)
    expect([path, (await reader.post(path, body)).status]).toEqual([path, 403]);
});

test('concurrent creates at the limit: only those within it succeed', async () => {
  const other = await service.createMerchant();
  await writeSetting(service.app.db, other.merchantId, WEBHOOK_SETTINGS.endpointsMax, 3);
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => caller(service, other).post(PATH, { url: URL_OF_SHOP })),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    refused(answer);
    expect(answer.text).toContain('at most 3 webhook endpoints');
  }
  expect((await other.sdk.webhookEndpoints.list().page()).data).toHaveLength(3);
  // Another store of the merchant has a limit of its own.
  const store = await service.addStore(other);
  await store.sdk.webhookEndpoints.create({ url: URL_OF_SHOP });
});

test('an update changes the given fields; an empty one, or one with the same values, changes nothing', async () => {
  const { webhookEndpoints } = merchant.sdk;
  const made = await webhookEndpoints.create({ url: URL_OF_SHOP });
  expect(await webhookEndpoints.update(made.id, {})).toEqual(made);
  expect(await webhookEndpoints.update(made.id, { status: 'enabled' })).toEqual(made);
  const other = await webhookEndpoints.update(made.id, {
    url: 'https://other.example',
    types: [BATCH_UPDATED],
  });
  expect(other).toEqual({ ...made, url: 'https://other.example/', types: [BATCH_UPDATED] });
  const off = await webhookEndpoints.update(made.id, { status: 'disabled' });
  expect(off).toEqual({ ...other, status: 'disabled', disabled_reason: 'by_request' });
  expect(await webhookEndpoints.update(made.id, { status: 'disabled' })).toEqual(off);
  expect(await webhookEndpoints.update(made.id, { status: 'enabled' })).toEqual(other);
});

test('a failing endpoint keeps its reason when it is disabled again, and starts without failures when it is enabled', async () => {
  const { id } = await merchant.sdk.webhookEndpoints.create({ url: URL_OF_SHOP });
  const stored = () =>
    service.app.db.selectFrom('webhook_endpoint').selectAll().orderBy('endpoint_id', 'desc');
  const { endpoint_id } = await stored().executeTakeFirstOrThrow();
  await service.app.db
    .updateTable('webhook_endpoint')
    .set({ status: 'disabled', disabled_reason: 'failing', failures: 12, failing_since_ms: 5 })
    .where('endpoint_id', '=', endpoint_id)
    .execute();
  const off = await merchant.sdk.webhookEndpoints.update(id, { status: 'disabled' });
  expect(off.disabled_reason).toBe('failing');
  await merchant.sdk.webhookEndpoints.update(id, { status: 'enabled' });
  expect(await stored().executeTakeFirstOrThrow()).toMatchObject({ failures: 0, failing_since_ms: null });
});

test('a test event goes to its endpoint alone and does not count for its health', async () => {
  const other = await service.createMerchant();
  await addEndpoint(service, other, ['*', BATCH_UPDATED]);
  const endpoint = await other.sdk.webhookEndpoints.create({ url: 'https://tested.example/' });
  receivers.behave(endpoint.url, () => 404);
  const delivery = await other.sdk.webhookEndpoints.test(endpoint.id);
  expect(delivery).toEqual({
    id: expect.stringMatching(/^whd_[0-9a-z]{26}$/),
    object: 'delivery',
    event_id: expect.stringMatching(/^evt_/),
    endpoint_id: endpoint.id,
    status: 'pending',
    attempts: [],
    next_attempt_at: expect.any(Number),
    created: expect.any(Number),
  });
  const event = await other.sdk.events.retrieve(delivery.event_id);
  expect(event).toMatchObject({ type: 'webhook_endpoint.test', sequence: 1 });
  expect(event.data).toEqual({ object: endpoint, previous_attributes: null });
  const read = () => other.sdk.deliveries.retrieve(delivery.id);
  await until('it has been tried', async () => (await read()).status === 'failed');
  expect((await read()).attempts).toEqual([
    {
      at: expect.any(Number),
      status_code: 404,
      duration_ms: expect.any(Number),
      failure: 'http_status',
      response: 'answered 404',
      request_headers: expect.objectContaining({ 'X-Service-Event-ID': delivery.event_id }),
    },
  ]);
  expect((await read()).next_attempt_at).toBeNull();
  await untilPublished(service, other.merchantId);
  expect((await other.sdk.deliveries.list().page()).data).toHaveLength(1);
  const health = await service.app.db
    .selectFrom('webhook_endpoint')
    .select('failures')
    .where('merchant_id', '=', other.merchantId)
    .execute();
  expect(health).toEqual([{ failures: 0 }, { failures: 0 }]);
});

test('nothing is tested or sent again while the endpoint is disabled', async () => {
  const other = await service.createMerchant();
  const { id, url } = await other.sdk.webhookEndpoints.create({ url: 'https://off.example/' });
  receivers.behave(url, () => 410);
  const delivery = await other.sdk.webhookEndpoints.test(id);
  await until(
    'it failed',
    async () => (await other.sdk.deliveries.retrieve(delivery.id)).status === 'failed',
  );
  await other.sdk.webhookEndpoints.update(id, { status: 'disabled' });
  const own = caller(service, other);
  for (const answer of [
    await own.post(`${PATH}/${id}/test`),
    await own.post(`${PATH}/${id}/redeliver`, { since: 0, which: 'failed' }),
    await own.post(`${PATH}/${id}/redeliver`, { since: 0, which: 'missing' }),
    await own.post(`/deliveries/${delivery.id}/redeliver`),
  ]) {
    refused(answer);
    expect(answer.text).toContain('is disabled');
  }
  await other.sdk.webhookEndpoints.update(id, { status: 'enabled' });
  // Deliveries that had ended do not start again.
  expect((await other.sdk.deliveries.retrieve(delivery.id)).status).toBe('failed');
});

test('events go to the endpoints with their types at the time of publication', async () => {
  const other = await service.createMerchant();
  const { id, url } = await other.sdk.webhookEndpoints.create({ url: 'https://types.example/' });
  await makeEvent(other);
  await untilPublished(service, other.merchantId);
  await other.sdk.webhookEndpoints.update(id, { types: [BATCH_UPDATED] });
  const batchId = await makeEvent(other);
  await until('the second one arrives', () => receivers.at(url).length > 0);
  const arrived = receivers.at(url).map(({ body }) => JSON.parse(body).data.object.batch_id);
  expect(arrived).toEqual([batchId]);
});
