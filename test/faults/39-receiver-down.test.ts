import { afterAll, beforeAll, expect, test } from 'vitest';
import { scaled } from '../scale.ts';
import { startService, type TestService } from '../service.ts';
import { deliveriesOf, makeEvent, until, untilPublished } from '../webhooks/endpoints.ts';
import { type Behaviour, type Received, Receivers, verified } from '../webhooks/receiver.ts';

const HOURS_DOWN = 48;
const NEWS_AN_HOUR = scaled(50, 1);
const HOUR = 3_600;
/** An endpoint that keeps failing is asked one thing at a time. */
const POLL = { withinMs: scaled(300_000, 60_000), everyMs: scaled(250, 10) };
/** Past the longest pause between two attempts. */
const LAST_RETRY = 1_024 * 60;

let service: TestService;
const receivers = new Receivers();

beforeAll(async () => {
  service = await startService({ worker: true, receive: receivers.post });
});
afterAll(() => service.stop());

test(`fault 39, E9: a receiver is down for ${HOURS_DOWN} h, then what failed and what is missing is sent by range: every event arrives`, {
  timeout: scaled(2_400_000, 240_000),
}, async () => {
  const merchant = await service.createMerchant();
  const { sdk } = merchant;
  const open = (name: string) =>
    sdk.webhookEndpoints.create({ url: `https://${name}.example/`, types: ['payout_batch.updated'] });
  const before = await open('before');
  let isDown = true;
  const arrived: Received[] = [];
  const receive: Behaviour = (received) => {
    if (isDown) return { failure: 'connection' };
    arrived.push(received);
    return 200;
  };
  receivers.behave(before.url, receive);
  const since = await sdk.testHelpers.now();
  const statuses = async () => {
    const all: string[] = [];
    for await (const { status } of sdk.deliveries.list({ endpoint_id: before.id, limit: 100 }))
      all.push(status);
    return all;
  };

  const batches: string[] = [];
  for (let hour = 0; hour < HOURS_DOWN; hour++) {
    for (let n = 0; n < NEWS_AN_HOUR; n++) batches.push(await makeEvent(merchant));
    const now = await sdk.testHelpers.advanceClock(HOUR);
    await untilPublished(service, merchant.merchantId);
    // The clock waits for no webhook: an attempt that is made late moves those after it.
    const isTried = ({ due_at, status }: { due_at: bigint | number; status: string }) =>
      status !== 'pending' || Number(due_at) > now;
    const isAllTried = async () => (await deliveriesOf(service, merchant.merchantId)).every(isTried);
    await until('what is due is tried', isAllTried, POLL);
  }
  // Retries 1 to 10 take 34 h: the oldest are given up by now, and the youngest go on by themselves.
  await until('the first are exhausted', async () => (await statuses()).at(-1) === 'exhausted', POLL);
  expect(await statuses()).toContain('pending');
  // An endpoint of another address, which the merchant opens in its need: it has had nothing of all this.
  const after = await open('after');
  receivers.behave(after.url, receive);
  isDown = false;

  const failed = await sdk.webhookEndpoints.redeliver(before.id, { since, which: 'failed' });
  expect(failed.count).toBeGreaterThan(0);
  const missing = await sdk.webhookEndpoints.redeliver(after.id, { since, which: 'missing' });
  expect(missing.count).toBe(batches.length);
  await sdk.testHelpers.advanceClock(LAST_RETRY);
  const isAllDelivered = async () => (await statuses()).every((status) => status === 'delivered');
  await until('nothing waits any more', isAllDelivered, POLL);
  const at = (url: string) => arrived.filter((one) => one.url === url);
  await until('the other one has all', () => at(after.url).length === batches.length);

  for (const { url } of [before, after]) {
    expect(at(url)).toHaveLength(batches.length);
    const events = at(url).map((one) => verified(one, merchant.secretKey));
    const news = new Set(events.map(({ data }) => (data.object as { batch_id: string }).batch_id));
    expect(news).toEqual(new Set(batches));
  }
  // Sent again it is the same to the receiver: nothing is left to be sent by either range.
  for (const which of ['failed', 'missing'] as const) {
    expect((await sdk.webhookEndpoints.redeliver(before.id, { since, which })).count).toBe(0);
    expect((await sdk.webhookEndpoints.redeliver(after.id, { since, which })).count).toBe(0);
  }
});
