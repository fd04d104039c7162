import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storeCommands } from '../../packages/server/src/operator/merchants.ts';
import { setMerchantStatus } from '../../packages/server/src/stores/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { checkout } from '../checkout/requests.ts';
import { BLOCKS_BY_HAND, startService, type TestMerchant, type TestService } from '../service.ts';
import { driver, expectAccessible, ORDER } from './checkout-driver.ts';
import { hasChromium, openBrowser } from './chromium.ts';
import { expectLooks } from './looks.ts';

const TIMEOUT_MS = 120_000;
const LARGEST_PAINT_MS_MAX = 1_000;
const DESKTOP = { width: 1280, height: 900 };
/** A desktop at 400 %. */
const ZOOMED = { width: 320, height: 225 };
const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect width="48" height="48" rx="10" fill="#b3261e"/>
  <path d="M14 12h20v24l-10-6-10 6z" fill="#fff"/></svg>`;

/** What a browser measures of a page by itself: its largest paint, and how far things moved without the payer's doing. */
const OBSERVE = `window.seen = { shifts: [], largest: 0 };
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.seen.largest = entry.startTime;
}).observe({ type: 'largest-contentful-paint', buffered: true });
new PerformanceObserver((list) => {
  for (const entry of list.getEntries())
    if (!entry.hadRecentInput)
      window.seen.shifts.push([entry.value, ...entry.sources.map(({ node }) => node?.outerHTML?.slice(0, 80) ?? '')]);
}).observe({ type: 'layout-shift', buffered: true });`;

describe.skipIf(!hasChromium())("how the payer's page looks", () => {
  let service: TestService;
  let browser: Browser;
  const payer = driver(() => browser);
  const { open, keep } = payer;

  beforeAll(async () => {
    service = await startService({ worker: true, simchainTiming: BLOCKS_BY_HAND });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  async function session(body: object = {}) {
    const merchant = await service.createMerchant({ funds: 0n });
    await brand(merchant);
    const calls = checkout(service, merchant);
    const made = await calls.open({ ...ORDER, ...body });
    return { ...calls, merchant, made };
  }

  async function brand({ storeId }: TestMerchant): Promise<void> {
    const commands = storeCommands(service.app);
    const store = encodeId('store', storeId);
    await commands.rename(store, 'Papelería Ñandú');
    await commands.setLogo(store, Buffer.from(LOGO));
    await commands.setAccent(store, '#b3261e');
    await commands.setSupport(store, 'help@shop.example');
    await commands.setTerms(store, 'https://shop.example/terms');
  }

  type Session = Awaited<ReturnType<typeof session>>;
  const chooseByForm = (url: string) =>
    fetch(url, { method: 'POST', body: new URLSearchParams({ option: 'USDT:trc20' }), redirect: 'manual' });
  const simulate = (url: string, action: string) =>
    fetch(`${url}/simulate`, { method: 'POST', body: new URLSearchParams({ action }), redirect: 'manual' });
  const stateOf = async (url: string) =>
    ((await (await fetch(`${url}/state`)).json()) as { state: string }).state;
  const reach = async (url: string, state: string) => {
    await expect.poll(() => stateOf(url), { timeout: TIMEOUT_MS }).toBe(state);
  };

  /** How to bring a payment to each state. */
  const STATES: Record<string, (own: Session) => Promise<unknown>> = {
    choose: async () => {},
    network: async () => {},
    pay: async ({ made }) => await chooseByForm(made.url),
    confirming: async ({ made }) => {
      await chooseByForm(made.url);
      await simulate(made.url, 'exact');
      await reach(made.url, 'confirming');
    },
    underpaid: async ({ made, chain }) => {
      await chooseByForm(made.url);
      await simulate(made.url, 'less');
      await chain('trc20', { mine: 3 });
      await reach(made.url, 'pay');
    },
    paid: async ({ made, chain }) => {
      await chooseByForm(made.url);
      await simulate(made.url, 'exact');
      await chain('trc20', { mine: 3 });
      await reach(made.url, 'paid');
    },
    overpaid: async ({ made, chain }) => {
      await chooseByForm(made.url);
      await simulate(made.url, 'more');
      await chain('trc20', { mine: 3 });
      await reach(made.url, 'paid');
    },
    expired: async ({ made }) => {
      await chooseByForm(made.url);
      await simulate(made.url, 'expire');
      await reach(made.url, 'expired');
    },
    canceled: async ({ made, cancelSession }) => {
      await chooseByForm(made.url);
      await cancelSession(made.id);
      await reach(made.url, 'canceled');
    },
    'canceled-late': async ({ made, cancelSession, chain }) => {
      await chooseByForm(made.url);
      await cancelSession(made.id);
      await simulate(made.url, 'late');
      await chain('trc20', { mine: 3 });
      await reach(made.url, 'canceled');
    },
    'wrong-token': async (own) => {
      await STATES.underpaid?.(own);
      const { made, pay, chain } = own;
      await pay(made.id, { currency: 'USDC', network: 'trc20', final: false, amount: 5_000_000 });
      await chain('trc20', { mine: 3 });
      const text = async () => await (await fetch(`${made.url}?lang=en`)).text();
      await expect.poll(text, { timeout: TIMEOUT_MS }).toMatch(/5\.00.USDC arrived/);
    },
    suspended: async ({ made, merchant }) => {
      await chooseByForm(made.url);
      await setMerchantStatus(service.app, merchant.merchantId, 'suspended');
    },
    frozen: async ({ made, chain }) => {
      await chooseByForm(made.url);
      await simulate(made.url, 'frozen');
      await chain('trc20', { mine: 3 });
      await reach(made.url, 'frozen');
    },
  };

  const urlOf = (made: { url: string }, state: string, lang: string) =>
    `${made.url}?lang=${lang}${state === 'network' ? '&token=USDT' : ''}`;

  test.each(Object.keys(STATES))(
    '%s: on phone and desktop, light and dark, mirrored, by keyboard, without script',
    async (state) => {
      const own = await session();
      await STATES[state]?.(own);
      await expectLooks(payer, { name: state, urlOf: (lang) => urlOf(own.made, state, lang) });
    },
    240_000,
  );

  test('texts of 500 characters without a space stay within every screen, in every language', async () => {
    const { made, merchant } = await session({ description: 'x'.repeat(500), order_id: 'y'.repeat(64) });
    await service.app.db
      .updateTable('store')
      .set({ name: 'متجر'.repeat(125) })
      .where('merchant_id', '=', merchant.merchantId)
      .execute();
    const { page, faults } = await open(made.url);
    for (const lang of ['en', 'es', 'ar', 'de', 'fr', 'pt-BR', 'zh-Hans', 'ja', 'tr']) {
      await page.goto(`${made.url}?lang=${lang}`);
      for (const { width, height } of [ZOOMED, DESKTOP]) {
        await page.setViewportSize({ width, height });
        expect(await page.evaluate('document.documentElement.scrollWidth'), lang).toBeLessThanOrEqual(width);
      }
    }
    await keep(page, 'looks-long-texts');
    expect(faults).toEqual([]);
  }, 240_000);

  test('each language is shown whole', async () => {
    const { made } = await session();
    await chooseByForm(made.url);
    const { page, faults } = await open(made.url);
    for (const lang of ['de', 'fr', 'pt-BR', 'zh-Hans', 'ja', 'tr']) {
      await page.goto(`${made.url}?lang=${lang}`);
      await page.locator('h1').waitFor();
      await keep(page, `looks-pay-${lang}`);
      await expectAccessible(page);
    }
    expect(faults).toEqual([]);
  }, 240_000);

  test('nothing moves when the payment is seen, on a phone and on a desktop', async () => {
    for (const viewport of [{ width: 390, height: 844 }, DESKTOP]) {
      const { made, chain } = await session();
      await chooseByForm(made.url);
      const { page, faults } = await open(made.url, { viewport, initScript: OBSERVE });
      await page.getByRole('button', { name: 'Copy the address' }).waitFor();
      await simulate(made.url, 'exact');
      await heading(page, 'We see your payment');
      await chain('trc20', { mine: 3 });
      await heading(page, 'Paid. Thank you!');
      const { shifts, largest } = (await page.evaluate('window.seen')) as {
        shifts: unknown[][];
        largest: number;
      };
      console.log(`largest contentful paint, ${viewport.width} px wide: ${Math.round(largest)} ms`);
      expect(shifts).toEqual([]);
      expect(faults).toEqual([]);
      await page.context().close();
    }
  }, 240_000);

  test('the page is there within a second on a processor 4 times slower', async () => {
    const { made } = await session();
    await chooseByForm(made.url);
    const { page } = await open(made.url, { initScript: OBSERVE });
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    const paints: number[] = [];
    for (let i = 0; i < 5; i++) {
      await page.goto(made.url);
      await page.getByRole('button', { name: 'Copy the address' }).waitFor();
      const largest = () => page.evaluate<number>('window.seen.largest');
      // The browser tells of a paint some time after it.
      await expect.poll(largest, { timeout: TIMEOUT_MS }).toBeGreaterThan(0);
      paints.push(Math.round(await largest()));
    }
    console.log(`largest contentful paint with a processor 4 times slower: ${paints.join(', ')} ms`);
    // Of five the best one: what else the machine does is not the page's.
    expect(Math.min(...paints)).toBeLessThanOrEqual(LARGEST_PAINT_MS_MAX);
    await page.context().close();
  }, 240_000);

  const heading = (page: Page, name: string) =>
    page.getByRole('heading', { level: 1, name }).waitFor({ timeout: TIMEOUT_MS });
});
