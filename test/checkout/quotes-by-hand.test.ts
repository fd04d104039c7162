import type { PaymentOption } from '@florin/contract/schemas';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { getSession } from '../../packages/server/src/checkout/index.ts';
import { findPage } from '../../packages/server/src/checkout/page/find-page.ts';
import { readPage } from '../../packages/server/src/checkout/page/read-page.ts';
import { QUOTE_JOB } from '../../packages/server/src/payments/jobs.ts';
import { requotePayment } from '../../packages/server/src/payments/quotes/requote-payment.ts';
import { RATE_SETTINGS } from '../../packages/server/src/rates/index.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { jobOf } from '../job.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { eventTypesOf, TOKEN } from './requests.ts';
import { type Due, Shop } from './shop.ts';

const UNIT = BigInt(TOKEN);
const USDT: PaymentOption = { currency: 'USDT', network: 'erc20' };
const USDC: PaymentOption = { currency: 'USDC', network: 'erc20' };
/** 40.00 EUR are 50 USDT or 40 USDC at first. */
const PRICE = { amount: 4_000, currency: 'EUR', expires_in: 86_400 };
const AT_FIRST = ['USDT/EUR=0.8', 'USDC/EUR=1'];
const QUOTE_AND_GRACE = 900 + 121;

let service: TestService;
let shop: Shop;

beforeAll(async () => {
  service = await startService();
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

/** `[]`: those of the sandbox. A token far from a dollar is not sold for: no rate can be had. */
const setRates = (rates: readonly string[]) =>
  writeSetting(service.app.db, shop.merchant.merchantId, RATE_SETTINGS.fixed, [...rates]);
const breakRates = () => setRates(['USDT/USD=2', 'USDC/USD=2']);

async function opened(option = USDT, body: object = {}): Promise<Due> {
  shop = await Shop.open(service);
  await setRates(AT_FIRST);
  return await shop.due({ ...PRICE, ...body }, option);
}

async function pageOf({ session }: Due) {
  const { id } = session;
  const row = await getSession(service.app.db, shop.merchant, id);
  const token = session.url.split('/').at(-1) ?? '';
  const page = await findPage(service.app.db, token);
  expect(page?.session.session_id).toBe(row.session_id);
  const view = await readPage(shop.deps, { token }, 'en');
  if (view === undefined) throw new Error('the page of a session');
  return view;
}

const quoteJobs = () =>
  asOwner(service, 'select payload from job where merchant_id = $1 and kind = $2', [
    shop.merchant.merchantId,
    QUOTE_JOB,
  ]);

/** The job that waits for a rate. @returns whether it needs to come again */
async function quoteAgain({ session }: Due): Promise<boolean> {
  const { payment_id: paymentId } = await getSession(service.app.db, shop.merchant, session.id);
  return (await requotePayment(shop.deps, jobOf(shop.merchant.merchantId, { paymentId }))) !== 'done';
}

describe('each option is quoted by its own token', () => {
  test.each([
    ['USDT', 'USDC'],
    ['USDC', 'USDT'],
  ] as const)('two are paid in one block after their quotes ended: %s first', async (first, second) => {
    const due = await opened(USDT);
    const places = { USDT: due.address, USDC: await shop.choose(due.session.id, USDC) };
    await setRates(['USDT/EUR=0.5', 'USDC/EUR=1.25']);
    shop.wait(QUOTE_AND_GRACE);
    // 80 USDT or 32 USDC by now; both transactions lie in one block, and the lower id is the first of them.
    const paid = { USDT: 80n * UNIT, USDC: 32n * UNIT };
    for (let tries = 0; ; tries++) {
      const ids = {
        USDT: await shop.send(places.USDT, { amount: paid.USDT }),
        USDC: await shop.send(places.USDC, { amount: paid.USDC, asset: 'USDC' }),
      };
      if (ids[first] < ids[second]) break;
      await shop.chain().reorg(1, { remine: false });
      expect(tries).toBeLessThan(40);
    }
    await shop.settle();
    const payment = await shop.payment(due);
    expect(payment).toMatchObject({
      status: 'completed',
      pay_currency: first,
      pay_amount: Number(paid[first]),
      exchange_rate: { USDT: '0.5', USDC: '1.25' }[first],
      exceptions: ['wrong_token'],
    });
  });

  test('late money is compared with the rate of its own token, whichever was chosen last', async () => {
    for (const [rates, status] of [
      [['USDT/EUR=0.8', 'USDC/EUR=2'], 'completed'],
      [['USDT/EUR=0.9', 'USDC/EUR=1'], 'expired'],
    ] as const) {
      const due = await opened(USDT, { expires_in: 300 });
      await shop.choose(due.session.id, USDC);
      shop.wait(301);
      await shop.scan();
      expect(await shop.expire(due)).toBe(false);
      await setRates(rates);
      await shop.send(due.address, { amount: 50n * UNIT });
      await shop.settle();
      expect(await shop.payment(due)).toMatchObject({ status, exceptions: ['late'] });
    }
  });
});

describe('dust holds no quote', () => {
  const DUST = (50n * UNIT) / 100n - 1n;

  test('it counts as received, and page and payment show the rest at a new rate', async () => {
    const due = await opened();
    await shop.send(due.address, { amount: DUST });
    await shop.settle();
    expect(await pageOf(due)).toMatchObject({ state: 'pay', due: { amount: '49.500001' } });
    await setRates(['USDT/EUR=0.5', 'USDC/EUR=1']);
    // The rate stands as long as it was promised, and the payer is told how long.
    expect(await pageOf(due)).toMatchObject({ rateSecondsLeft: 900, due: { amount: '49.500001' } });
    shop.wait(QUOTE_AND_GRACE);
    const view = await pageOf(due);
    expect(view).toMatchObject({ state: 'pay', rateSecondsLeft: 900, due: { amount: '79.500001' } });
    expect(view.notices).toMatchObject([{ code: 'underpaid' }]);
    expect(await shop.payment(due)).toMatchObject({
      status: 'pending',
      pay_amount: 80 * TOKEN,
      exchange_rate: '0.5',
      amount_received: Number(DUST),
      exceptions: ['underpaid'],
    });
    await shop.send(due.address, { amount: 80n * UNIT - DUST });
    await shop.settle();
    expect(await shop.payment(due)).toMatchObject({ status: 'completed', exceptions: [] });
  });

  test('dust that is not final holds none either', async () => {
    const due = await opened();
    shop.wait(899);
    await shop.send(due.address, { amount: DUST });
    await shop.scan();
    await setRates(['USDT/EUR=0.5']);
    expect(await pageOf(due)).toMatchObject({ rateSecondsLeft: 1, due: { amount: '49.500001' } });
    shop.wait(1);
    expect(await pageOf(due)).toMatchObject({ rateSecondsLeft: 900, due: { amount: '79.500001' } });
    expect(await shop.payment(due)).toMatchObject({ status: 'processing', pay_amount: 80 * TOKEN });
  });

  test('without a page: late money after dust counts at a new rate, not at the old one', async () => {
    const due = await opened();
    await shop.send(due.address, { amount: DUST });
    await shop.settle();
    await setRates(['USDT/EUR=0.5']);
    shop.wait(QUOTE_AND_GRACE);
    await shop.send(due.address, { amount: 50n * UNIT });
    await shop.settle();
    expect(await shop.payment(due)).toMatchObject({
      status: 'pending',
      pay_amount: 80 * TOKEN,
      exceptions: ['underpaid'],
    });
    // More than dust: from here on the rate stays.
    await setRates(['USDT/EUR=0.4']);
    shop.wait(5_000);
    expect(await pageOf(due)).toMatchObject({ rateSecondsLeft: null, due: { amount: '29.500001' } });
    await shop.send(due.address, { amount: 30n * UNIT - DUST });
    await shop.settle();
    expect(await shop.payment(due)).toMatchObject({ status: 'completed', exceptions: [] });
  });

  test('pieces whose sum is no dust hold the quote of that time', async () => {
    const due = await opened();
    for (let piece = 0; piece < 3; piece++) await shop.send(due.address, { amount: DUST / 2n });
    await shop.settle();
    await setRates(['USDT/EUR=0.5']);
    shop.wait(QUOTE_AND_GRACE);
    expect(await pageOf(due)).toMatchObject({ rateSecondsLeft: null });
    expect(await shop.payment(due)).toMatchObject({ pay_amount: 50 * TOKEN });
  });

  test('a wrong token of any amount and dust of a sanctioned sender hold none', async () => {
    for (const sent of [
      { asset: 'USDC', amount: 500n * UNIT } as const,
      { from: (await sanctioned()) ?? '', amount: DUST },
    ]) {
      const due = await opened();
      await shop.send(due.address, sent);
      await shop.settle();
      await setRates(['USDT/EUR=0.5', 'USDC/EUR=1']);
      shop.wait(QUOTE_AND_GRACE);
      if ('asset' in sent) expect(await pageOf(due)).toMatchObject({ due: { amount: '80.00' } });
      await shop.send(due.address, { amount: 80n * UNIT });
      await shop.settle();
      expect(await shop.payment(due)).toMatchObject({ status: 'completed', pay_amount: 80 * TOKEN });
    }
  });

  test('refunded dust holds none: later money counts at the rate of its own time', async () => {
    const due = await opened(USDT, { expires_in: 1_800 });
    await shop.send(due.address, { amount: DUST });
    await shop.settle();
    shop.wait(1_802);
    await shop.scan();
    expect(await shop.expire(due)).toBe(false);
    const body = { refund_id: `r-${due.paymentId}`, payment_id: due.paymentId };
    expect(await shop.merchant.sdk.refunds.create(body)).toMatchObject({ amount: Number(DUST) });
    // Within a hundredth of the old rate, so that late money counts: 40.00 at 0.794 is 50.38.
    await setRates(['USDT/EUR=0.794']);
    await shop.send(due.address, { amount: 50n * UNIT + DUST });
    await shop.settle();
    expect(await shop.payment(due)).toMatchObject({
      status: 'completed',
      pay_amount: 50_380_000,
      exceptions: ['overpaid', 'late'],
    });
  });
});

async function sanctioned() {
  const { json } = await shop.api.call('/test_helpers/addresses');
  return (json as { erc20: { risk_rejected: string } }).erc20.risk_rejected;
}

describe('without a rate', () => {
  test('late money waits for one: never at the old quote, without expiry, and the status follows its value', async () => {
    const due = await opened(USDT, { expires_in: 1_200 });
    await breakRates();
    shop.wait(QUOTE_AND_GRACE);
    await shop.send(due.address, { amount: 50n * UNIT });
    await shop.settle();
    expect(await shop.payment(due)).toMatchObject({ status: 'processing', amount_received: 50 * TOKEN });
    expect(await shop.balance()).toMatchObject({ available: 0, held: 50 * TOKEN });
    expect(await quoteJobs()).toHaveLength(1);
    const view = await pageOf(due);
    expect(view).toMatchObject({ state: 'confirming', due: null, canChoose: false });
    expect(view.notices).toMatchObject([{ code: 'no_rate' }]);
    shop.wait(500);
    await shop.scan();
    expect(await shop.expire(due)).toBe(true);
    expect(await quoteAgain(due)).toBe(true);
    expect(await shop.payment(due)).toMatchObject({ status: 'processing' });
    await setRates(['USDT/EUR=1']);
    expect(await quoteAgain(due)).toBe(false);
    expect(await shop.payment(due)).toMatchObject({
      status: 'completed',
      pay_amount: 40 * TOKEN,
      exchange_rate: '1',
      exceptions: ['overpaid'],
    });
    expect(await shop.balance()).toMatchObject({ available: 50 * TOKEN, held: 0 });
    expect(await quoteAgain(due)).toBe(false);
    expect(await eventTypesOf(shop.merchant, due.paymentId)).toEqual(['payment.completed']);
  });

  test('money that is not enough at the new rate leaves the payment open for the rest, then it expires', async () => {
    const due = await opened(USDT, { expires_in: 3_000 });
    await breakRates();
    shop.wait(QUOTE_AND_GRACE);
    await shop.send(due.address, { amount: 50n * UNIT });
    await shop.settle();
    await setRates(['USDT/EUR=0.5']);
    expect(await quoteAgain(due)).toBe(false);
    expect(await shop.payment(due)).toMatchObject({ status: 'pending', exceptions: ['underpaid'] });
    expect(await pageOf(due)).toMatchObject({ state: 'pay', due: { amount: '30.00' } });
    shop.wait(3_000);
    await shop.scan();
    expect(await shop.expire(due)).toBe(false);
    expect(await shop.payment(due)).toMatchObject({ status: 'expired', amount_received: 50 * TOKEN });
  });

  test('two options in one block: the first one counts, at its own rate once there is one', async () => {
    const due = await opened(USDT);
    const other = await shop.choose(due.session.id, USDC);
    await breakRates();
    shop.wait(QUOTE_AND_GRACE);
    const ids = [
      await shop.send(due.address, { amount: 80n * UNIT }),
      await shop.send(other, { amount: 80n * UNIT, asset: 'USDC' }),
    ] as const;
    const token = ids[0] < ids[1] ? 'USDT' : 'USDC';
    await shop.settle();
    expect(await shop.payment(due)).toMatchObject({ status: 'processing', pay_currency: token });
    await setRates(['USDT/EUR=0.5', 'USDC/EUR=1.25']);
    expect(await quoteAgain(due)).toBe(false);
    expect(await shop.payment(due)).toMatchObject({
      status: 'completed',
      pay_currency: token,
      pay_amount: { USDT: 80 * TOKEN, USDC: 32 * TOKEN }[token],
    });
  });
});

describe('money counts at the quote that was valid when it was sent', () => {
  const asked = (amount: string) => ({ state: 'pay', due: { amount } });

  test('the page has shown newer quotes before the money was seen', async () => {
    const due = await opened();
    shop.wait(890);
    await shop.send(due.address, { amount: 50n * UNIT });
    for (const [rate, amount] of [
      ['0.5', '80.00'],
      ['0.4', '100.00'],
    ] as const) {
      shop.wait(QUOTE_AND_GRACE);
      await setRates([`USDT/EUR=${rate}`]);
      expect(await pageOf(due)).toMatchObject(asked(amount));
    }
    await shop.settle();
    expect(await shop.payment(due)).toMatchObject({
      status: 'completed',
      pay_amount: 50 * TOKEN,
      exchange_rate: '0.8',
      exceptions: [],
    });
  });

  test('underpaid at its own quote: the rest is due at that, though the newest one is lower', async () => {
    const due = await opened();
    await shop.send(due.address, { amount: 40n * UNIT });
    await setRates(['USDT/EUR=1']);
    shop.wait(QUOTE_AND_GRACE);
    expect(await pageOf(due)).toMatchObject(asked('40.00'));
    await shop.settle();
    expect(await shop.payment(due)).toMatchObject({ status: 'pending', exceptions: ['underpaid'] });
    expect(await pageOf(due)).toMatchObject({ ...asked('10.00'), rateSecondsLeft: null });
  });

  test.each([
    ['in the grace of the old one, its amount, which is less', 960, ['0.5', 50n, 'completed', 50]],
    ['in the grace of the old one, its amount, which is more', 960, ['1', 50n, 'completed', 40]],
    ['in the grace of the old one, the amount of the new one', 960, ['1', 40n, 'completed', 40]],
    ['once the grace is over, the old amount', QUOTE_AND_GRACE, ['0.5', 50n, 'pending', 80]],
  ] as const)('the page shows a new one: %s', async (_, wait, [rate, sent, status, counted]) => {
    const due = await opened();
    await setRates([`USDT/EUR=${rate}`]);
    shop.wait(wait);
    await pageOf(due);
    await shop.send(due.address, { amount: sent * UNIT });
    await shop.settle();
    expect(await shop.payment(due)).toMatchObject({ status, pay_amount: counted * TOKEN });
  });

  test('if the money that held the old quote vanishes, money sent in the time of the new one counts at that', async () => {
    const due = await opened();
    shop.wait(899);
    await shop.send(due.address, { amount: 50n * UNIT });
    await setRates(['USDT/EUR=1']);
    shop.wait(1);
    expect(await pageOf(due)).toMatchObject(asked('40.00'));
    await shop.scan();
    expect(await shop.payment(due)).toMatchObject({ status: 'processing', pay_amount: 50 * TOKEN });
    await shop.chain().reorg(2);
    shop.wait(200);
    await shop.scan();
    expect(await shop.payment(due)).toMatchObject({ status: 'pending', transactions: [{ status: 'gone' }] });
    await shop.send(due.address, { amount: 40n * UNIT });
    await shop.settle();
    expect(await shop.payment(due)).toMatchObject({ status: 'completed', pay_amount: 40 * TOKEN });
  });

  test('money sent in time and seen after the end completes at the quote of its time', async () => {
    const due = await opened(USDT, { expires_in: 1_200 });
    await shop.send(due.address, { amount: 50n * UNIT });
    await setRates(['USDT/EUR=0.5']);
    shop.wait(1_100);
    expect(await pageOf(due)).toMatchObject(asked('80.00'));
    shop.wait(200);
    await shop.settle();
    const paid = { status: 'completed', pay_amount: 50 * TOKEN, exceptions: [] };
    expect(await shop.payment(due)).toMatchObject(paid);
  });
});
