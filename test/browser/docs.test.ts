import type { FastifyInstance } from 'fastify';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiRoutes, createApiServer } from '../../packages/server/src/app.ts';
import { REFUSED_BY_SANDBOX } from '../reference/run-examples.ts';
import { scaled } from '../scale.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { hasChromium, openBrowser } from './chromium.ts';

/** Of a request that is refused; of an answer that the test closes before it is drawn. */
const EXPECTED = /status of 400|The request has been cancelled/;
/** A press takes two seconds. */
const EVERY = scaled(1, 8);

describe.skipIf(!hasChromium())('the API reference in a browser', () => {
  let service: TestService;
  let server: FastifyInstance;
  let merchant: TestMerchant;
  let browser: Browser;
  let baseUrl = '';

  beforeAll(async () => {
    service = await startService({ worker: true });
    merchant = await service.createMerchant();
    const { apiKey, secretKey } = merchant;
    server = createApiServer(service.app, {
      publicUrl: () => baseUrl,
      rate: { perSecond: 100, burst: 100 },
      tryOutKey: { apiKey, secretKey },
    });
    baseUrl = await server.listen({ host: '127.0.0.1', port: 0 });
    browser = await openBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await service?.stop();
  });

  /** A page that writes down what it must not do: requests to others, refusals of its policy, errors. */
  async function open(path: string, options: BrowserContextOptions = {}): Promise<[Page, string[]]> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
    const faults: string[] = [];
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (origin !== baseUrl && protocol !== 'data:' && protocol !== 'blob:') faults.push(request.url());
    });
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(`${baseUrl}${path}`);
    return [page, faults];
  }

  const screenshots = process.env.FLORIN_SCREENSHOTS;
  const keep = async (page: Page, name: string) => {
    if (screenshots !== undefined) await page.screenshot({ path: `${screenshots}/${name}.png` });
  };

  test('the Test button sends a signed request, and nothing goes to another origin', async () => {
    const [page, faults] = await open('/docs#tag/payouts/POST/api/v1/payout-batches');
    await page.getByRole('button', { name: /^Test Request.*post \/api\/v1\/payout-batches\)$/ }).click();
    const url = `${baseUrl}/api/v1/payout-batches`;
    const [answered] = await Promise.all([
      page.waitForResponse((response) => response.url() === url),
      page.getByRole('button', { name: /^Send post request/ }).click(),
    ]);
    expect(answered.status()).toBe(200);
    await page.getByText('200 OK').first().waitFor();
    await keep(page, 'docs-sent');
    for await (const { status, total_amount } of merchant.sdk.payouts.list()) {
      expect({ status, total_amount }).toEqual({ status: 'draft', total_amount: '205.50' });
    }
    expect(await page.content()).not.toContain(merchant.secretKey);
    expect(faults).toEqual([]);
    await page.close();
  });

  test('the Test button of every operation is answered with 200 at the first press', {
    timeout: 900_000,
  }, async () => {
    const [page, faults] = await open('/docs/api');
    const refused: string[] = [];
    const routes = apiRoutes(service.app).filter((_, at) => at % EVERY === 0);
    for (const { operationId, method, path, tag } of routes) {
      const slug = tag.toLowerCase().replaceAll(' ', '-');
      await page.goto(`${baseUrl}/docs/api#tag/${slug}/${method}${path}`);
      const verb = method.toLowerCase();
      const open = page.getByRole('button', { name: /^Test Request/ });
      await open.filter({ hasText: `(${verb} ${path})` }).click();
      const isIt = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
      const [answered] = await Promise.all([
        page.waitForResponse(
          (response) => response.request().method() === method && isIt.test(new URL(response.url()).pathname),
          { timeout: 120_000 },
        ),
        page.getByRole('button', { name: new RegExp(`^Send ${verb} request`) }).click(),
      ]);
      if (answered.status() !== 200) refused.push(operationId);
      await page.keyboard.press('Escape');
    }
    console.log(`pressed ${routes.length}, refused: ${refused.join(', ') || 'none'}`);
    expect(refused.filter((id) => !REFUSED_BY_SANDBOX.includes(id))).toEqual([]);
    expect(faults.filter((fault) => !EXPECTED.test(fault))).toEqual([]);
    await page.close();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`the pages are readable in ${colorScheme}, without script too`, async () => {
      const [reference, faults] = await open('/docs/api', { colorScheme });
      await reference.getByRole('heading', { name: 'Florin' }).waitFor();
      await keep(reference, `docs-${colorScheme}`);
      const [index, indexFaults] = await open('/docs/errors', { colorScheme, javaScriptEnabled: false });
      await keep(index, `errors-${colorScheme}`);
      await index.getByRole('link', { name: 'forbidden' }).click();
      expect(await index.getByRole('heading', { level: 1 }).textContent()).toBe('Permission denied');
      await keep(index, `error-${colorScheme}`);
      expect([...faults, ...indexFaults]).toEqual([]);
      await reference.close();
      await index.close();
    });
  }
});
