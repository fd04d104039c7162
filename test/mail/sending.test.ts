import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { links, users } from '../../packages/server/src/console/accounts/index.ts';
import { inviteByMail, resetFactorsByMail } from '../../packages/server/src/console/accounts/mails/index.ts';
import { queueMail } from '../../packages/server/src/mail/index.ts';
import { userCommands } from '../../packages/server/src/operator/users.ts';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import * as stores from '../../packages/server/src/stores/index.ts';
import { encodeId, merchantTime } from '../../packages/server/src/tenancy/index.ts';
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

/** An owner of a merchant of real money, who invites by mail. */
async function inviting() {
  const { app } = service;
  const { merchantId, read, states } = await liveMerchant();
  const email = `${randomUUID()}@example.com`;
  const { token, userId } = await users.inviteUser(app, { merchantId, email, role: 'owner' });
  await links.redeemLink(app, { token, password: PASSWORD }, DEVICE);
  const deps = { ...app, mailServer: {} };
  const invite = async (to: string) =>
    await inviteByMail(deps, { merchantId, email: to, role: 'viewer' }, userId);
  const resetFactors = async (of: string) =>
    await resetFactorsByMail(deps, { merchantId, userId: of }, userId);
  return { merchantId, invite, resetFactors, read, states };
}
const PASSWORD = 'gravel-otter-lantern';
const DEVICE = { remoteAddress: '10.9.8.7', userAgent: 'Browser' };
const LINK = /https:\/\/pay\.example\/console\/link#([\w-]{43})/;

test('an invitation is mailed with a link that stands nowhere, and one that a crash has cut off with another link', async () => {
  const server = await mailServer();
  const { invite, read, states } = await inviting();
  const { token, userId } = await invite('Bob@Example.com');
  expect(token).toBeNull();
  const digests = async () =>
    (
      await service.app.db.selectFrom('console_link').select('digest').where('user_id', '=', userId).execute()
    ).map(({ digest }) => digest.toString('hex'));
  const [made] = await digests();
  const worker = await workerWith(server);
  await worker.start({ crashPoint: 'mail.before-mark' });
  await worker.ended;
  const [cutOff] = await digests();
  expect(cutOff).not.toBe(made);
  await worker.start();
  await expect.poll(states, WAIT).toEqual(['sent']);
  const [mail] = server.taken;
  expect(mail?.to).toEqual(['bob@example.com']);
  const [, secret = ''] = LINK.exec(mail?.raw.replaceAll(/=\r?\n/g, '') ?? '') ?? [];
  const [sent] = await digests();
  expect([sent === cutOff, createHash('sha256').update(secret).digest('hex')]).toEqual([false, sent]);
  expect(JSON.stringify((await read()).map(({ view }) => view))).not.toMatch(/link#|sealed/);
  expect(worker.log.join('\n')).not.toMatch(/bob@example|link#/i);
  expect(await links.redeemLink(service.app, { token: secret, password: PASSWORD }, DEVICE)).toMatchObject({
    userId,
  });
});

test('an invitation that was withdrawn is not mailed, and nobody floods an address: then the link is handed over', async () => {
  const server = await mailServer();
  const { merchantId, invite, states } = await inviting();
  const { userId } = await invite('gone@example.com');
  await users.changeRole(service.app, { merchantId, userId, role: null });
  const worker = await workerWith(server);
  await worker.start();
  await expect.poll(states, WAIT).toEqual(['failed']);
  expect(server.taken).toEqual([]);
  const tokens = [];
  for (let i = 0; i < 6; i += 1) {
    tokens.push((await invite(i % 2 === 0 ? 'cy@example.com' : 'CY@example.com')).token);
    if (i === 0) await expect.poll(() => server.taken.length, WAIT).toBe(1);
  }
  expect(tokens).toEqual([null, null, null, null, null, expect.stringMatching(/^[\w-]{43}$/)]);
  // Each replaced the one before, so only what was handed over opens anything.
  await expect.poll(async () => (await states()).includes('pending'), WAIT).toBe(false);
  const secrets = server.taken.map(({ raw }) => LINK.exec(raw.replaceAll(/=\r?\n/g, ''))?.[1] ?? '');
  expect([secrets.length > 0, secrets.includes('')]).toEqual([true, false]);
  for (const token of secrets)
    await expect(links.redeemLink(service.app, { token, password: PASSWORD }, DEVICE)).rejects.toThrow(
      'This link',
    );
});

test('invitations, made or refused, keep nobody from hearing that their factors were reset; refused ones count as none', async () => {
  const { merchantId, invite, resetFactors, states } = await inviting();
  const { userId } = await invite('dora@example.com');
  const [email, other] = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`];
  for (let i = 0; i < 5; i += 1) await invite(email);
  const { token } = await invite(email);
  const dora = await links.redeemLink(service.app, { token: token ?? '', password: PASSWORD }, DEVICE);
  expect(dora).toMatchObject({ userId: expect.any(String) });
  await expect(resetFactors(userId)).rejects.toThrow('Nobody of this id');
  const known = await users.inviteUser(service.app, { merchantId, email: other, role: 'viewer' });
  await links.redeemLink(service.app, { token: known.token, password: PASSWORD }, DEVICE);
  for (let i = 0; i < 6; i += 1) await expect(invite(other)).rejects.toThrow('has a role here already');
  await users.changeRole(service.app, { merchantId, userId: known.userId, role: null });
  expect((await invite(other)).token).toBeNull();
  const before = (await states()).length;
  await resetFactors(Object(dora).userId);
  expect(await states()).toHaveLength(before + 1);
});

test('the command line invites by mail, and shows the link where it is wanted, of the installation, and without a mail server', async () => {
  const { app } = service;
  const { merchantId, read } = await liveMerchant();
  const from = { name: 'Florin', address: 'no-reply@pay.example' };
  const url = 'https://pay.example';
  const mailServer = { host: '127.0.0.1', port: 1, isTls: false, user: undefined, password: undefined, from };
  const mailing = userCommands({ ...app, mailServer: { ...mailServer, publicUrl: url } }, url);
  const to = { merchant: encodeId('merchant', merchantId), email: 'Ida@example.com', role: 'owner' };
  expect(await mailing.invite(to)).toMatchObject({
    email: 'ida@example.com',
    role: 'owner',
    link_token: null,
  });
  const mails = async () =>
    (await read()).map(({ kind, recipient, view }) => ({ kind, recipient, ...view.values }));
  const mail = {
    kind: 'invitation',
    recipient: 'ida@example.com',
    inviter: 'The operator of this service',
    role: 'owner',
  };
  expect(await mails()).toEqual([mail]);
  for (const made of [
    await mailing.invite({ ...to, link: true }),
    await userCommands(app, url).invite(to),
    await mailing.invite({ email: `${randomUUID()}@example.com`, role: 'auditor', installation: true }),
  ])
    expect(made.link_token).toMatch(LINK);
  expect(await mails()).toEqual([mail]);
});
