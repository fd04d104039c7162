import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { BLOCKS_BY_HAND, startService, type TestMerchant, type TestService } from '../service.ts';
import { driver, expectAccessible, ORDER } from './checkout-driver.ts';
import { hasChromium, openBrowser } from './chromium.ts';

const TIMEOUT_MS = 120_000;

describe.skipIf(!hasChromium())("the payer's page in a browser", () => {
  let service: TestService;
  let still: TestService;
  let merchant: TestMerchant;
  let browser: Browser;
  const { open, keep } = driver(() => browser);

  beforeAll(async () => {
    service = await startService({ worker: true });
    still = await startService({ worker: true, simchainTiming: BLOCKS_BY_HAND });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await still?.stop();
  });

  /** A session of a merchant of its own, as tests move the merchant's clock. */
  async function session(body: object = {}, on = service) {
    merchant = await on.createMerchant({ funds: 0n });
    await on.app.db
      .updateTable('store')
      .set({ name: 'Papelería Ñandú' })
      .where('merchant_id', '=', merchant.merchantId)
      .execute();
    const calls = checkout(on, merchant);
    const made = await calls.open({ ...ORDER, ...body });
    return { ...calls, made };
  }

  const heading = (page: Page, name: string) =>
    page.getByRole('heading', { level: 1, name }).waitFor({ timeout: TIMEOUT_MS });
  const note = (page: Page, text: string) =>
    page.locator('.note').filter({ hasText: text }).waitFor({ timeout: TIMEOUT_MS });
  const play = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  /** Taps a token, then a network. */
  async function choose(page: Page, name = 'USDT on Tron'): Promise<void> {
    const [token = '', network = ''] = name.split(' on ');
    // A price in a token is paid in it alone: only the network is asked for.
    const heads = page.getByRole('heading', { level: 1 });
    await expect.poll(() => heads.textContent(), { timeout: TIMEOUT_MS }).toMatch(/How would you|On which/);
    if (await page.getByText('How would you like').isVisible())
      await page.getByRole('link', { name: token }).click();
    await page.getByRole('button', { name: network }).click();
    await heading(page, 'Send');
  }

  test('paid: chosen, scanned or copied, confirmed live, with a receipt and the way back', async () => {
    const { made, payment, chain } = await session({}, still);
    const { page, faults } = await open(made.url);
    await heading(page, 'How would you like to pay?');
    await page.getByText('$24.99').first().waitFor();
    await page.getByRole('link', { name: 'USDT' }).getByText('≈\u00a024.99\u00a0USDT').waitFor();
    await keep(page, '1-choose');
    await expectAccessible(page);
    await choose(page);
    await keep(page, '2-pay');
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await keep(page, '2-pay-dark');
    await page.emulateMedia({ colorScheme: 'light' });
    const wide = await open(made.url, { viewport: { width: 1280, height: 900 } });
    await keep(wide.page, '2-pay-wide');
    await wide.page.context().close();
    await page.getByText('Copy amount and address into your wallet').waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const { address } = await payment(made.payment_id);
    await page.getByRole('button', { name: 'Copy the address' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(address);
    await page.getByRole('status').getByText('Address copied').waitFor();
    await page.getByRole('button', { name: 'Copy the amount' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('24.99');
    await play(page, 'Pay exactly');
    await heading(page, 'We see your payment');
    await page.getByText('Confirmations: 1 of 3').waitFor();
    await keep(page, '3-confirming');
    await chain('trc20', { mine: 1 });
    await page.getByText('Confirmations: 2 of 3').waitFor();
    await chain('trc20', { mine: 1 });
    await heading(page, 'Paid. Thank you!');
    await page.getByText('24.99\u00a0USDT').first().waitFor();
    await keep(page, '4-paid');
    await expectAccessible(page);
    expect(await page.getByRole('link', { name: 'Back to Papelería Ñandú' }).getAttribute('href')).toBe(
      'https://shop.example/thanks',
    );
    expect(await page.title()).toBe('Paid – Papelería Ñandú');
    expect(await page.getByText('Test panel').count()).toBe(0);
    expect(faults).toEqual([]);
  }, 120_000);

  test('Back goes back a step at a time, with and without script', async () => {
    for (const javaScriptEnabled of [true, false]) {
      const { made } = await session();
      const { page, faults } = await open(made.url, { javaScriptEnabled });
      await choose(page);
      await page.goBack();
      await heading(page, 'On which network?');
      if (javaScriptEnabled) {
        await page.goBack();
        await heading(page, 'How would you like to pay?');
        await page.goForward();
        await heading(page, 'On which network?');
      }
      await page.getByRole('button', { name: 'Solana' }).click();
      await page.getByText('USDT on Solana').first().waitFor();
      await page.getByRole('link', { name: 'Change' }).click();
      await heading(page, 'How would you like to pay?');
      await page.goBack();
      await heading(page, 'Send');
      expect(faults).toEqual([]);
      await page.context().close();
    }
  }, 120_000);

  test('an address that asks for it leads back to the store once paid, unless the payer stays', async () => {
    const back = `${service.baseUrl}/health/live`;
    for (const stays of [true, false]) {
      const { made } = await session({ success_url: back.replace('127.0.0.1', 'localhost') });
      const { page } = await open(`${made.url}?return=auto`);
      await choose(page);
      await play(page, 'Pay with the test wallet');
      await heading(page, 'Paid. Thank you!');
      if (stays) {
        await keep(page, '20-auto-return');
        await page.getByRole('button', { name: 'Stay on this page' }).click();
        expect(page.url()).not.toContain('return=auto');
        await page.getByText('Back to Papelería Ñandú in').waitFor({ state: 'detached' });
      } else await page.waitForURL(/health\/live/, { timeout: TIMEOUT_MS });
      await page.context().close();
    }
  }, 120_000);

  test('one click of the simulated wallet pays', async () => {
    const { made } = await session();
    const { page, faults } = await open(made.url);
    await choose(page, 'USDC on Solana');
    await play(page, 'Pay with the test wallet');
    await heading(page, 'Paid. Thank you!');
    expect(faults).toEqual([]);
  }, 120_000);

  test('too little, then the rest; and too much, also once it is paid', async () => {
    const { made, pay } = await session({ amount: 10 * TOKEN, currency: 'USDT' });
    const { page, faults } = await open(made.url);
    await choose(page);
    await play(page, 'Pay too little');
    await heading(page, 'Send the rest: 4.00');
    await note(page, '6.00\u00a0USDT arrived. Still missing: 4.00\u00a0USDT.');
    await keep(page, '5-underpaid');
    await expectAccessible(page);
    await play(page, 'Pay too much');
    await heading(page, 'Paid. Thank you!');
    await note(page, '5.00\u00a0USDT too much arrived.');
    await keep(page, '6-overpaid');
    await pay(made.id, { network: 'trc20', amount: 2 * TOKEN });
    await note(page, '7.00\u00a0USDT too much arrived.');
    expect(faults).toEqual([]);
  }, 120_000);

  test('a wrong token is shown and kept; dropped blocks take a payment back', async () => {
    const { made } = await session({}, still);
    const { page, faults } = await open(made.url);
    await choose(page, 'USDT on Ethereum');
    await play(page, 'Drop the newest blocks');
    await note(page, 'Your payment is gone again');
    await keep(page, '7-vanished');
    await play(page, 'Pay a wrong token');
    await note(page, 'Another token arrived');
    await keep(page, '8-wrong-token');
    await expectAccessible(page);
    expect(faults).toEqual([]);
  }, 120_000);

  test('expired: what to do when money was sent; late money is found all the same', async () => {
    const { made } = await session();
    const { page, faults } = await open(made.url);
    await choose(page);
    await play(page, 'Let it expire');
    await heading(page, 'This payment has expired');
    await note(page, 'Have you sent money already?');
    expect(await page.locator('[data-exact=address]').count()).toBe(0);
    await keep(page, '9-expired');
    await expectAccessible(page);
    await play(page, 'Pay too late');
    await heading(page, 'Paid. Thank you!');
    expect(faults).toEqual([]);
  }, 120_000);

  test('the time is over and a network cannot be read: nothing may be sent, nothing is said to be lost', async () => {
    const { made, chain } = await session();
    const { page, faults } = await open(made.url);
    await choose(page);
    await chain('trc20', { outage_seconds: 10_000 });
    await merchant.sdk.testHelpers.advanceClock(1_800);
    await heading(page, 'The time to pay is over');
    expect(await page.locator('[data-exact=address]').count()).toBe(0);
    await keep(page, '19-closing');
    await expectAccessible(page);
    await chain('trc20', { outage_seconds: 0 });
    await heading(page, 'This payment has expired');
    expect(faults).toEqual([]);
  }, 120_000);

  test('a browser that draws late raises no alarm when the address is taken away', async () => {
    const { made, cancelSession } = await session();
    const initScript = `{
      const later = window.setTimeout;
      window.requestAnimationFrame = (draw) => later(() => draw(performance.now()), 3_000);
      window.setTimeout = (work, ms, ...rest) => later(work, ms < 100 ? 3_000 : ms, ...rest);
    }`;
    const { page, faults } = await open(made.url, { initScript });
    await choose(page);
    // The guard looks each second; it has begun once the page is live.
    await page.waitForTimeout(4_000);
    await cancelSession(made.id);
    await heading(page, 'This payment was canceled');
    await page.waitForTimeout(2_000);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('This payment was canceled');
    expect(faults).toEqual([]);
  }, 120_000);

  test('canceled by the merchant, and money that comes after it', async () => {
    const { made, cancelSession } = await session();
    const { page, faults } = await open(made.url);
    await choose(page);
    await cancelSession(made.id);
    await heading(page, 'This payment was canceled');
    await keep(page, '10-canceled');
    await expectAccessible(page);
    await play(page, 'Pay too late');
    await note(page, 'Your payment came late');
    await keep(page, '11-canceled-late');
    expect(faults).toEqual([]);
  }, 120_000);

  test('frozen: a sanctioned sender', async () => {
    const { made } = await session();
    const { page, faults } = await open(made.url);
    await choose(page);
    await play(page, 'Pay from a listed sender');
    await heading(page, 'This payment is being reviewed');
    await keep(page, '12-frozen');
    await expectAccessible(page);
    expect(faults).toEqual([]);
  }, 120_000);

  test('without script: chosen by a form, address and amount as text, paid by the panel', async () => {
    const { made, payment } = await session();
    const { page } = await open(made.url, { javaScriptEnabled: false });
    await choose(page, 'USDC on Tron');
    const { address } = await payment(made.payment_id);
    await page.getByText(address ?? 'none', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
    await keep(page, '13-without-script');
    await page.getByRole('link', { name: 'Change' }).click();
    await choose(page, 'USDC on Ethereum');
    // Nothing but the page itself asks again while it waits.
    expect(await page.content()).toContain('http-equiv="refresh"');
    await play(page, 'Pay exactly');
    await expect
      .poll(async () => (await payment(made.payment_id)).status, { timeout: TIMEOUT_MS })
      .toBe('completed');
    await page.reload();
    await heading(page, 'Paid. Thank you!');
  }, 120_000);

  test('by keyboard alone, in Spanish; and Arabic is mirrored', async () => {
    const { made } = await session();
    const { page, faults } = await open(made.url, { locale: 'es-ES' });
    await heading(page, '¿Cómo quiere pagar?');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toMatch(/^USDT/);
    await keep(page, '14-spanish');
    await page.keyboard.press('Enter');
    await heading(page, '¿En qué red?');
    // The heading has the focus, and no ring: what comes next is the cheapest network.
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('none');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.value')).toBe('USDT:spl');
    await page.keyboard.press('Enter');
    await heading(page, 'Envíe');
    const arabic = await open(`${made.url}?lang=ar`);
    await heading(arabic.page, 'أرسل');
    expect(await arabic.page.evaluate('getComputedStyle(document.body).direction')).toBe('rtl');
    await keep(arabic.page, '15-arabic');
    await expectAccessible(arabic.page);
    expect([...faults, ...arabic.faults]).toEqual([]);
  }, 120_000);

  test('the countdown is quiet until a quarter is left, and says so once', async () => {
    const { made } = await session({ expires_in: 1_200 });
    const { page } = await open(made.url);
    await choose(page);
    await page.getByText('Time to pay: 20 minutes').waitFor();
    expect(await page.getByRole('timer').count()).toBe(0);
    await merchant.sdk.testHelpers.advanceClock(960);
    await page.getByRole('timer').waitFor({ timeout: TIMEOUT_MS });
    await page.getByRole('status').getByText('left to pay').waitFor();
    expect(await page.getByRole('timer').textContent()).toMatch(/^Only [0-4]:\d\d left to pay$/);
    await keep(page, '16-little-time');
  }, 120_000);

  test('where no stream comes through, asking brings the news', async () => {
    const { made, pay } = await session({ amount: 10 * TOKEN, currency: 'USDT' });
    const { page } = await open(made.url);
    await page.route('**/events*', (route) => route.abort());
    await page.reload();
    await choose(page);
    await pay(made.id, { network: 'trc20' });
    await heading(page, 'Paid. Thank you!');
    expect(await page.title()).toMatch(/^Paid/);
  }, 120_000);

  test('an address that opens nothing says so kindly', async () => {
    const { made } = await session();
    const { page } = await open(`${made.url.slice(0, -4)}1111`);
    await heading(page, 'There is no payment here');
    expect(await page.title()).toBe('There is no payment here');
    await keep(page, '17-not-found');
    await expectAccessible(page);
  }, 120_000);
});
