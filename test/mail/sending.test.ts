import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { queueMail } from '../../packages/server/src/mail/index.ts';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import * as stores from '../../packages/server/src/stores/index.ts';
import { merchantTime } from '../../packages/server/src/tenancy/index.ts';
import { startWorkers } from '../../packages/server/src/workers.ts';
import { NodeUnderTest } from '../faults/node-under-test.ts';
import { startService, type TestService } from '../service.ts';
import { refusal, startMailServer, type TestMailServer } from './mail-server.ts';

const ADA = 'ada@example.com';
const WAIT = { timeout: 60_000 };

const masterKey = randomBytes(32);
let service: TestService;
let closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  // Without workers: each test starts its own.
  service = await startService({ masterKey });
});
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
  closing = [];
});
afterAll(() => service.stop());

/** A merchant of real money. */
async function liveMerchant() {
  const { app } = service;
  const merchant = await stores.createMerchant(app, { name: `Live ${randomUUID()}`, mode: 'live' });
  const { merchantId } = merchant;
  const storeId = await stores.createStore(app, { merchantId, name: 'Honey', channelType: 'api' });
  const time = merchantTime(app, await stores.getMerchant(app.db, merchantId));
  const queue = async (about: string) =>
    await transact(app.db, (tx) =>
      queueMail(tx, { merchantId, storeId }, time, {
        kind: 'refund_paid',
        about,
        to: ADA,
        values: { amount: '5.00 USDT' },
        rows: { amount: '5.00 USDT' },
        link: { to: 'payment', path: '/checkout/x' },
      }),
    );
  const read = async () =>
    await app.db
      .selectFrom('mail')
      .selectAll()
      .where('merchant_id', '=', merchantId)
      .orderBy('mail_id')
      .execute();
  const states = async () => (await read()).map(({ status }) => status);
  return { merchantId, queue, read, states };
}

async function mailServer(...given: Parameters<typeof startMailServer>): Promise<TestMailServer> {
  const server = await startMailServer(...given);
  closing.push(() => server.stop());
  return server;
}

/** A worker in a process of its own, with that mail server. */
async function workerWith({ port }: Pick<TestMailServer, 'port'>): Promise<NodeUnderTest> {
  const worker = await NodeUnderTest.open({
    role: 'work',
    name: 'mailer',
    databaseUrl: service.app.databaseUrl,
    chainUrl: service.app.databaseUrl,
    masterKey: masterKey.toString('hex'),
    env: {
      FLORIN_SMTP_URL: `smtp://127.0.0.1:${port}`,
      FLORIN_MAIL_FROM: 'Florin <no-reply@pay.example>',
      FLORIN_PUBLIC_URL: 'https://pay.example',
    },
  });
  closing.push(() => worker.close());
  return worker;
}

/** A mail whose worker has died at a point of sending it. */
async function dyingAt(crashPoint: string) {
  const server = await mailServer();
  const { queue, states } = await liveMerchant();
  const worker = await workerWith(server);
  await worker.start({ crashPoint });
  await queue('r-1');
  await worker.ended;
  return { server, states, worker };
}

test('a mail of real money is sent once, with links of this service, and the log has no address', async () => {
  const server = await mailServer();
  const { queue, states } = await liveMerchant();
  const worker = await workerWith(server);
  await worker.start();
  await queue('r-1');
  await queue('r-1');
  await expect.poll(states, WAIT).toEqual(['sent']);
  expect(server.taken.map(({ to }) => to)).toEqual([[ADA]]);
  expect(server.taken[0]?.raw).toContain('https://pay.example/checkout/x');
  expect(worker.log.join('\n')).not.toContain(ADA);
});

test.each(['mail.before-connection', 'mail.before-mark'])(
  'a worker that dies at %s has sent nothing, and the next one sends it once',
  async (crashPoint) => {
    const { server, states, worker } = await dyingAt(crashPoint);
    expect(server.taken).toEqual([]);
    await worker.start();
    await expect.poll(states, WAIT).toEqual(['sent']);
    expect(server.taken).toHaveLength(1);
  },
);

test.each(['mail.marked', 'mail.answered'])(
  'a worker that dies at %s may have sent it: it is not sent again, and shown as unconfirmed',
  async (crashPoint) => {
    const { server, states, worker } = await dyingAt(crashPoint);
    await worker.start();
    await expect.poll(states, WAIT).toEqual(['unconfirmed']);
    expect(server.taken.length).toBe(crashPoint === 'mail.answered' ? 1 : 0);
  },
);

test('a mail that the server defers is sent later', async () => {
  let isAway = true;
  const server = await mailServer({}, ({ to }) => {
    if (to.includes(ADA) && isAway) throw refusal(451, 'come back later');
  });
  const { merchantId, queue, read, states } = await liveMerchant();
  const worker = await workerWith(server);
  await worker.start();
  await queue('r-1');
  await expect.poll(async () => (await read())[0]?.error, WAIT).toContain('451');
  expect(await states()).toEqual(['pending']);
  isAway = false;
  await service.app.db
    .updateTable('job')
    .set({ due_at_ms: 0 })
    .where('merchant_id', '=', merchantId)
    .where('kind', '=', 'mail.send')
    .execute();
  await expect.poll(states, WAIT).toEqual(['sent']);
  expect((await read())[0]?.attempts).toBe(2);
});

test('an address that the mail server refuses is given up at once', async () => {
  const server = await mailServer({
    onRcptTo: (_address, _session, done) => done(refusal(550, 'no such user')),
  });
  const { queue, read, states } = await liveMerchant();
  await (await workerWith(server)).start();
  await queue('r-1');
  await expect.poll(states, WAIT).toEqual(['failed']);
  expect((await read())[0]).toMatchObject({ attempts: 1, error: expect.stringContaining('550') });
});

test('without a mail server nothing is sent, and the log of mails says so', async () => {
  const { queue, states } = await liveMerchant();
  const worker = await startWorkers(service.app);
  closing.push(() => worker.stop(1_000));
  await queue('r-1');
  await expect.poll(states, WAIT).toEqual(['off']);
});
