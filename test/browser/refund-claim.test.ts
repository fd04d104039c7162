import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shop } from '../refunds/requests.ts';
import { startService, type TestService } from '../service.ts';
import { driver, expectAccessible } from './checkout-driver.ts';
import { hasChromium, openBrowser } from './chromium.ts';

const TIMEOUT_MS = 120_000;

describe.skipIf(!hasChromium())("the page behind a refund's link in a browser", () => {
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

  async function asked() {
    const calls = await shop(service, { funds: 1_000_000_000n });
    await service.app.db
      .updateTable('store')
      .set({ name: 'Papelería Ñandú' })
      .where('merchant_id', '=', calls.merchant.merchantId)
      .execute();
    const { id } = await calls.paid();
    const refund = await calls.refund({ refund_id: 'r', payment_id: id });
    const { erc20 } = await calls.merchant.sdk.testHelpers.addresses();
    return { ...calls, url: refund.claim_url ?? '', address: erc20.succeed };
  }

  const heading = (page: Page, name: string) =>
    page.getByRole('heading', { level: 1, name }).waitFor({ timeout: TIMEOUT_MS });

  test('without script, by keyboard: a mistake, the confirmation, the progress, the end', async () => {
    const { url, address, ended } = await asked();
    const { page, faults } = await open(url, { javaScriptEnabled: false });
    await heading(page, 'Your refund');
    await keep(page, 'refund-1-ask');
    const field = page.getByLabel('Your address on Ethereum');
    await field.fill(`${address.slice(0, -1)}`);
    await field.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'This is not an address' }).waitFor();
    await keep(page, 'refund-2-mistake');
    await page.getByLabel('Your address on Ethereum').fill(address);
    await page.getByRole('button', { name: 'Continue' }).click();
    await heading(page, 'Is this your address?');
    await keep(page, 'refund-3-check');
    expect(await page.locator('.address').first().textContent()).toBe(address);
    await page.getByRole('link', { name: 'Change the address' }).click();
    await heading(page, 'Your refund');
    await page.getByLabel('Your address on Ethereum').fill(address);
    await page.keyboard.press('Enter');
    await heading(page, 'Is this your address?');
    await page.getByRole('button', { name: 'Yes, send it there' }).press('Enter');
    await page.getByRole('heading', { level: 1, name: /on its way|was sent/ }).waitFor();
    await keep(page, 'refund-4-way');
    expect(await ended('r')).toMatchObject({ status: 'succeeded', address });
    await page.reload();
    await heading(page, 'Your refund was sent');
    await keep(page, 'refund-5-sent');
    // Chromium itself reports the 400 of the mistake.
    expect(faults.filter((fault) => !fault.includes('400'))).toEqual([]);
    await page.context().close();
  }, 120_000);

  test('nothing keeps people out, in light and dark, in three languages, and on a small phone', async () => {
    const { url, address, cancel } = await asked();
    const { page } = await open(url);
    for (const lang of ['en', 'es', 'ar']) {
      await page.goto(`${url}?lang=${lang}`);
      await expectAccessible(page);
      await page.locator('#address').fill('hello');
      await page.locator('button').first().click();
      await page.getByRole('alert').waitFor();
      await expectAccessible(page);
      await keep(page, `refund-6-mistake-${lang}`);
      await page.locator('#address').fill(address);
      await page.locator('button').first().click();
      await page.locator('[name=sure]').waitFor({ state: 'attached' });
      await expectAccessible(page);
      await keep(page, `refund-7-check-${lang}`);
    }
    await cancel('r');
    await page.goto(url);
    await heading(page, 'This link is over');
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await keep(page, 'refund-8-over-dark');
    await page.goto(`${url.slice(0, -4)}1111`);
    await heading(page, 'There is no refund here');
    await expectAccessible(page);
    await page.context().close();
  }, 120_000);
});
