import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { links, users } from '../../packages/server/src/console/accounts/index.ts';
import { inviteByMail } from '../../packages/server/src/console/accounts/mails/index.ts';
import { rawRequest, serveSandboxPages } from '../sandbox-pages.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { receiptOf } from './receipt.ts';

const PAGE = '/sandbox/mails';
const ADA = 'ada@example.com';

let service: TestService;
let merchant: TestMerchant;
let server: FastifyInstance;
let url = '';

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant({ funds: 0n });
  ({ url, server } = await serveSandboxPages(service, merchant));
});
afterAll(async () => {
  await server?.close();
  await service?.stop();
});

const call = (path: string, headers: Record<string, string> = {}) => rawRequest(`${url}${path}`, { headers });

test('the inbox shows what the API has, each mail as its reader would see it, and nobody else its mail', async () => {
  expect((await call(PAGE)).text).toContain('No mail yet');
  const { id } = await receiptOf(merchant, ADA);
  const stranger = await receiptOf(await service.createMerchant({ funds: 0n }), 'eve@example.com');
  const { subject, text } = await merchant.sdk.mails.retrieve(id);
  for (const path of [PAGE, `${PAGE}/list`]) {
    const shown = (await call(path)).text;
    expect(shown).toContain(subject);
    expect(shown).toContain(ADA);
    expect(shown).toContain(`${PAGE}/${id}`);
    expect(shown).not.toContain('eve@example.com');
  }
  const mail = await call(`${PAGE}/${id}`);
  expect(mail.status).toBe(200);
  expect(mail.text).toContain(`${url}/checkout/`);
  expect(text).toContain('/checkout/');
  const policy = String(mail.headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('script-src');
  expect((await call(`${PAGE}/${stranger.id}`)).status).toBe(404);
  expect((await call(`${PAGE}/nothing`)).status).toBe(404);
});

test('a name that was made to point here, and a caller behind a proxy, see no mail', async () => {
  const { id } = await receiptOf(merchant, ADA);
  for (const headers of [
    { host: `evil.example:${new URL(url).port}` },
    { 'x-forwarded-for': '203.0.113.9' },
  ] as Record<string, string>[])
    for (const path of [PAGE, `${PAGE}/list`, `${PAGE}/${id}`]) {
      const { status, text } = await call(path, headers);
      expect(status).toBe(403);
      expect(text).not.toContain(ADA);
    }
});

test('an invitation is in the mailbox with the link that was shown, and the API keeps it to itself', async () => {
  const { app } = service;
  const { merchantId } = merchant;
  const owner = await users.inviteUser(app, { merchantId, email: 'owner@example.com', role: 'owner' });
  const person = { password: 'gravel-otter-lantern', token: owner.token };
  await links.redeemLink(app, person, { remoteAddress: '10.9.8.7', userAgent: 'Browser' });
  const invited = { merchantId, email: 'bob@example.com', role: 'viewer' };
  const { token } = await inviteByMail(app, invited, owner.userId);
  const [mail] = (await merchant.sdk.mails.list({ to: 'bob@example.com' })).data;
  const link = `${url}/console/link#${token}`;
  expect(mail).toMatchObject({ kind: 'invitation', status: 'caught' });
  expect((await call(`${PAGE}/${mail?.id}`)).text).toContain(link);
  expect((await call(PAGE)).text).toContain(link);
  const { text, html } = await merchant.sdk.mails.retrieve(mail?.id ?? '');
  expect(text).toContain('owner@example.com has invited you');
  expect(`${text} ${html}`).not.toContain(String(token));
  const rows = await app.db.selectFrom('mail').selectAll().where('merchant_id', '=', merchantId).execute();
  expect(JSON.stringify(rows.map(({ view }) => view))).not.toContain(String(token));
});
