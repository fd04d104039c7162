import type { FastifyInstance } from 'fastify';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { receiptOf } from '../mail/receipt.ts';
import { serveSandboxPages } from '../sandbox-pages.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { driver, expectAccessible } from './checkout-driver.ts';
import { hasChromium, openBrowser } from './chromium.ts';

const TIMEOUT_MS = 120_000;

describe.skipIf(!hasChromium())('the mail inbox in a browser', () => {
  let service: TestService;
  let merchant: TestMerchant;
  let server: FastifyInstance;
  let browser: Browser;
  let url = '';
  const { open, keep } = driver(() => browser);

  beforeAll(async () => {
    service = await startService({ worker: true });
    merchant = await service.createMerchant({ funds: 0n });
    ({ url, server } = await serveSandboxPages(service, merchant));
    browser = await openBrowser();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await service?.stop();
  });

  test('a mail comes by itself, and is read as text and as its reader sees it', async () => {
    const { page, faults } = await open(`${url}/sandbox/mails`);
    await page.getByRole('heading', { name: 'No mail yet' }).waitFor();
    const { id } = await receiptOf(merchant, 'ada@example.com');
    const { subject } = await merchant.sdk.mails.retrieve(id);
    const heading = page.getByRole('heading', { level: 2, name: subject ?? '' });
    await heading.waitFor({ timeout: TIMEOUT_MS });
    await page.getByText('Text', { exact: true }).click();
    await page.getByText('View the payment:').waitFor();
    await expectAccessible(page);
    await keep(page, 'mails-list');
    await page.getByRole('link', { name: 'As its reader sees it' }).click();
    const button = page.getByRole('link', { name: 'View the payment' });
    await button.waitFor();
    await expectAccessible(page);
    await keep(page, 'mails-receipt');
    const style = await page.evaluate<string>(
      "getComputedStyle(document.querySelector('.button')).backgroundColor",
    );
    expect(style).not.toBe('rgba(0, 0, 0, 0)');
    await button.click();
    await page.getByRole('heading', { level: 1, name: 'Paid. Thank you!' }).waitFor({ timeout: TIMEOUT_MS });
    // A mail names no icon, so the browser asks for the service's, which has none without a key.
    expect(faults.filter((fault) => !fault.includes('401'))).toEqual([]);
  }, 240_000);
});
