import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { receiptOf } from '../mail/receipt.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { type Answer, type SignedOptions, send } from '../signed-request.ts';
import { addInvoice, addPaymentMethod, addSubscription } from '../subscriptions/rows.ts';
import { expectError, withoutIds } from './expect-error.ts';
import { type Api, callOf, loadApi, type Operation, resourcesOf } from './operations.ts';

const BATCHES = '/api/v1/payout-batches';

let service: TestService;
let api: Api;
/** Asks. */
let ann: TestMerchant;
/** Owns. */
let bob: TestMerchant;
/** Ids of a merchant's resources, by the name of the path's parameter. */
type Ids = Record<string, string>;
let idsOfAnn: Ids;
let idsOfBob: Ids;
/** Texts that only Bob may ever receive. */
const CANARY = `canary-${randomUUID()}`;

/** One of each resource that a path can name. A new kind of id in the API document fails here until it is made. */
async function makeResources(merchant: TestMerchant, text: string, amount = '5.00'): Promise<Ids> {
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const items = [
    { network: 'erc20', address: erc20.succeed, amount, real_name: text, memo: text },
    { network: 'erc20', address: erc20.succeed, amount: '1.00' },
  ];
  const created = await send(`${service.baseUrl}${BATCHES}`, merchant, {
    body: JSON.stringify({ currency: 'USDT', description: text, items }),
    headers: { 'idempotency-key': text },
  });
  const batchId = String(created.json.batch_id);
  const list = await send(`${service.baseUrl}${BATCHES}/${batchId}/items`, merchant);
  const [item] = list.json.data as { item_id: string }[];
  const events = await send(`${service.baseUrl}/api/v1/events`, merchant);
  const [event] = events.json.data as { id: string }[];
  const endpoint = await merchant.sdk.webhookEndpoints.create({ url: `https://shop.invalid/${text}` });
  const delivery = await merchant.sdk.webhookEndpoints.test(endpoint.id);
  const session = await send(`${service.baseUrl}/api/v1/checkout/sessions/create`, merchant, {
    body: JSON.stringify({ amount: 1_234, currency: 'USD', description: text, metadata: { text } }),
  });
  const customer = await merchant.sdk.customers.create({
    external_customer_id: `${text}-${randomUUID()}`,
    name: text,
  });
  const paid = await send(`${service.baseUrl}/api/v1/checkout/sessions/create`, merchant, {
    body: JSON.stringify({ amount: 7_654_321, currency: 'USDT' }),
  });
  const pay = `${service.baseUrl}/api/v1/test_helpers/checkout/sessions/${String(paid.json.id)}/pay`;
  await send(pay, merchant, { body: JSON.stringify({ currency: 'USDT', network: 'erc20' }) });
  const refundId = `re_${randomUUID().replaceAll('-', '').slice(0, 26)}`;
  const refund = {
    refund_id: refundId,
    payment_id: paid.json.payment_id,
    address: erc20.succeed,
    reason: text,
    metadata: { text },
  };
  await send(`${service.baseUrl}/api/v1/refunds/create`, merchant, { body: JSON.stringify(refund) });
  const mail = await receiptOf(merchant, `${text}@shop.example`);
  const link = await merchant.sdk.paymentLinks.create({ amount: 777n, currency: 'USD', description: text });
  const subscription = await addSubscription(service, merchant, {
    customer: `${text}-subscriber`,
    description: text,
    metadata: { text },
  });
  const invoice = await addInvoice(service, subscription.row);
  const method = await addPaymentMethod(service, subscription.row, { metadata: { text } });
  return {
    payment_method_id: method.id,
    subscription_id: subscription.id,
    invoice_id: invoice.id,
    customer_id: customer.id,
    payment_link_id: link.id,
    batch_id: batchId,
    item_id: item?.item_id ?? '',
    event_id: event?.id ?? '',
    endpoint_id: endpoint.id,
    delivery_id: delivery.id,
    mail_id: mail.id,
    refund_id: refundId,
    session_id: String(session.json.id),
    payment_id: String(session.json.payment_id),
  };
}

beforeAll(async () => {
  service = await startService({ worker: true });
  api = await loadApi(service.baseUrl);
  ann = await service.createMerchant();
  bob = await service.createMerchant();
  idsOfAnn = await makeResources(ann, `of-ann-${randomUUID()}`);
  idsOfBob = await makeResources(bob, CANARY, '77.77');
});
afterAll(() => service.stop());

const named = () => api.operations.filter((operation) => resourcesOf(operation).length > 0);
const call = (operation: Operation, ids: Ids, sender = ann) => {
  const { url, options } = callOf(service.baseUrl, api, operation, ids);
  return send(url, sender, options);
};

/** Ids that name nothing: unknown, and malformed in many ways, as they are to stand in a path. */
function wrongIds(foreign: string): string[] {
  const [prefix = ''] = foreign.split('_');
  return [
    `${prefix}_00000000000000000000000000`,
    `${prefix}_7zzzzzzzzzzzzzzzzzzzzzzzzz`,
    `${prefix}_zzzzzzzzzzzzzzzzzzzzzzzzzz`,
    foreign.slice(0, -1),
    `${foreign}0`,
    foreign.toUpperCase(),
    foreign.split('_')[1] ?? '',
    randomUUID(),
    '0',
    '-1',
    'null',
    'undefined',
    '%00',
    '%ff',
    '%zz',
    '%',
    '%2e%2e%2f',
    '..%2f..',
    '*',
    '%20',
    "'%20or%201=1%20--",
    '%F0%9F%92%B8',
    '<script>',
    'x'.repeat(300),
    'x'.repeat(10_000),
  ];
}

test('C1: every resource of a path has an owner in these tests', () => {
  for (const operation of named()) {
    for (const name of resourcesOf(operation)) {
      expect([operation.operationId, name, idsOfBob[name] ?? 'made by nobody']).toEqual([
        operation.operationId,
        name,
        expect.stringMatching(/^[a-z]+_[0-9a-z]{26}$/),
      ]);
    }
  }
  expect(named().length).toBeGreaterThan(5);
});

/** Collections whose resources belong to the merchant; those of all others belong to a store. */
const OF_THE_MERCHANT = ['payout-batches', 'customers', 'mails', 'payment_method', 'payment_methods'];

test("C1: its owner reads it, and the merchant's other store too, or it is 403 there", async () => {
  const otherStore = await service.addStore(bob);
  for (const operation of named().filter(({ method }) => method === 'GET')) {
    const owned = await call(operation, idsOfBob, bob);
    expect([operation.operationId, owned.status]).toEqual([operation.operationId, 200]);
    const answer = await call(operation, idsOfBob, otherStore);
    const collection = operation.path.split('/')[3] ?? '';
    if (OF_THE_MERCHANT.includes(collection)) expect(answer.json).toEqual(owned.json);
    else expectError(answer, operation.path, { status: 403, code: null });
  }
});

test("C2: lists of a store's resources show the key's own store", async () => {
  const otherStore = await service.addStore(bob);
  for (const name of [
    'listEvents',
    'listWebhookEndpoints',
    'listDeliveries',
    'listPaymentLinks',
    'listPayments',
    'listCheckoutSessions',
    'listRefunds',
    'listSubscriptions',
    'listInvoices',
  ]) {
    const list = operationOf(name);
    expect((await call(list, {}, bob)).json.data).not.toEqual([]);
    expect((await call(list, {}, otherStore)).json.data).toEqual([]);
  }
});

test('C1, fault 32: a foreign, an unknown and a malformed id are the same 404, on every call', async () => {
  for (const operation of named()) {
    for (const name of resourcesOf(operation)) {
      const foreign = idsOfBob[name] ?? '';
      const { path } = callOf('', api, operation, idsOfAnn);
      const answers = await Promise.all(
        [foreign, ...wrongIds(foreign)].map((id) => call(operation, { ...idsOfAnn, [name]: id })),
      );
      for (const answer of answers) expectError(answer, path, { status: 404, code: 'resource_not_found' });
      const texts = new Set(answers.map((answer) => withoutIds(answer)));
      expect([operation.operationId, name, texts.size]).toEqual([operation.operationId, name, 1]);
    }
  }
});

test("C1: what a foreign call asked for did not happen: the owner's resources are as they were", async () => {
  const batch = await call(operationOf('retrievePayoutBatch'), idsOfBob, bob);
  const item = await call(operationOf('retrievePayoutItem'), idsOfBob, bob);
  const endpoint = await call(operationOf('retrieveWebhookEndpoint'), idsOfBob, bob);
  // Of deliveries, a call adds the test of an endpoint alone; those of Bob's own events come meanwhile.
  const endpointTests = async () =>
    (await bob.sdk.events.list({ type: 'webhook_endpoint.test' }).page()).data.map(({ id }) => id);
  const before = await endpointTests();
  for (const operation of named()) await call(operation, idsOfBob);
  expect((await call(operationOf('retrievePayoutBatch'), idsOfBob, bob)).json).toEqual(batch.json);
  expect((await call(operationOf('retrievePayoutItem'), idsOfBob, bob)).json).toEqual(item.json);
  expect((await call(operationOf('retrieveWebhookEndpoint'), idsOfBob, bob)).json).toEqual(endpoint.json);
  expect(before).toHaveLength(1);
  expect(await endpointTests()).toEqual(before);
  expect(batch.json.status).toBe('draft');
});

function operationOf(operationId: string): Operation {
  const operation = api.operations.find((one) => one.operationId === operationId);
  if (operation === undefined) throw new Error(`there is no operation ${operationId}`);
  return operation;
}

test("C1: an item of the merchant's other batch is 404", async () => {
  const other = await makeResources(ann, `other-${randomUUID()}`);
  const answer = await call(operationOf('retrievePayoutItem'), { ...idsOfAnn, item_id: other.item_id ?? '' });
  expectError(answer, BATCHES, { status: 404, code: 'resource_not_found' });
});

test("C1: payout batches and balances belong to the merchant: its other store's key reads and acts", async () => {
  const other = await service.addStore(ann);
  const made = await makeResources(ann, `shared-${randomUUID()}`);
  const canceled = await call(operationOf('cancelPayoutBatch'), made, other);
  expect(canceled.json.status).toBe('canceled');
  const balances = operationOf('retrieveBalances');
  // A worker may be sending what was made: two reads can differ.
  const isSame = async () =>
    isDeepStrictEqual((await call(balances, {}, other)).json, (await call(balances, {})).json);
  await expect.poll(isSame).toBe(true);
});

/** Each parameter gets the text that is meant for it, and by turns one in so many of the others. */
const TEXTS_IN_TURN = 4;

/** Everything that Ann can think of asking, with her ids, Bob's ids and Bob's texts in every place. */
function* questions(): Generator<[url: string, options: SignedOptions]> {
  const texts = [CANARY, ...Object.values(idsOfBob), bob.merchantId, bob.storeId, bob.keyId];
  let turn = 0;
  for (const operation of api.operations) {
    for (const ids of [idsOfAnn, idsOfBob]) {
      const { url, options } = callOf(service.baseUrl, api, operation, ids);
      yield [url, options];
      // With Bob's ids in its path a question ends there, whatever else it asks.
      if (operation.method !== 'GET' || ids === idsOfBob) continue;
      for (const { name, in: place } of operation.parameters) {
        if (place !== 'query') continue;
        turn++;
        const own = texts.filter((text, at) => text === idsOfBob[name] || (at + turn) % TEXTS_IN_TURN === 0);
        for (const text of own) yield [`${url}?${name}=${encodeURIComponent(text)}`, options];
      }
      if (!operation.parameters.some(({ name }) => name === 'limit')) continue;
      yield [`${url}?limit=100`, options];
      yield [url, { ...options, headers: { accept: 'text/csv' } }];
    }
  }
}

/** Bytes of an answer without what the question itself said. */
function unasked(answer: Answer, url: string, options: SignedOptions): string {
  const asked = [url, decodeURIComponent(url), String(options.body ?? '')].join(' ');
  const all = `${JSON.stringify([...answer.headers])} ${answer.text}`;
  return secretsOfBob().reduce(
    (text, secret) => (asked.includes(secret) ? text.replaceAll(secret, '') : text),
    all,
  );
}

const secretsOfBob = () => [
  CANARY,
  '77.77',
  '77770000',
  ...Object.values(idsOfBob),
  bob.merchantId,
  bob.merchantId.replaceAll('-', ''),
  bob.storeId,
  bob.keyId,
  bob.apiKey,
  bob.secretKey,
];

test('C2: no byte of another merchant, whatever is requested', async () => {
  await bob.sdk.payouts.submit(idsOfBob.batch_id ?? '');
  await expect
    .poll(async () => (await bob.sdk.payouts.retrieve(idsOfBob.batch_id ?? '')).status, { timeout: 20_000 })
    .toBe('completed');
  const seenByBob = await call(operationOf('retrievePayoutItem'), idsOfBob, bob);
  expect(seenByBob.text).toContain(CANARY);
  const secrets = [...secretsOfBob(), String(seenByBob.json.tx_id)];
  let asked = 0;
  for (const [url, options] of questions()) {
    const answer = await send(url, ann, options);
    const text = unasked(answer, url, options);
    expect([url, secrets.filter((secret) => text.includes(secret))]).toEqual([url, []]);
    expect([url, answer.status < 500]).toEqual([url, true]);
    asked++;
  }
  expect(asked).toBeGreaterThan(500);
}, 120_000);

test("C2: another merchant's cursor is 400, as an unknown one", async () => {
  const cursors: [operationId: string, cursor: string][] = [
    ['listPayoutBatches', idsOfBob.batch_id ?? ''],
    ['listPayoutItems', idsOfBob.item_id ?? ''],
    ['listEvents', idsOfBob.event_id ?? ''],
    ['listWebhookEndpoints', idsOfBob.endpoint_id ?? ''],
    ['listDeliveries', idsOfBob.delivery_id ?? ''],
    ['listCustomers', idsOfBob.customer_id ?? ''],
    ['listMails', idsOfBob.mail_id ?? ''],
    ['listPaymentLinks', idsOfBob.payment_link_id ?? ''],
    ['listInvoices', idsOfBob.invoice_id ?? ''],
    ['listPayments', idsOfBob.payment_id ?? ''],
    ['listCheckoutSessions', idsOfBob.session_id ?? ''],
    ['listRefunds', idsOfBob.refund_id ?? ''],
    ['listPaymentMethods', idsOfBob.payment_method_id ?? ''],
  ];
  const entries = await call(operationOf('listLedgerEntries'), {}, bob);
  cursors.push(['listLedgerEntries', (entries.json.data as { id: string }[])[0]?.id ?? '']);
  for (const [operationId, cursor] of cursors) {
    const { url, path } = callOf(service.baseUrl, api, operationOf(operationId), idsOfAnn);
    const unknown = await send(`${url}?starting_after=${cursor.slice(0, -1)}0`, ann);
    const foreign = await send(`${url}?starting_after=${cursor}`, ann);
    expectError(foreign, path, { status: 400 });
    expect(withoutIds(foreign)).toBe(withoutIds(unknown));
  }
});

test("C2: another merchant's idempotency key finds nothing and binds nothing", async () => {
  const found = await send(`${service.baseUrl}${BATCHES}?idempotency_key=${CANARY}`, ann);
  expect(found.json).toMatchObject({ data: [], has_more: false });
  const mine = await makeResources(ann, CANARY);
  expect(mine.batch_id).not.toBe(idsOfBob.batch_id);
});

test("C2: another merchant's traffic does not fill the rate bucket of this one", async () => {
  const slow = await service.addNode({ rate: { perSecond: 0.001, burst: 3 } });
  const statuses = async (merchant: TestMerchant) => {
    const answers = [];
    for (let n = 0; n < 4; n++) answers.push(await send(`${slow}/api/v1/balances`, merchant));
    return answers.map(({ status }) => status);
  };
  expect(await statuses(bob)).toEqual([200, 200, 200, 429]);
  expect(await statuses(ann)).toEqual([200, 200, 200, 429]);
});
