import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Follower, florin, follow, until } from '../florin-command.ts';
import { openProxy } from '../jobs/cuttable-proxy.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { makeEvent, publisherOf } from './make-event.ts';
import { type LocalReceiver, openReceiver } from './receiver.ts';

const SOON_MS = 60_000;

let service: TestService;
let publish: (merchant: TestMerchant) => Promise<void>;
let merchant: TestMerchant;
let receiver: LocalReceiver;
let folder: string;
const running: Follower[] = [];

beforeAll(async () => {
  service = await startService();
  publish = publisherOf(service);
});
afterAll(() => service.stop());
beforeEach(async () => {
  merchant = await service.createMerchant({ funds: 0n });
  receiver = await openReceiver(merchant.secretKey);
  folder = mkdtempSync(path.join(tmpdir(), 'florin-listen-'));
});
afterEach(async () => {
  for (const { process } of running.splice(0)) process.kill('SIGKILL');
  await receiver.close();
  rmSync(folder, { recursive: true });
});

const envOf = ({ apiKey, secretKey }: TestMerchant, baseUrl = service.baseUrl) => ({
  FLORIN_BASE_URL: baseUrl,
  FLORIN_API_KEY: apiKey,
  FLORIN_SECRET_KEY: secretKey,
  FLORIN_DATA_DIR: folder,
});

/** `florin listen` once it has its position in the stream. */
async function listen(words: readonly string[] = [], baseUrl?: string): Promise<Follower> {
  const follower = follow(['listen', ...words], { env: envOf(merchant, baseUrl) });
  running.push(follower);
  await until(() => follower.process.exitCode !== null || places().length > 0, SOON_MS);
  return follower;
}
const forwardTo = (...words: string[]) => ['--forward-to', receiver.url, ...words];

function places(): string[] {
  try {
    return Object.values(JSON.parse(readFileSync(path.join(folder, 'listen.json'), 'utf8')));
  } catch {
    return [];
  }
}

/** Makes news one after the other. @returns the ids of all events so far, in order */
async function news(count: number): Promise<string[]> {
  for (let i = 0; i < count; i++) {
    await makeEvent(service, merchant, {
      object: { batch_id: 'pb_1', status: 'draft', text: 'Löhne\u2028', i },
    });
    await publish(merchant);
  }
  const ids: string[] = [];
  for await (const { id } of merchant.sdk.events.list()) ids.unshift(id);
  return ids;
}
const gotIds = () => receiver.got.map(({ eventId }) => eventId);
const lines = ({ printed }: Follower) => printed.stdout.split('\n').slice(0, -1);

test('events are forwarded with the bytes and headers of a delivery, and each is a line', async () => {
  const listener = await listen(forwardTo());
  const ids = await news(2);
  await until(() => lines(listener).length === 2, SOON_MS);
  expect(gotIds()).toEqual(ids);
  const [first] = receiver.got;
  expect(receiver.got.map(({ verified }) => verified)).toEqual([true, true]);
  expect(first?.headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'Service-Webhook/1.0',
    'x-service-event-type': 'payout_batch.updated',
  });
  const row = await service.app.db
    .selectFrom('event')
    .select('body')
    .where('number', '=', 1n)
    .where('merchant_id', '=', merchant.merchantId)
    .executeTakeFirstOrThrow();
  expect(first?.body.toString()).toBe(row.body);
  expect(lines(listener)[0]).toMatch(
    /^\d\d:\d\d:\d\d {2}payout_batch\.updated {2}pb_1 \(draft\) {2}evt_\w{26} {2}→ 200 in \d+ ms$/,
  );
  const finished = await listener.stop('SIGINT');
  expect(finished.code).toBe(0);
  expect(finished.stderr).toContain(`ends in ${merchant.secretKey.slice(-4)}`);
  expect(finished.stderr + finished.stdout).not.toContain(merchant.secretKey);
}, 120_000);

test('events during an absence come after the next start, after the forwarded ones', async () => {
  const first = await listen(forwardTo());
  await news(2);
  await until(() => receiver.got.length === 2, SOON_MS);
  await until(() => lines(first).length === 2, SOON_MS);
  await first.stop('SIGTERM');
  const ids = await news(3);
  const second = await listen(forwardTo());
  await until(() => lines(second).length === 3, SOON_MS);
  expect(gotIds()).toEqual(ids);
  expect(second.printed.stderr).toContain(`Ready: events after ${ids[1]} follow`);
  await second.stop('SIGTERM');
  expect(places()).toEqual([ids[4]]);
  expect(statSync(path.join(folder, 'listen.json')).mode & 0o777).toBe(0o600);
}, 120_000);

test('killed before the first event, or during a forward, it loses nothing', async () => {
  const first = await listen(forwardTo());
  await first.stop('SIGKILL');
  await news(1);
  receiver.answer = (nth) => (nth === 2 ? 0 : 200);
  const second = await listen(forwardTo());
  await until(() => receiver.got.length === 1, SOON_MS);
  const ids = await news(1);
  await until(() => receiver.got.length === 2, SOON_MS);
  await second.stop('SIGKILL');
  const third = await listen(forwardTo());
  await until(() => lines(third).length === 1, SOON_MS);
  expect(gotIds()).toEqual([ids[0], ids[1], ids[1]]);
  await third.stop('SIGTERM');
}, 120_000);

test('it reconnects after a broken connection', async () => {
  const line = await openProxy(service.baseUrl);
  const listener = await listen(forwardTo(), line.url.replace(/\/$/, ''));
  await news(1);
  await until(() => receiver.got.length === 1, SOON_MS);
  line.cut();
  await until(() => listener.printed.stderr.includes('trying again'), SOON_MS);
  const ids = await news(2);
  line.mend();
  await until(() => receiver.got.length === 3, SOON_MS);
  expect(gotIds()).toEqual(ids);
  expect(listener.printed.stderr).toContain('Connected again.');
  expect((await listener.stop('SIGINT')).code).toBe(0);
  await line.close();
}, 120_000);

test('a refusal of the receiver is printed and skipped; with --retry later events wait', async () => {
  receiver.answer = (nth) => (nth === 1 ? 503 : 200);
  const listener = await listen(forwardTo());
  await news(2);
  await until(() => lines(listener).length === 2, SOON_MS);
  expect(lines(listener)[0]).toMatch(/→ 503 in \d+ ms: said 503$/);
  const { port } = new URL(receiver.url);
  await receiver.close();
  await news(1);
  await until(() => lines(listener).length === 3, SOON_MS);
  expect(lines(listener)[2]).toMatch(/→ failed \(connection refused: is your server running\?\) in \d+ ms$/);
  await listener.stop('SIGTERM');

  const patient = await listen(forwardTo('--retry'));
  const ids = await news(2);
  await until(() => patient.printed.stderr.includes('again in'), SOON_MS);
  receiver = await openReceiver(merchant.secretKey, Number(port));
  receiver.answer = (nth) => (nth === 1 ? 500 : 200);
  await until(() => lines(patient).length === 2, SOON_MS);
  expect(gotIds()).toEqual([ids[3], ids[3], ids[4]]);
  await patient.stop('SIGTERM');
}, 120_000);

test('options for types, a starting position, and JSON output', async () => {
  const ids = await news(3);
  const started = await listen(['--from-start', '--json']);
  await until(() => lines(started).length === 3, SOON_MS);
  const parsed = lines(started).map((line) => JSON.parse(line));
  expect(parsed.map(({ event_id }) => event_id)).toEqual(ids);
  expect(parsed[0]).toMatchObject({ type: 'payout_batch.updated', resource: 'pb_1', forwarded: null });
  await started.stop('SIGINT');

  const behind = await listen(forwardTo('--after', ids[1] ?? '', '--json'));
  await until(() => lines(behind).length === 1, SOON_MS);
  expect(JSON.parse(lines(behind)[0] ?? '')).toMatchObject({
    event_id: ids[2],
    forwarded: { acknowledged: true, status: 200, failure: null },
  });
  await behind.stop('SIGINT');

  const other = await listen(forwardTo('--types', 'invoice.paid,refund.failed', '--from-start'));
  await until(() => places().includes(ids[2] ?? ''), SOON_MS);
  expect(receiver.got).toHaveLength(1);
  await other.stop('SIGINT');
}, 120_000);

test('a stored position that was deleted is replaced by the oldest one; a requested one is refused', async () => {
  const ids = await news(1);
  const unknown = 'evt_00000000000000000000000000';
  const [event] = (await merchant.sdk.events.list().page()).data;
  writeFileSync(path.join(folder, 'listen.json'), JSON.stringify({ [`${event?.store_id} -`]: unknown }));
  const listener = await listen();
  await until(() => lines(listener).length === 1, SOON_MS);
  expect(lines(listener)[0]).toContain(ids[0]);
  expect(listener.printed.stderr).toContain('no longer stored');
  await listener.stop('SIGTERM');
  const refused = await florin(['listen', '--after', unknown, '--json'], { env: envOf(merchant) });
  expect(refused.code).toBe(1);
  expect(JSON.parse(refused.stderr).error.message).toMatch(/after must be the id of an event/);
}, 120_000);

test('invalid options are refused before any request', async () => {
  const env = envOf(merchant);
  const codes = await Promise.all(
    [
      ['--types', 'payout.created'],
      ['--forward-to', 'ftp://localhost'],
      ['--forward-to', 'http://user:pass@localhost'],
      ['--from-start', '--from-now'],
    ].map(async (words) => (await florin(['listen', ...words], { env })).code),
  );
  expect(codes).toEqual([2, 2, 2, 2]);
  const wrongKey = { ...env, FLORIN_SECRET_KEY: 'fls_test_wrong' };
  const refused = await florin(['listen'], { env: wrongKey });
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/^florin: Authentication failed/),
  ]);
}, 120_000);
