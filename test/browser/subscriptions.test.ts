import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../service.ts';
import { DAY, item } from '../subscriptions/billing.ts';
import { driver, expectAccessible } from './checkout-driver.ts';
import { hasChromium, openBrowser } from './chromium.ts';
import { subscribe } from './subscribed.ts';

const TIMEOUT_MS = 120_000;

describe.skipIf(!hasChromium())('the pages of subscriptions in a browser', () => {
  let service: TestService;
  let browser: Browser;
  const { open, keep } = driver(() => browser);

  beforeAll(async () => {
    service = await startService({ worker: true });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  /** A subscription whose customer stands before its page. */
  async function subscribed(more: object = {}) {
    const merchant = await service.createMerchant({ funds: 0n });
    await service.app.db
      .updateTable('store')
      .set({ name: 'Papelería Ñandú' })
      .where('merchant_id', '=', merchant.merchantId)
      .execute();
    return await subscribe(service, merchant, more);
  }

  const heading = (page: Page, name: string) =>
    page.getByRole('heading', { level: 1, name }).waitFor({ timeout: TIMEOUT_MS });

  test('without script, by keyboard: the plan, a wallet, and the subscription has begun', async () => {
    const { url, id, read } = await subscribed();
    const { page, faults } = await open(url, { javaScriptEnabled: false });
    await heading(page, 'Subscribe to');
    await keep(page, 'subscribe-1-choose');
    await page.getByRole('radio', { name: /USDT.* on .*Tron/ }).press('Space');
    await page.keyboard.press('Enter');
    await heading(page, 'Your subscription has begun');
    await keep(page, 'subscribe-2-done');
    await page.getByRole('link', { name: 'Back to' }).waitFor();
    expect(await read(id)).toMatchObject({ status: 'active' });
    expect(faults).toEqual([]);
    await page.context().close();
  }, 120_000);

  test('paying only this period leads through the page of the invoice, which has no countdown', async () => {
    const { url, id, read } = await subscribed({ items: [item(2_499)] });
    const { page, faults } = await open(url);
    await page.getByRole('link', { name: 'Pay only this period' }).click();
    await heading(page, 'How would you like to pay?');
    await page.getByText('Notebooks, every month another one').waitFor();
    await page.getByText(/^For /).waitFor();
    await keep(page, 'subscribe-3-invoice');
    await expectAccessible(page);
    await page.getByRole('link', { name: 'USDT' }).click();
    await page.getByRole('button', { name: 'Tron' }).click();
    await heading(page, 'Send');
    expect(await page.getByText('Time to pay').count()).toBe(0);
    await keep(page, 'subscribe-4-invoice-pay');
    await page.getByRole('button', { name: 'Pay with the test wallet' }).click();
    await heading(page, 'Paid. Thank you!');
    await expect.poll(async () => (await read(id)).status, { timeout: TIMEOUT_MS }).toBe('active');
    expect(faults).toEqual([]);
    await page.context().close();
  }, 120_000);

  test('nothing keeps people out, in light and dark, in three languages, and on a small phone', async () => {
    const own = await subscribed();
    const { page } = await open(own.url);
    for (const lang of ['en', 'es', 'ar']) {
      await page.goto(`${own.url}?lang=${lang}`);
      await expectAccessible(page);
      await keep(page, `subscribe-5-choose-${lang}`);
    }
    await page.emulateMedia({ colorScheme: 'dark' });
    await keep(page, 'subscribe-5-choose-dark');
    await own.authorize(own.id);
    await page.goto(own.url);
    await heading(page, 'Your subscription has begun');
    await expectAccessible(page);
    const url = await own.link();
    for (const lang of ['en', 'es', 'ar']) {
      await page.goto(`${url}?lang=${lang}`);
      for (const summary of await page.locator('summary').all()) await summary.click();
      await expectAccessible(page);
      await keep(page, `portal-1-active-${lang}`);
      await page.locator('input[value=cancel] ~ p button').click();
      await page.locator('[name=sure]').waitFor({ state: 'attached' });
      await expectAccessible(page);
      await keep(page, `portal-2-cancel-${lang}`);
    }
    await page.goto(`${url}?lang=en`);
    await page.emulateMedia({ colorScheme: 'dark' });
    await keep(page, 'portal-1-active-dark');
    await page.getByText('Invoices and receipts').click();
    await page.getByRole('link', { name: 'Receipt' }).click();
    await heading(page, 'Receipt');
    await keep(page, 'portal-3-receipt');
    await expectAccessible(page);
    await own.cancel(own.id);
    await page.goto(own.url);
    await heading(page, 'This subscription has ended');
    await expectAccessible(page);
    await page.goto(`${url.slice(0, -4)}1111`);
    await heading(page, 'There is no subscription here');
    await expectAccessible(page);
    await page.context().close();
  }, 180_000);

  test('a customer with an empty wallet sees why, uses another one, cancels and undoes it', async () => {
    const own = await subscribed();
    await own.authorize(own.id);
    await (await own.wallet()).hold(0n);
    await own.advance(32 * DAY);
    const { page, faults } = await open(await own.link(), { javaScriptEnabled: false });
    await page.getByText('This wallet cannot pay what is due next').waitFor();
    await keep(page, 'portal-4-overdue');
    await page.getByText('Use another wallet').click();
    await page.getByRole('radio', { name: /USDC.* on .*Solana/ }).check();
    await page.getByRole('button', { name: 'Confirm with the test wallet' }).press('Enter');
    await page.getByText('Next payment').waitFor({ timeout: TIMEOUT_MS });
    await keep(page, 'portal-5-replaced');
    await page.getByRole('button', { name: 'Cancel the subscription' }).click();
    await heading(page, 'Cancel this subscription?');
    await page.getByRole('button', { name: 'Yes, cancel it' }).click();
    await page.getByText('Ends on').waitFor();
    await keep(page, 'portal-6-ending');
    await page.getByRole('button', { name: 'Keep the subscription after all' }).click();
    await page.getByText('Next payment').waitFor();
    expect(await own.read(own.id)).toMatchObject({ status: 'active' });
    expect(faults).toEqual([]);
    await page.context().close();
  }, 180_000);
});
