import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { listRefundable } from '../../packages/server/src/refunds/refundable/index.ts';
import { advanceClock } from '../../packages/server/src/sandbox/advance-clock.ts';
import { setMerchantStatus } from '../../packages/server/src/stores/index.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { hostileMarkup } from '../own-cases/text.ts';
import { startService, type TestService } from '../service.ts';
import { all, refusal, shop, TOKEN } from './requests.ts';

const FUNDS = 1_000n * BigInt(TOKEN);
const DAY = 86_400;

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true });
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Base 58 as links write it; no text here begins with a zero byte. */
const base58 = {
  decode: (text: string): Uint8Array => {
    const value = [...text].reduce((sum, digit) => sum * 58n + BigInt(DIGITS.indexOf(digit)), 0n);
    return Uint8Array.from(Buffer.from(value.toString(16).padStart(96, '0'), 'hex'));
  },
  encode: (bytes: Uint8Array): string => {
    let text = '';
    for (let value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`); value > 0n; value /= 58n)
      text = `${DIGITS[Number(value % 58n)]}${text}`;
    return text;
  },
};

/** A refund whose payer is asked for the address. */
async function asked(body: object = {}) {
  const calls = await shop(service, { funds: FUNDS });
  const { id } = await calls.paid();
  const refund = await calls.refund({ refund_id: 'r', payment_id: id, ...body });
  const addresses = await calls.merchant.sdk.testHelpers.addresses();
  return { ...calls, refund, paymentId: id, url: refund.claim_url ?? '', addresses };
}

/** A browser without script: it follows no redirect by itself. */
async function browse(url: string, form?: Record<string, string>, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    redirect: 'manual',
    headers,
    ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test('without a proven wallet the payer names the address, once, and the refund is paid to it', async () => {
  const { refund, url, claim, read, cancel, ended, addresses, balance } = await asked();
  expect(refund).toMatchObject({ status: 'pending', address: null });
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/refunds\/claim\/[1-9A-HJ-NP-Za-km-z]{60,66}$/);
  expect(await read('r')).toEqual(refund);
  expect(await balance()).toMatchObject({ refund_hold: 100 * TOKEN });
  expect(refusal(await claim('r', addresses.spl.succeed))).toBe('400 address');
  expect(refusal(await claim('r', ''))).toBe('400 address');
  const claimed = await claim('r', addresses.erc20.succeed);
  expect(claimed.json).toMatchObject({ address: addresses.erc20.succeed, claim_url: null });
  expect(refusal(await claim('r', addresses.erc20.succeed))).toBe('400 invalid_request_error');
  expect(await ended('r')).toMatchObject({ status: 'succeeded', address: addresses.erc20.succeed });
  expect(refusal(await cancel('r'))).toBe('400 invalid_request_error');
});

test('a link that is unused for 30 days expires: the refund is canceled and its money released', async () => {
  const { merchant, claim, read, url, addresses, balance } = await asked();
  await merchant.sdk.testHelpers.advanceClock(30 * DAY - 60);
  expect(await read('r')).toMatchObject({ status: 'pending', claim_url: url });
  await merchant.sdk.testHelpers.advanceClock(61);
  expect(await read('r')).toMatchObject({
    status: 'canceled',
    claim_url: null,
    completed_at: expect.any(Number),
  });
  expect(refusal(await claim('r', addresses.erc20.succeed))).toBe('400 invalid_request_error');
  expect(await balance()).toMatchObject({ available: 3_100 * TOKEN, refund_hold: 0 });
  expect((await browse(url)).text).toContain('This link is over');
  const [event, ...more] = await all(merchant.sdk.events.list({ type: 'refund.updated' }));
  expect(more).toEqual([]);
  expect(event?.data).toEqual({
    object: await read('r'),
    previous_attributes: { status: 'pending', completed_at: null },
  });
});

test('days on which its merchant is suspended do not count: the payer has 30 days to use the link', async () => {
  const { merchant, claim, read, url, addresses, ended } = await asked();
  const { app } = service;
  const clock = merchant.sdk.testHelpers;
  await clock.advanceClock(29 * DAY);
  await setMerchantStatus(app, merchant.merchantId, 'suspended');
  await advanceClock(app, merchant.merchantId, 40 * DAY);
  expect((await browse(url)).text).toContain('is stopped for now');
  await setMerchantStatus(app, merchant.merchantId, 'active');
  expect(await read('r')).toMatchObject({ status: 'pending', claim_url: url });
  await clock.advanceClock(DAY - 60);
  expect(await read('r')).toMatchObject({ status: 'pending', claim_url: url });
  expect((await browse(url)).text).not.toContain('This link is over');
  expect((await claim('r', addresses.erc20.succeed)).status).toBe(200);
  expect(await ended('r')).toMatchObject({ status: 'succeeded' });
});

test('after a suspension a link ends with its 30 days', async () => {
  const { merchant, claim, read, addresses } = await asked();
  const { app } = service;
  await setMerchantStatus(app, merchant.merchantId, 'suspended');
  await advanceClock(app, merchant.merchantId, 40 * DAY);
  await setMerchantStatus(app, merchant.merchantId, 'active');
  await merchant.sdk.testHelpers.advanceClock(30 * DAY + 60);
  expect(await read('r')).toMatchObject({ status: 'canceled', claim_url: null });
  expect(refusal(await claim('r', addresses.erc20.succeed))).toBe('400 invalid_request_error');
});

test('a refund goes to the proven wallet by default, unless that is on another network', async () => {
  const { refund, paid, open, pay, ended } = await shop(service, { funds: FUNDS });
  const { id, transactions } = await paid({ connected: true });
  const own = await refund({ refund_id: 'own', payment_id: id, amount: TOKEN, currency: 'USDT' });
  expect(own).toMatchObject({ address: transactions[0]?.from, claim_url: null });
  expect(await ended('own')).toMatchObject({ status: 'succeeded', address: transactions[0]?.from });
  const session = await open();
  await pay(session.id, { connected: true, amount: TOKEN });
  const wrong = await pay(session.id, { network: 'trc20', amount: 2 * TOKEN });
  const tx = wrong.transactions.find((one) => one.kind === 'wrong_token');
  const other = await refund({ payment_id: session.payment_id, tx_id: tx?.tx_id });
  expect(other).toMatchObject({ network: 'trc20', address: null, claim_url: expect.any(String) });
});

test('the page asks for the address, confirms it, claims the refund and shows its status', async () => {
  const { url, read, ended, addresses } = await asked();
  const form = await browse(url);
  expect(form.status).toBe(200);
  expect(form.text).toContain('<html lang="en" dir="ltr">');
  expect(form.text).toContain('100.00\u00a0USDT');
  expect(form.text).not.toMatch(/<script|\son\w+=|style=/i);
  expect(form.headers.get('content-security-policy')).toMatch(
    /default-src 'none';.*form-action 'self'.*frame-ancestors 'none'/,
  );
  expect(form.headers.get('cache-control')).toBe('no-store');
  expect(form.headers.get('referrer-policy')).toBe('no-referrer');
  for (const [address, text] of [
    ['', 'Enter the address'],
    ['hello', 'not an address'],
    [addresses.erc20.succeed.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')), 'cannot be used'],
    ['0x0000000000000000000000000000000000000000', 'No money can be sent'],
    [addresses.trc20.succeed, 'not an address'],
    ['x'.repeat(300), 'not an address'],
    ['x'.repeat(5_000), 'Enter the address'],
  ] as const) {
    const refused = await browse(url, { address });
    expect([address, refused.status, refused.text.includes(text)]).toEqual([address, 400, true]);
    expect(refused.text).toContain('aria-invalid="true"');
  }
  const check = await browse(url, { address: ` ${addresses.erc20.succeed} ` });
  expect(check.status).toBe(200);
  expect(check.text).toContain('Is this your address?');
  expect(await read('r')).toMatchObject({ address: null });
  const taken = await browse(url, { address: addresses.erc20.succeed, sure: 'yes' });
  expect([taken.status, taken.headers.get('location')]).toEqual([303, `${new URL(url).pathname}?lang=en`]);
  const way = await browse(url);
  expect(way.text).toContain(addresses.erc20.succeed);
  // A double click, or somebody with the link: the first address stays.
  const late = await browse(url, { address: addresses.erc20.stuck, sure: 'yes' });
  expect(late.status).toBe(303);
  expect(await ended('r')).toMatchObject({ status: 'succeeded', address: addresses.erc20.succeed });
  expect((await browse(url)).text).toContain('Your refund was sent');
});

test('many clicks at once: one address is accepted', async () => {
  const { url, claim, read, addresses } = await asked();
  const { succeed, stuck } = addresses.erc20;
  const clicks = Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? succeed : stuck));
  const helped = claim('r', stuck);
  const answers = await Promise.all(clicks.map((address) => browse(url, { address, sure: 'yes' })));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]));
  await helped;
  const jobs = await asOwner(service, "select * from job where kind = 'refunds.send'");
  expect(jobs.length).toBeLessThanOrEqual(1);
  expect([succeed, stuck]).toContain((await read('r')).address);
});

test('Spanish, and Arabic from right to left, by browser or by link; the language stays', async () => {
  const { url } = await asked();
  const spanish = await browse(url, undefined, { 'accept-language': 'es-MX,en;q=0.5' });
  expect(spanish.text).toContain('<html lang="es" dir="ltr">');
  expect(spanish.text).toContain('Su reembolso');
  const arabic = await browse(`${url}?lang=ar`);
  expect(arabic.text).toContain('<html lang="ar" dir="rtl">');
  expect(arabic.text).toContain('action="?lang=ar"');
  const refused = await browse(`${url}?lang=ar`, { address: 'x' });
  expect(refused.text).toContain('لا يمكن استخدام هذا العنوان');
});

test('C1: a link with a wrong secret, of another refund, or malformed is the same 404 page', async () => {
  const { url, refund } = await asked();
  const other = await asked();
  const path = url.slice(0, url.lastIndexOf('/') + 1);
  const bytes = base58.decode(url.slice(path.length));
  const flipped = bytes.map((byte, i) => (i === 47 ? byte ^ 1 : byte));
  const foreign = base58.decode(other.url.slice(path.length));
  const mixed = Uint8Array.from([...bytes.slice(0, 32), ...foreign.slice(32)]);
  const moved = Uint8Array.from([...foreign.slice(0, 16), ...bytes.slice(16)]);
  const texts = [
    base58.encode(flipped),
    base58.encode(mixed),
    base58.encode(moved),
    base58.encode(randomBytes(48)),
    base58.encode(bytes.slice(0, 47)),
    refund.refund_id,
    'O0Il',
    'x'.repeat(5_000),
    '\0',
    '<script>alert(1)</script>',
  ];
  const answers = await Promise.all(
    texts.flatMap((text) => [
      browse(path + encodeURIComponent(text)),
      browse(path + encodeURIComponent(text), { address: 'a', sure: 'yes' }),
    ]),
  );
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(answers[0]?.status).toBe(404);
  expect(answers[0]?.text).not.toContain('alert');
});

test("G1: the link's secret is encrypted in the database, and no event contains it", async () => {
  const { url, ended, claim, addresses, merchant } = await asked();
  const secret = Buffer.from(base58.decode(url.slice(url.lastIndexOf('/') + 1)).slice(32));
  const [row] = await asOwner<{ claim_secret: Buffer }>(
    service,
    "select claim_secret from refund where merchant_id = $1 and own_id = 'r'",
    [merchant.merchantId],
  );
  expect(row?.claim_secret.includes(secret)).toBe(false);
  await claim('r', addresses.erc20.succeed);
  await ended('r');
  const events = await asOwner<{ body: string }>(service, 'select body from event where merchant_id = $1', [
    merchant.merchantId,
  ]);
  expect(events.filter(({ body }) => body.includes('/refunds/claim/'))).toEqual([]);
});

test('F3: hostile text in the address is shown as text or refused, and runs nothing', async () => {
  const { url } = await asked();
  for (const line of hostileMarkup(['IntrudersXSS'])) {
    const { status, text } = await browse(url, { address: line });
    expect(status).toBe(400);
    // A `>` within quotes ends no tag. The rest of the page has no tag that is not its own.
    const value = /name="address" dir="ltr" value="([^"]*)"/.exec(text)?.[1] ?? '';
    expect(value).not.toContain('<');
    expect(text.replace(value, '')).not.toMatch(/<script|onerror|onload/i);
  }
});

test('a proof counts for the amount that its wallet sent: the rest needs the link', async () => {
  const { open, pay, refund, ended } = await shop(service, { funds: FUNDS });
  const { id, payment_id: paymentId } = await open();
  // Somebody proves a wallet and sends a millionth; the payer, whom nobody knows, sends the rest.
  const dusted = await pay(id, { connected: true, amount: 1, from: 'new' });
  const paid = await pay(id);
  const stranger = dusted.transactions[0]?.from;
  expect(new Set(paid.transactions.map(({ from }) => from)).size).toBe(2);
  const part = (refund_id: string, amount?: number) =>
    refund({
      refund_id,
      payment_id: paymentId,
      ...(amount === undefined ? {} : { amount, currency: 'USDT' }),
    });
  expect(await part('two', 2)).toMatchObject({ address: null, claim_url: expect.any(String) });
  expect(await part('one', 1)).toMatchObject({ address: stranger, claim_url: null });
  expect(await ended('one')).toMatchObject({ status: 'succeeded', address: stranger });
  expect(await part('again', 1)).toMatchObject({ address: null });
  expect(await part('rest')).toMatchObject({ address: null, claim_url: expect.any(String) });
});

test('a proof counts for the transfer that its wallet sent, and once for each token of it', async () => {
  const { merchant, open, pay, refund, cancel } = await shop(service, { funds: FUNDS });
  const session = await open();
  const paid = await pay(session.id, { connected: true, from: 'new' });
  const payer = paid.transactions[0]?.from ?? '';
  await pay(session.id, { currency: 'USDC', amount: 2 * TOKEN, from: payer });
  await pay(session.id, { currency: 'USDC', amount: 3 * TOKEN });
  const { transactions } = await pay(session.id, { amount: 50 * TOKEN });
  const wrong = (tokens: number) => {
    const transfer = transactions.find(({ amount }) => amount === tokens * TOKEN);
    return refund({ refund_id: `w-${tokens}`, payment_id: session.payment_id, tx_id: transfer?.tx_id });
  };
  /** What the form of a refund says of each source: what is left, and how much of it goes to the proven wallet. */
  const left = async () =>
    (await listRefundable(service.app.db, merchant, session.payment_id)).map((one) => [
      one.txId?.split(':')[0] ?? 'payment',
      `${one.left / BigInt(TOKEN)} ${one.currency}`,
      one.proven && [one.proven.address, one.proven.most / BigInt(TOKEN)],
    ]);
  const wrongs = transactions.filter(({ kind }) => kind === 'wrong_token');
  expect(await left()).toEqual([
    ['payment', '150 USDT', [payer, 100n]],
    ...wrongs.map((one) => [
      one.tx_id,
      `${one.amount / TOKEN} USDC`,
      one.from === payer ? [payer, 2n] : null,
    ]),
  ]);
  expect(await wrong(2)).toMatchObject({ currency: 'USDC', address: payer });
  expect(await wrong(3)).toMatchObject({ currency: 'USDC', address: null });
  const part = (tokens: number, more: object = {}) =>
    refund({ payment_id: session.payment_id, amount: tokens * TOKEN, currency: 'USDT', ...more });
  // Of 150 the payer has sent 100, and gets 40 of them because somebody says so.
  await part(40, { address: payer.toLowerCase() });
  expect(await left()).toEqual([['payment', '110 USDT', [payer, 60n]]]);
  expect(await part(61, { refund_id: 'too-much' })).toMatchObject({ address: null });
  expect((await cancel('too-much')).status).toBe(200);
  expect(await part(60)).toMatchObject({ address: payer });
  expect(await left()).toEqual([['payment', '50 USDT', null]]);
  expect(await part(1)).toMatchObject({ address: null });
});
