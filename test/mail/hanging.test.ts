import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAIL_SETTINGS, queueMail } from '../../packages/server/src/mail/index.ts';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import * as stores from '../../packages/server/src/stores/index.ts';
import { merchantTime } from '../../packages/server/src/tenancy/index.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { startService, type TestService } from '../service.ts';

const WAIT = { timeout: 60_000 };
const MAILS = 200;
/** What a process holds at once, as docs/mail.md has it. */
const HELD_MAX = 20;

let service: TestService;
let delivered = 0;
const sockets = new Set<Socket>();
/** Takes connections and says nothing. */
const silent = createServer((socket) => {
  sockets.add(socket.on('error', () => {}));
});

beforeAll(async () => {
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const receive = async () => {
    delivered += 1;
    return { failure: null, status: 200, response: Buffer.from('') };
  };
  const mailServer = {
    host: '127.0.0.1',
    port,
    isTls: false,
    user: undefined,
    password: undefined,
    from: { name: 'Florin', address: 'no-reply@pay.example' },
    publicUrl: 'https://pay.example',
  };
  service = await startService({ worker: true, receive, mailServer });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await service?.stop();
  silent.close();
});

test('a mail server that says nothing holds a few mails, and no webhook and no payment waits for it', async () => {
  const { app } = service;
  const live = await stores.createMerchant(app, { name: 'Live', mode: 'live' });
  const { merchantId } = live;
  const storeId = await stores.createStore(app, { merchantId, name: 'Honey', channelType: 'api' });
  const time = merchantTime(app, await stores.getMerchant(app.db, merchantId));
  await transact(app.db, async (tx) => {
    for (let i = 0; i < MAILS; i++)
      await queueMail(tx, { merchantId, storeId }, time, {
        kind: 'refund_paid',
        about: `r-${i}`,
        to: 'ada@example.com',
        values: { amount: '5.00 USDT' },
        rows: {},
        link: null,
      });
  });
  await expect.poll(() => sockets.size, WAIT).toBeGreaterThan(0);

  const shop = await service.createMerchant();
  await writeSetting(app.db, shop.merchantId, MAIL_SETTINGS.notify, []);
  await shop.sdk.webhookEndpoints.create({ url: 'https://shop.invalid/hooks' });
  const { id } = await shop.sdk.checkout.sessions.create({ amount: 1_000_000n, currency: 'USDT' });
  await shop.sdk.testHelpers.checkout.sessions.pay(id, { currency: 'USDT', network: 'erc20' });
  const status = async () => (await shop.sdk.checkout.sessions.retrieve(id)).status;
  await expect.poll(status, WAIT).toBe('completed');
  await expect.poll(() => delivered, WAIT).toBeGreaterThan(0);

  const jobs = await app.db
    .selectFrom('job')
    .select('lease_owner')
    .where('merchant_id', '=', merchantId)
    .where('kind', '=', 'mail.send')
    .execute();
  expect(jobs).toHaveLength(MAILS);
  const held = jobs.filter((job) => job.lease_owner !== null).length;
  expect(held).toBeGreaterThan(0);
  expect(held).toBeLessThanOrEqual(HELD_MAX);

  for (const socket of sockets) socket.destroy();
  const deferred = /florin_mail_attempt_duration_seconds_count\{status="pending"\} [1-9]/;
  await expect.poll(() => app.metrics.text(), WAIT).toMatch(deferred);
});
