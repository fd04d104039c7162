import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { hasChromium, openBrowser } from './chromium.ts';
import { consoleDriver } from './console-driver.ts';

const LONG_MS = 300_000;

describe.skipIf(!hasChromium())('seized money in the console', () => {
  let service: TestService;
  let merchant: TestMerchant;
  let browser: Browser;
  const { signIn, looks } = consoleDriver(() => ({ service, merchant, browser }));

  beforeAll(async () => {
    service = await startService({ worker: true });
    merchant = await service.createMerchant({ funds: 0n });
    browser = await openBrowser();
  }, LONG_MS);
  afterAll(async () => {
    await browser?.close();
    await service.stop();
  });

  async function decide(page: Page, label: string) {
    await page.getByRole('link', { name: 'Seized money' }).click();
    await page.getByLabel('Show').selectOption('sandbox');
    await page.getByRole('row').getByRole('button', { name: label }).click();
    await page.getByRole('dialog').getByRole('button', { name: label }).click();
  }

  test('what a listed wallet paid waits for two operators: one decides, takes it back, decides again, another agrees', {
    timeout: LONG_MS,
  }, async () => {
    const { checkout } = merchant.sdk.testHelpers;
    const session = await merchant.sdk.checkout.sessions.create({ amount: 1_250n, currency: 'USD' });
    await checkout.sessions.pay(session.id, { currency: 'USDT', network: 'erc20', from: 'sanctioned' });
    const status = async () => (await merchant.sdk.payments.retrieve(session.payment_id)).status;
    await expect.poll(status).toBe('frozen');
    const first = await signIn('operator');
    await decide(first.page, 'Keep');
    await first.page.getByText('would keep it').waitFor();
    await first.page.getByText('Fewer than two people have the role operator').waitFor();
    await looks(first.page, 'operator-seizures');
    await decide(first.page, 'Withdraw');
    await first.page.getByText('would keep it').waitFor({ state: 'hidden' });
    await decide(first.page, 'Release');
    await first.page.getByText('would release it').waitFor();
    const second = await signIn('operator');
    await first.page.reload();
    await first.page.getByText('would release it').waitFor();
    expect(await first.page.getByText('Fewer than two people').count()).toBe(0);
    await decide(second.page, 'Release');
    await second.page.getByText('Nothing is seized in sandboxes').waitFor();
    await expect.poll(status).toBe('completed');
    expect([...first.faults, ...second.faults]).toEqual([]);
    await Promise.all([first, second].map(({ page }) => page.context().close()));
  });
});
