import { createHash } from 'node:crypto';
import type { CheckoutView } from '@florin/pages';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pageToken, parsePageToken } from '../../packages/server/src/checkout/page-token.ts';
import { asOwner } from '../ledger.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { checkout, TOKEN } from './requests.ts';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

/** What a page shows. One that is asked too often refuses, which must not be taken for something it shows. */
const state = async (url: string, lang = 'en'): Promise<CheckoutView> => {
  const answer = await fetch(`${url}/state?lang=${lang}`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as CheckoutView;
};
/** Less often than a page may be asked for long. */
const POLL = { timeout: 30_000, interval: 250 };

const parsed = (token: string) => {
  const page = parsePageToken(token);
  if (page === undefined) throw new Error(`${token} is no token`);
  return page;
};

const send = (url: string, fields: Record<string, string>, accept = 'application/json') =>
  fetch(url, { method: 'POST', headers: { accept }, body: new URLSearchParams(fields), redirect: 'manual' });

const choose = async (url: string, option = 'USDT:trc20') => {
  const answer = await send(url, { option });
  expect(answer.status).toBe(200);
  return (await answer.json()) as CheckoutView;
};

test('a page works without script: the choice, then address and amount as text, equal to the API', async () => {
  const { open, payment } = checkout(service, merchant);
  const { url, payment_id } = await open({ amount: 1999, currency: 'USD', description: 'Two <b>books</b>' });
  const first = await fetch(url);
  expect(first.status).toBe(200);
  expect(Object.fromEntries(first.headers)).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringMatching(
      /^default-src 'none'; form-action 'self'; style-src 'sha256-[^']+'; img-src data: 'self'; script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'; frame-ancestors 'none'$/,
    ),
  });
  const choosing = await first.text();
  expect(choosing).toContain('$19.99');
  expect(choosing).toContain('Two &lt;b>books&lt;/b>');
  expect([...choosing.matchAll(/href="\?lang=en&amp;token=(\w+)"/g)].map(([, token]) => token)).toEqual([
    'USDT',
    'USDC',
  ]);
  const networks = await (await fetch(`${url}?token=USDC`)).text();
  const offered = [...networks.matchAll(/name="option" value="([^"]+)"/g)].map(([, option]) => option);
  // Cheapest first.
  expect(offered).toEqual(['USDC:spl', 'USDC:trc20', 'USDC:erc20']);
  const chosen = await send(url, { option: 'USDC:erc20' }, 'text/html');
  expect(chosen.status).toBe(303);
  const back = new URL(chosen.headers.get('location') ?? '', url);
  expect(back.href).toBe(`${url}?lang=en`);
  const { address, pay_amount } = await payment(payment_id);
  const page = await (await fetch(back)).text();
  expect(pay_amount).toBe(19_990_000);
  expect(page).toContain(`data-exact="address">${address}<`);
  expect(page).toContain('data-exact="amount">19.99\u00a0USDC<');
});

test('its script is compressed, cached for ever, and matches the integrity hash in the page', async () => {
  const { url } = await checkout(service, merchant).open();
  const html = await (await fetch(url)).text();
  const [, path = '', integrity] =
    /<script type="module" src="(assets\/checkout-[\w-]+\.js)" integrity="(sha384-[^"]+)">/.exec(html) ?? [];
  const answer = await fetch(new URL(path, url));
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'content-encoding': 'gzip',
    'cache-control': 'public, max-age=31536000, immutable',
  });
  const script = Buffer.from(await answer.arrayBuffer());
  expect(`sha384-${createHash('sha384').update(script).digest('base64')}`).toBe(integrity);
  const plain = await fetch(new URL(path, url), { headers: { 'accept-encoding': 'identity' } });
  expect(Buffer.from(await plain.arrayBuffer()).equals(script)).toBe(true);
  for (const file of ['render.js', '..%2Frender.js', 'client.js', '']) {
    expect((await fetch(new URL(`assets/${file}`, url))).status, file).not.toBe(200);
  }
});

test('a HEAD request of a stream is answered without a stream', async () => {
  const { url } = await checkout(service, merchant).open();
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => fetch(`${url}/events`, { method: 'HEAD' })),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
});

test('expired and underpaid: the page shows what arrived, and not to send more', async () => {
  const { url } = await checkout(service, merchant).open({ amount: 10 * TOKEN, expires_in: 300 });
  await choose(url, 'USDT:erc20');
  for (const action of ['less', 'expire']) {
    expect((await send(`${url}/simulate`, { action })).status, action).toBe(200);
  }
  await expect.poll(async () => (await state(url)).state, POLL).toBe('expired');
  expect(await state(url)).toMatchObject({
    notices: [{ code: 'incomplete', received: '6.00\u00a0USDT' }],
    due: null,
  });
}, 60_000);

test('the language: from the URL, else from the browser, else English', async () => {
  const { url } = await checkout(service, merchant).open({ amount: 123_456, currency: 'EUR' });
  const page = async (query: string, accept = '') =>
    (await fetch(`${url}${query}`, { headers: { 'accept-language': accept } })).text();
  expect(await page('', 'es-MX,es;q=0.9,en;q=0.8')).toContain('<html lang="es" dir="ltr">');
  expect(await page('?lang=ar', 'es')).toContain('<html lang="ar" dir="rtl">');
  expect(await page('', 'pl;q=0.9, en;q=0.1, ar;q=0.5')).toContain('<html lang="ar" dir="rtl">');
  expect(await page('', 'pt-PT,en;q=0.5')).toContain('<html lang="pt-BR" dir="ltr">');
  expect(await page('', 'zh-CN,zh;q=0.9')).toContain('<html lang="zh-Hans" dir="ltr">');
  expect(await page('?lang=xx', 'pl')).toContain('<html lang="en" dir="ltr">');
  expect((await state(url, 'es')).price).toBe('1234,56\u00a0€');
  expect((await state(url, 'ar')).price).toMatch(/1,234\.56/);
});

test('C1: a token of another merchant, session or secret opens nothing, always with the same answer', async () => {
  const other = await service.createMerchant({ funds: 0n });
  const [own, foreign] = [checkout(service, merchant), checkout(service, other)];
  const tokenOf = async (calls: typeof own) => (await calls.open()).url.split('/').at(-1) ?? '';
  const [a, b] = [parsed(await tokenOf(own)), parsed(await tokenOf(foreign))];
  const mixed = (...[merchantOf, sessionOf, secretOf]: [typeof a, typeof a, typeof a]) =>
    pageToken({
      merchant_id: merchantOf.merchantId,
      session_id: sessionOf.sessionId,
      page_token: secretOf.secret.toString('hex'),
    });
  const short = { ...a, secret: a.secret.subarray(0, 15) };
  const long = { ...a, secret: Buffer.concat([a.secret, Buffer.from([1])]) };
  const tokens = [
    mixed(b, a, a),
    mixed(a, b, a),
    mixed(a, a, b),
    mixed(a, b, b),
    mixed(b, a, b),
    mixed(a, a, short),
    mixed(a, a, long),
    'cs_0',
    '0OIl',
    'A'.repeat(5_000),
    '%00',
  ];
  const bodies = new Set<string>();
  for (const token of tokens) {
    const url = `${service.baseUrl}/checkout/${token}`;
    const answers = [
      await fetch(url),
      await fetch(`${url}/state`),
      await fetch(`${url}/events`),
      await send(url, { option: 'USDT:trc20' }),
      await send(`${url}/simulate`, { action: 'exact' }),
    ];
    for (const answer of answers) {
      expect(answer.status, token).toBe(404);
      bodies.add(await answer.text());
    }
  }
  expect(bodies.size).toBe(1);
  expect([...bodies][0]).toContain('There is no payment here');
  expect((await fetch(`${service.baseUrl}/checkout/${mixed(a, a, a)}`)).status).toBe(200);
});

test('crafted requests: unknown options and fields change nothing', async () => {
  const { url } = await checkout(service, merchant).open();
  for (const option of ['', 'USDT', 'USDC:trc20', 'USD:erc20', 'USDT:TRC20', 'USDT:trc20:x\0']) {
    expect((await send(url, { option })).status, option).toBe(option === 'USDT:trc20:x\0' ? 200 : 400);
  }
  expect((await send(url, { option: `USDT:erc20${'x'.repeat(2_000)}` })).status).toBe(400);
  expect((await send(`${url}/simulate`, { action: 'everything' })).status).toBe(400);
  const wrong = await fetch(`${url}?address=0xevil&amount=1&option=USDT:erc20&view=x`);
  expect(await wrong.text()).not.toContain('0xevil');
});

test('the panel and the simulated wallet exist for sandbox merchants alone', async () => {
  const { url } = await checkout(service, merchant).open();
  await choose(url);
  expect((await state(url)).isTest).toBe(true);
  expect((await send(`${url}/simulate`, { action: 'wallet' })).status).toBe(200);
  const { sql } = await import('kysely');
  await sql`update merchant set mode = 'live' where merchant_id = ${merchant.merchantId}`.execute(
    service.app.db,
  );
  try {
    const live = await state(url);
    expect(live.isTest).toBe(false);
    expect(await (await fetch(url)).text()).not.toContain('/simulate');
    for (const action of ['wallet', 'exact', 'late', 'reorg']) {
      expect((await send(`${url}/simulate`, { action })).status).toBe(404);
    }
  } finally {
    await sql`update merchant set mode = 'sandbox' where merchant_id = ${merchant.merchantId}`.execute(
      service.app.db,
    );
  }
});

test('the sandbox panel leaves the clock, the chains and other payments of the merchant alone', async () => {
  const own = await service.createMerchant({ funds: 0n });
  const calls = checkout(service, own);
  const other = await calls.open({ expires_in: 300 });
  await choose(other.url);
  const before = Date.now();
  for (const action of ['wallet', 'exact', 'less', 'more', 'wrong', 'frozen', 'late', 'expire', 'reorg']) {
    const { url } = await calls.open({ expires_in: 86_400 });
    await choose(url);
    // On a slow machine the blocks to be dropped are final by then.
    const answers = action === 'reorg' ? [200, 400] : [200];
    expect(answers, action).toContain((await send(`${url}/simulate`, { action })).status);
  }
  expect(await own.sdk.testHelpers.now()).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
  expect(await own.sdk.testHelpers.now()).toBeGreaterThanOrEqual(Math.floor(before / 1000));
  const mined = await asOwner(
    service,
    'select network from simchain.chain where merchant_id = $1 and height_offset <> 0',
    [own.merchantId],
  );
  expect(mined).toEqual([]);
  expect(await calls.payment(other.payment_id)).toMatchObject({
    status: 'pending',
    expires_at: other.expires_at,
  });
}, 120_000);

test('late: only this payment expires, and later money completes it by itself', async () => {
  const own = await service.createMerchant({ funds: 0n });
  const calls = checkout(service, own);
  const made = await calls.open({ expires_in: 86_400 });
  await choose(made.url);
  await send(`${made.url}/simulate`, { action: 'late' });
  const read = async () => await calls.payment(made.payment_id);
  await expect.poll(async () => (await read()).status, { timeout: 30_000 }).toBe('completed');
  expect(await read()).toMatchObject({ exceptions: ['late'] });
}, 60_000);

test('the simulated wallet is recorded as the payer’s proven wallet', async () => {
  const calls = checkout(service, merchant);
  const { url, payment_id } = await calls.open();
  await choose(url);
  await send(`${url}/simulate`, { action: 'wallet' });
  const row = await service.app.db
    .selectFrom('payment')
    .select('wallet_address')
    .where('merchant_id', '=', merchant.merchantId)
    .orderBy('payment_id', 'desc')
    .executeTakeFirstOrThrow();
  const { transactions } = await calls.payment(payment_id);
  expect(row.wallet_address).toBe(transactions[0]?.from);
});

test('a stream sends every state, and many listeners share one read', async () => {
  const { url, payment_id } = await checkout(service, merchant).open();
  await choose(url);
  const leaving = new AbortController();
  const states: string[] = [];
  const reading = (async () => {
    const answer = await fetch(`${url}/events?lang=es`, { signal: leaving.signal });
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    let text = '';
    for await (const piece of answer.body ?? []) {
      text += Buffer.from(piece).toString();
      for (const event of text.split('\n\n').slice(0, -1)) {
        const data = /^event: page\ndata: (.*)$/.exec(event)?.[1];
        if (data !== undefined) states.push((JSON.parse(data) as CheckoutView).state);
      }
      text = text.split('\n\n').at(-1) ?? '';
      if (states.at(-1) === 'paid') return;
    }
  })();
  await expect.poll(() => states, { timeout: 30_000 }).toEqual(['pay']);
  await send(`${url}/simulate`, { action: 'exact' });
  await reading;
  leaving.abort();
  // `confirming` lasts two seconds.
  expect(['pay,confirming,paid', 'pay,paid']).toContain([...new Set(states)].join(','));
  expect(payment_id).toMatch(/^pay_/);
}, 60_000);

test('calls and streams are limited per page, without effect on another page', async () => {
  const calls = checkout(service, merchant);
  const [{ url }, { url: other }] = [await calls.open(), await calls.open()];
  // One burst of both: on a slow machine the page may be read again a moment later.
  const answers = await Promise.all(
    Array.from({ length: 300 }, async (_, i) =>
      i % 2 === 0 ? fetch(`${url}/state`) : fetch(url, { headers: { 'accept-language': 'es' } }),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
  const refused = answers.find(
    ({ status, headers }) => status === 429 && headers.get('content-type')?.startsWith('text/html'),
  );
  expect(await refused?.text()).toContain('Esta página no se puede mostrar ahora');
  expect((await fetch(other)).status).toBe(200);
});

test('reading the page renews an ended quote, unless money was seen', async () => {
  const calls = checkout(service, merchant);
  const { url } = await calls.open({ amount: 1999, currency: 'USD', expires_in: 7_200 });
  const before = await choose(url, 'USDT:spl');
  expect(before.rateSecondsLeft).toBeGreaterThan(850);
  await merchant.sdk.testHelpers.advanceClock(1_000);
  const renewed = await state(url);
  expect(renewed.state).toBe('pay');
  expect(renewed.rateSecondsLeft).toBeGreaterThan(850);
  expect(renewed.due?.address).toBe(before.due?.address);
  await send(`${url}/simulate`, { action: 'less' });
  expect((await state(url)).rateSecondsLeft).toBeNull();
});

test('underpaid: the rest is due at the same address, with its own QR code', async () => {
  const { url } = await checkout(service, merchant).open({ amount: 10 * TOKEN });
  const before = await choose(url, 'USDT:erc20');
  expect(before.due?.amount).toBe('10.00');
  await send(`${url}/simulate`, { action: 'less' });
  const after = await state(url);
  expect(after).toMatchObject({ state: 'pay', canChoose: false });
  expect(after.due).toMatchObject({ amount: '4.00', address: before.due?.address });
  expect(after.notices).toEqual([{ code: 'underpaid', sent: '6.00\u00a0USDT', missing: '4.00\u00a0USDT' }]);
});
