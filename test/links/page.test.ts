import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiServer } from '../../packages/server/src/app.ts';
import { changeStore, setMerchantStatus } from '../../packages/server/src/stores/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { hostileMarkup } from '../own-cases/text.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { decodeQr } from './decode-qr.ts';
import { onceIn, payer } from './requests.ts';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

/** Every session of the merchant, oldest first. */
async function sessions(of = merchant) {
  const rows = await service.app.db
    .selectFrom('checkout_session')
    .select('session_id')
    .where('merchant_id', '=', of.merchantId)
    .orderBy('session_id')
    .execute();
  return await Promise.all(
    rows.map((row) => of.sdk.checkout.sessions.retrieve(encodeId('checkoutSession', row.session_id))),
  );
}

const linkOf = async (...[input]: Parameters<TestMerchant['sdk']['paymentLinks']['create']>) =>
  await merchant.sdk.paymentLinks.create(input);

test('a fixed link: one button creates a session of the store, with the link in its metadata, and opens its page', async () => {
  const link = await linkOf({ amount: 1_999n, currency: 'USD', description: 'Coffee & cake' });
  const { open, pay } = payer(service, link.url);
  const page = await open();
  expect(page.status).toBe(200);
  expect(page.html).toContain('$19.99');
  expect(page.html).toContain('Coffee &amp; cake');
  expect(page.html).not.toContain('name="amount"');
  expect(page.html).not.toContain('<script');
  const { status, target } = await pay();
  const [session] = (await sessions()).slice(-1);
  expect([status, target]).toEqual([303, session?.url]);
  expect(session).toMatchObject({
    amount: 1_999,
    currency: 'USD',
    description: 'Coffee & cake',
    status: 'open',
    metadata: { payment_link: link.id },
  });
  // A payer decides nothing but whether.
  const cheaper = await payer(service, link.url).send({ once: onceIn(page.html), amount: '0.01' });
  expect(cheaper.status).toBe(303);
  expect((await sessions()).at(-1)).toMatchObject({ amount: 1_999 });
});

test('an open link asks for the amount, again after invalid text', async () => {
  const link = await linkOf({ open: true, currency: 'USD' });
  const { open, send } = payer(service, link.url);
  const { html } = await open();
  expect(html).toContain('inputmode="decimal"');
  const once = onceIn(html);
  const before = (await sessions()).length;
  for (const amount of ['', '0', '0.00', '12.345', '1,000', '-5', 'ten', '9'.repeat(16), '9'.repeat(40)]) {
    const again = await send({ once, amount });
    expect([amount, again.status]).toEqual([amount, 400]);
    expect(again.html).toContain('role="alert"');
    expect(/name="amount"[^>]* value(?:="([^"]*)")?/.exec(again.html)?.[1] ?? '').toBe(amount);
    expect(onceIn(again.html)).toBe(once);
  }
  expect(await sessions()).toHaveLength(before);
  const made = await send({ once, amount: '12,5' });
  const session = (await sessions()).at(-1);
  expect([made.status, made.target]).toEqual([303, session?.url]);
  expect(session).toMatchObject({ amount: 1_250, currency: 'USD' });
});

test('a double click creates one session; another amount, or a reopened page, another one', async () => {
  const link = await linkOf({ open: true, currency: 'EUR' });
  const { open, send, pay } = payer(service, link.url);
  const once = onceIn((await open()).html);
  const before = (await sessions()).length;
  const clicks = await Promise.all(Array.from({ length: 5 }, () => send({ once, amount: '7' })));
  expect(clicks.map(({ status }) => status)).toEqual([303, 303, 303, 303, 303]);
  expect(new Set(clicks.map(({ target }) => target)).size).toBe(1);
  expect((await send({ once, amount: '7.00' })).target).toBe(clicks[0]?.target);
  expect(await sessions()).toHaveLength(before + 1);
  expect((await send({ once, amount: '8' })).target).not.toBe(clicks[0]?.target);
  expect((await pay('7')).target).not.toBe(clicks[0]?.target);
  expect(await sessions()).toHaveLength(before + 3);
});

test('payers cannot use up idempotency keys of the merchant', async () => {
  const link = await linkOf({ amount: 500n, currency: 'USD' });
  const { open, send } = payer(service, link.url);
  const once = onceIn((await open()).html);
  await send({ once });
  const keys = await service.app.db
    .selectFrom('idempotency_key')
    .select(['operation', 'key'])
    .where('merchant_id', '=', merchant.merchantId)
    .where('operation', '=', 'payment_link.pay')
    .execute();
  const { key = '' } = keys.find((row) => row.key.includes(once)) ?? {};
  expect(key).toMatch(/:500$/);
  const idempotencyKey = key;
  await merchant.sdk.checkout.sessions.create({ amount: 1n, currency: 'USDT' }, { idempotencyKey });
});

test('C1: unknown, malformed and foreign tokens get one 404 page', async () => {
  const link = await linkOf({ amount: 500n, currency: 'USD' });
  const token = link.url.split('/').at(-1) ?? '';
  const wrong = [
    'x',
    token.slice(0, -1),
    `${token}1`,
    `${token.slice(0, -1)}${token.endsWith('2') ? '3' : '2'}`,
    '1'.repeat(32),
    'z'.repeat(44),
    '0OIl'.repeat(11),
    'x'.repeat(10_000),
    encodeURIComponent('../../api/v1/balances'),
    '%00',
    link.id,
  ];
  const texts = new Set<string>();
  for (const text of wrong) {
    const { status, headers, html } = await payer(service, `${service.baseUrl}/pay/${text}`).open();
    expect([text, status]).toEqual([text, 404]);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    texts.add(html);
  }
  expect(texts.size).toBe(1);
});

test('a closed link, a disabled store and a suspended merchant accept no payment', async () => {
  const own = await service.createMerchant({ funds: 0n });
  const link = await own.sdk.paymentLinks.create({ amount: 500n, currency: 'USD' });
  const { open, send, pay } = payer(service, link.url);
  const { app } = service;
  const closed = async () => {
    const once = onceIn(link.url);
    expect([(await open()).status, (await send({ once })).status]).toEqual([410, 410]);
  };
  await own.sdk.paymentLinks.update(link.id, { active: false });
  await closed();
  await own.sdk.paymentLinks.update(link.id, { active: true });
  await changeStore(app, own, { enabled: false });
  await closed();
  await changeStore(app, own, { enabled: true });
  await setMerchantStatus(app, own.merchantId, 'suspended');
  await closed();
  await setMerchantStatus(app, own.merchantId, 'active');
  expect((await pay()).status).toBe(303);
  expect(await sessions(own)).toHaveLength(1);
});

test('the printable page has a QR code of the link’s URL', async () => {
  const link = await linkOf({ amount: 1_999n, currency: 'USD', description: 'Coffee' });
  const { status, html } = await payer(service, `${link.url}/qr`).open();
  expect(status).toBe(200);
  expect(html).toContain('$19.99');
  expect(html).toContain(link.url);
  const path = / d="([^"]+)"/.exec(html)?.[1];
  const size = Number(/viewBox="0 0 (\d+) /.exec(html)?.[1]);
  expect(decodeQr(path ?? '', size)).toBe(link.url);
  expect((await payer(service, `${service.baseUrl}/pay/x/qr`).open()).status).toBe(404);
  await merchant.sdk.paymentLinks.update(link.id, { active: false });
  expect((await payer(service, `${link.url}/qr`).open()).status).toBe(410);
});

test('no third-party content, script or frame; the form may post to our own origin only', async () => {
  const link = await linkOf({ open: true, currency: 'USD' });
  const { headers } = await payer(service, link.url).open();
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("form-action 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('script-src');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('cache-control')).toBe('no-store');
});

test('the page uses the payer’s language, Arabic from right to left', async () => {
  const link = await linkOf({ open: true, currency: 'USD' });
  const { open } = payer(service, link.url);
  expect((await open({ 'accept-language': 'es-MX,en;q=0.5' })).html).toContain('Continuar con el pago');
  const arabic = (await open({}, '?lang=ar')).html;
  expect(arabic).toContain('<html lang="ar" dir="rtl">');
  const sent = await fetch(`${link.url}?lang=ar`, {
    method: 'POST',
    body: new URLSearchParams({ once: onceIn(arabic), amount: '١٢٫٥' }),
    redirect: 'manual',
  });
  expect(sent.headers.get('location')).toMatch(/^\.\.\/checkout\/[^/]+\?lang=ar$/);
  expect((await sessions()).at(-1)).toMatchObject({ amount: 1_250 });
});

test('crafted forms do no harm', async () => {
  const link = await linkOf({ open: true, currency: 'USD' });
  const before = (await sessions()).length;
  const bodies: [type: string, body: string][] = [
    ['application/json', '{"amount":"5"}'],
    ['text/plain', 'amount=5'],
    ['application/x-www-form-urlencoded', `amount=5&pad=${'x'.repeat(2_000)}`],
    ['application/x-www-form-urlencoded', '%'],
    ['application/x-www-form-urlencoded', ''],
    ['multipart/form-data; boundary=x', '--x\r\n\r\n5\r\n--x--'],
  ];
  for (const [type, body] of bodies) {
    const answer = await fetch(link.url, { method: 'POST', headers: { 'content-type': type }, body });
    expect([type, body.length, answer.status]).toEqual([type, body.length, 400]);
  }
  expect(await sessions()).toHaveLength(before);
});

test('requests of one address are limited, with a page that explains it; a forged address does not help', async () => {
  const link = await linkOf({ amount: 500n, currency: 'USD' });
  let url = '';
  const proxied = createApiServer(service.app, {
    publicUrl: () => url,
    rate: { perSecond: 100, burst: 100 },
    trustedProxy: true,
  });
  url = await proxied.listen({ host: '127.0.0.1', port: 0 });
  const { send } = payer(service, link.url.replace(service.baseUrl, url));
  const from = async (address: string) =>
    await send({ once: randomBytes(16).toString('base64url') }, { 'x-forwarded-for': address });
  try {
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) => from(`203.0.113.${n}, 198.51.100.7`)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 303).length).toBeGreaterThanOrEqual(30);
    const held = answers.find(({ status }) => status === 429);
    expect(held?.headers.get('retry-after')).toBe('60');
    expect(held?.html).toContain('One moment, please');
    expect((await from('203.0.113.1, 198.51.100.8')).status).toBe(303);
  } finally {
    await proxied.close();
  }
});

/** Hostile texts, as many in one as a description holds. */
function hostileDescriptions(): string[] {
  const texts: string[] = [];
  for (const line of hostileMarkup().filter((text) => text.isWellFormed() && text.length <= 400)) {
    const last = texts.at(-1);
    if (last !== undefined && last.length + line.length < 500) texts[texts.length - 1] = `${last} ${line}`;
    else texts.push(line);
  }
  return texts;
}

test('what a merchant or a payer writes is text on the page, whatever it holds', async () => {
  const texts = hostileDescriptions();
  const elements = (html: string) => html.match(/<[a-z!/]/gi)?.length;
  const plain = await linkOf({ open: true, currency: 'USD', description: 'plain' });
  const expected = elements((await payer(service, plain.url).open()).html);
  for (const [n, description] of texts.entries()) {
    // A node of its own each time: so many looks from one address would be held back.
    const node = n % 40 === 0 ? await service.addNode() : undefined;
    if (node !== undefined) base = node;
    const { url } = await linkOf({ open: true, currency: 'USD', description });
    const { status, html } = await payer(service, url.replace(service.baseUrl, base)).open();
    expect([description, status, elements(html)]).toEqual([description, 200, expected]);
  }
  const typed = payer(service, plain.url.replace(service.baseUrl, await service.addNode()));
  const once = onceIn((await typed.open()).html);
  const wrong = elements((await typed.send({ once, amount: 'x' })).html);
  for (const text of texts.slice(0, 20)) {
    const { status, html } = await typed.send({ once: text.slice(0, 50), amount: text.slice(0, 100) });
    expect([text, status, elements(html)]).toEqual([text, 400, wrong]);
  }
}, 120_000);
let base = '';
