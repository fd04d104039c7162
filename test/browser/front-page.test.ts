import type { FastifyInstance } from 'fastify';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeEvent } from '../events/make-event.ts';
import { serveSandboxPages } from '../sandbox-pages.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { driver, expectAccessible } from './checkout-driver.ts';
import { hasChromium, openBrowser } from './chromium.ts';

describe.skipIf(!hasChromium())('the front door in a browser', () => {
  let service: TestService;
  let merchant: TestMerchant;
  let server: FastifyInstance;
  let browser: Browser;
  let baseUrl = '';
  const { open, keep } = driver(() => browser);

  beforeAll(async () => {
    service = await startService({ worker: true });
    merchant = await service.createMerchant({ funds: 0n });
    ({ url: baseUrl, server } = await serveSandboxPages(service, merchant));
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await service?.stop();
  });

  test('events appear by themselves, the command is copied, and the demo checkout is one click away', async () => {
    const { page, faults } = await open(`${baseUrl}/`, {
      viewport: { width: 1100, height: 900 },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByText('No event yet').waitFor();
    await keep(page, 'front-empty');
    await expectAccessible(page);
    await makeEvent(service, merchant, { resource: 'pb_live' });
    await page.getByRole('region', { name: 'payout_batch.updated' }).waitFor();
    expect(await page.getByText('No event yet').count()).toBe(0);
    await page.getByRole('button', { name: 'Copy the command' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      'npx florin sign GET /api/v1/balances | sh',
    );
    await keep(page, 'front-events');
    await page.emulateMedia({ colorScheme: 'dark' });
    await keep(page, 'front-dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Open a demo checkout' }).click();
    await page.getByText('Demo checkout').first().waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Open the webhook inbox' }).click();
    await page.getByRole('heading', { name: 'Webhook inbox' }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  }, 120_000);

  test('without script on a phone everything but the live part works', async () => {
    const { page, faults } = await open(`${baseUrl}/`, { javaScriptEnabled: false });
    expect(await page.getByRole('status').textContent()).toContain('Reload');
    expect(await page.getByRole('button', { name: 'Copy the command' }).count()).toBe(0);
    await page.getByText('npx florin sign GET').waitFor();
    await keep(page, 'front-phone');
    await page.getByRole('button', { name: 'Open a demo checkout' }).click();
    await page.getByText('Demo checkout').first().waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  }, 120_000);

  for (const [name, path, title] of [
    ['missing', '/nothing-here', 'There is no page at this address'],
    ['forbidden', '/sandbox/events', 'This page is not for you to open'],
  ] as const) {
    test(`an address that is ${name} has a page that everybody can read`, async () => {
      const { page } = await open(`${baseUrl}/docs/errors`);
      // As behind a proxy.
      if (name === 'forbidden') await page.setExtraHTTPHeaders({ 'x-forwarded-for': '203.0.113.9' });
      await page.goto(`${baseUrl}${path}`);
      await page.getByRole('heading', { name: title }).waitFor();
      await keep(page, `trouble-${name}`);
      await expectAccessible(page);
      await page.context().close();
    }, 120_000);
  }

  test('elsewhere it is a small page that names the service', async () => {
    const { page, faults } = await open(service.baseUrl);
    await page.getByText('This is a payment service.').waitFor();
    await keep(page, 'service');
    await expectAccessible(page);
    expect(faults).toEqual([]);
    await page.context().close();
  }, 120_000);
});
