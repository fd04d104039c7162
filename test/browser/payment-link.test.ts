import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { driver, expectAccessible } from './checkout-driver.ts';
import { hasChromium, openBrowser } from './chromium.ts';

describe.skipIf(!hasChromium())('a payment link in a browser', () => {
  let service: TestService;
  let merchant: TestMerchant;
  let browser: Browser;
  const { open, keep } = driver(() => browser);

  beforeAll(async () => {
    service = await startService({ worker: true });
    merchant = await service.createMerchant({ funds: 0n });
    browser = await openBrowser();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  test('an open amount: prompted again, typed, clicked twice, and redirected to one page that is paid', async () => {
    const link = await merchant.sdk.paymentLinks.create({
      open: true,
      currency: 'USD',
      description: 'Tips for the team',
    });
    const { page, faults } = await open(link.url, { javaScriptEnabled: false });
    await keep(page, 'link-open');
    await page.getByLabel(/^Amount in/).fill('1,000');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await keep(page, 'link-open-again');
    expect(await page.getByLabel(/^Amount in/).inputValue()).toBe('1,000');
    await page.getByLabel(/^Amount in/).fill('12.50');
    await page.getByRole('button', { name: 'Continue to payment' }).dblclick();
    // The second click stops the navigation of the first, for which waiting for the address would fail.
    await expect.poll(() => page.url(), { timeout: 60_000 }).toMatch(/\/checkout\//);
    await page.waitForLoadState();
    expect(await page.content()).toContain('$12.50');
    const sessions = await service.app.db
      .selectFrom('checkout_session')
      .select('session_id')
      .where('merchant_id', '=', merchant.merchantId)
      .execute();
    expect(sessions).toHaveLength(1);
    // The browser writes down the answer of 400 by itself.
    expect(faults.filter((fault) => !fault.includes('400'))).toEqual([]);
  });

  test('every state can be read by everybody, in light and dark, and on a small phone', async () => {
    const fixed = await merchant.sdk.paymentLinks.create({
      amount: 123_456_789n,
      currency: 'EUR',
      description:
        'A description that is rather long, as merchants write them, with a word of Kreuzschlitzschraubendreher.',
    });
    const open_ = await merchant.sdk.paymentLinks.create({ open: true, currency: 'KWD' });
    const closed = await merchant.sdk.paymentLinks.create({ amount: 1n, currency: 'USD' });
    await merchant.sdk.paymentLinks.update(closed.id, { active: false });
    const states: [name: string, url: string][] = [
      ['link-fixed', fixed.url],
      ['link-open-arabic', `${open_.url}?lang=ar`],
      ['link-print', `${fixed.url}/qr`],
      ['link-closed', closed.url],
      ['link-missing', `${service.baseUrl}/pay/nothing`],
    ];
    for (const [name, url] of states) {
      const { page } = await open(url);
      await keep(page, name);
      await expectAccessible(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      await keep(page, `${name}-dark`);
      await page.context().close();
    }
  });
});
