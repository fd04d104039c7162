import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkout } from '../checkout/requests.ts';
import { hostileMarkup } from '../own-cases/text.ts';
import { FULL } from '../scale.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { driver, readQr } from './checkout-driver.ts';
import { hasChromium, openBrowser, openWithExtension } from './chromium.ts';

const TIMEOUT_MS = 120_000;
const EXTENSION = path.resolve(import.meta.dirname, '..', 'fixtures', 'hostile-extension');
const OPTIONS = ['USDT:erc20', 'USDT:trc20', 'USDT:spl', 'USDC:erc20', 'USDC:trc20', 'USDC:spl'] as const;
const DESCRIPTION_MAX = 500;
/** In a short run the page shows our own texts and every eighth of the corpora. */
const SHARE = 8;
const OWN_TEXTS = 3;

/** As many lines as fit into a description; what is longer is cut. */
function packed(lines: readonly string[]): string[] {
  const texts: string[] = [''];
  for (const line of lines) {
    const last = `${texts.at(-1)}\n${line}`;
    if (Array.from(last).length <= DESCRIPTION_MAX) texts[texts.length - 1] = last;
    else texts.push(Array.from(line).slice(0, DESCRIPTION_MAX).join(''));
  }
  return texts;
}

describe.skipIf(!hasChromium())("F9: the payer's page among enemies", () => {
  let service: TestService;
  let merchant: TestMerchant;
  let browser: Browser;
  const { open, keep } = driver(() => browser);

  beforeAll(async () => {
    service = await startService({ worker: true });
    merchant = await service.createMerchant({ funds: 0n });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const choose = (url: string, option: string) =>
    fetch(url, { method: 'POST', body: new URLSearchParams({ option }), redirect: 'manual' });

  test('F9: the address in the code, on the page and in the API is one, whatever the URL says', async () => {
    const calls = checkout(service, merchant);
    const made = await calls.open({ amount: 500, currency: 'EUR' });
    for (const option of OPTIONS) {
      await choose(made.url, option);
      const { address } = await calls.payment(made.payment_id);
      const { page, faults } = await open(`${made.url}?address=0xevil&qr=0xevil#0xevil`);
      expect(await page.locator('[data-exact=address]').textContent()).toBe(address);
      expect(await readQr(page)).toBe(address);
      expect(faults).toEqual([]);
      await page.context().close();
    }
  }, 120_000);

  test('F9: an extension that swaps the address is found out, and its scripts do not run', async () => {
    const made = await checkout(service, merchant).open();
    await choose(made.url, 'USDT:trc20');
    const profile = mkdtempSync(path.join(tmpdir(), 'florin-profile-'));
    const context = await openWithExtension(profile, EXTENSION);
    try {
      const page = await context.newPage();
      const foreign: string[] = [];
      page.on('response', (response) => {
        if (!response.url().startsWith(service.baseUrl)) foreign.push(response.url());
      });
      await page.goto(made.url);
      const root = page.locator('html');
      await expect.poll(() => root.getAttribute('data-extension'), { timeout: TIMEOUT_MS }).toBe('here');
      const warning = page.getByRole('heading', { name: 'Do not pay from this page' });
      await warning.waitFor({ timeout: TIMEOUT_MS });
      expect(await page.locator('[data-exact=address]').count()).toBe(0);
      expect(await root.getAttribute('data-stolen')).toBeNull();
      expect(foreign).toEqual([]);
      await keep(page, '18-tampered');
    } finally {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    }
  }, 120_000);

  test('F9: scripts that found a way into the document are refused by its policy', async () => {
    const made = await checkout(service, merchant).open();
    const { page } = await open(made.url);
    const tried = await page.evaluate(`(async () => {
      const inline = document.createElement('script');
      inline.append('window.broken = 1');
      document.body.append(inline);
      const refused = [];
      try { document.body.innerHTML = '<img src=x onerror="window.broken=1">'; } catch (error) { refused.push(error.name); }
      for (const url of ['http://localhost:9/x', 'ws://localhost:9/x', 'https://example.invalid/x']) {
        try { await fetch(url.replace('ws:', 'http:')); } catch (error) { refused.push(error.name); }
      }
      const handler = document.createElement('a');
      try { handler.setAttribute('onclick', 'window.broken = 1'); } catch (error) { refused.push(error.name); }
      document.body.append(handler);
      handler.click();
      return { broken: window.broken ?? null, refused };
    })()`);
    expect(tried).toEqual({
      broken: null,
      refused: ['TypeError', 'TypeError', 'TypeError', 'TypeError', 'TypeError'],
    });
    await page.context().close();
  }, 120_000);

  test('F9: texts that a merchant controls stay texts', async () => {
    const calls = checkout(service, merchant);
    const lines = hostileMarkup().filter((line) => !line.includes('\0'));
    // Our own come first.
    const texts = packed(lines).filter((_, i) => FULL || i < OWN_TEXTS || i % SHARE === 0);
    const { page, faults } = await open((await calls.open()).url);
    for (const description of texts) {
      const order = description.trim().slice(0, 64);
      const { url } = await calls.open({ description, order_id: order === '' ? 'x' : order });
      await service.app.db
        .updateTable('store')
        .set({ name: description })
        .where('merchant_id', '=', merchant.merchantId)
        .execute();
      await page.goto(url);
      expect(await page.locator('main').count()).toBe(1);
      const shown = await page.locator('.order .subject p bdi').textContent();
      expect(shown).toBe(description.replaceAll('\r', '\n'));
      await choose(url, 'USDT:trc20');
      await page.reload();
      expect(await page.evaluate('window.broken ?? null')).toBeNull();
      // The script took over: the page lives.
      await page.getByRole('button', { name: 'Copy the address' }).waitFor();
    }
    expect(faults).toEqual([]);
  }, 600_000);
});
