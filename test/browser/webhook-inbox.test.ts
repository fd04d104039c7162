import type { FastifyInstance } from 'fastify';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeEvent } from '../events/make-event.ts';
import { hostileMarkup, naughtyTexts } from '../own-cases/text.ts';
import { serveSandboxPages } from '../sandbox-pages.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { Receivers } from '../webhooks/receiver.ts';
import { hasChromium, openBrowser } from './chromium.ts';

/** Several lines to an answer: of each the first kilobyte is kept, and longer lines are cut there as well. */
function packed(lines: readonly string[]): string[] {
  const answers: string[] = [''];
  for (const line of lines) {
    const last = `${answers.at(-1)}\n${line}`;
    if (Buffer.byteLength(last) < 1_000) answers[answers.length - 1] = last;
    else answers.push(line);
  }
  return answers;
}

const HOSTILE = '</pre><img src=x onerror="window.broken=1"><script>window.broken=1</script>';

describe.skipIf(!hasChromium())('the webhook inbox in a browser', () => {
  const receivers = new Receivers();
  let service: TestService;
  let server: FastifyInstance;
  let merchant: TestMerchant;
  let browser: Browser;
  let baseUrl = '';

  /** A page of its own for each merchant, as each test begins with an empty inbox. */
  async function serveFor(owner: TestMerchant): Promise<void> {
    await server?.close();
    ({ url: baseUrl, server } = await serveSandboxPages(service, owner));
  }

  beforeAll(async () => {
    service = await startService({ worker: true, receive: receivers.post });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await service?.stop();
  });

  /** A page that writes down what it must not do: requests to others, refusals of its policy, errors, dialogs. */
  async function open(options: BrowserContextOptions = {}): Promise<[Page, string[]]> {
    const page = await browser.newPage({ viewport: { width: 1100, height: 900 }, ...options });
    const faults: string[] = [];
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (origin !== baseUrl && protocol !== 'data:') faults.push(request.url());
    });
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('ERR_CONNECTION_REFUSED'))
        faults.push(message.text());
    });
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('dialog', (dialog) => {
      faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(`${baseUrl}/sandbox/webhooks`);
    return [page, faults];
  }

  const screenshots = process.env.FLORIN_SCREENSHOTS;
  const keep = async (page: Page, name: string) => {
    if (screenshots !== undefined)
      await page.screenshot({ path: `${screenshots}/${name}.png`, fullPage: true });
  };
  const addEndpoint = (url: string) =>
    merchant.sdk.webhookEndpoints.create({ url, types: ['*', 'payout_batch.updated'] });
  const news = (object: object = { batch_id: 'pb_1', status: 'draft' }, resource = 'pb_1') =>
    makeEvent(service, merchant, { resource, object });

  test('events and their attempts appear by themselves, and what is open stays open, keyboard and all', async () => {
    merchant = await service.createMerchant({ funds: 0n });
    await serveFor(merchant);
    const [page, faults] = await open();
    await page.getByText('npx florin listen').waitFor();
    await page.getByText('No event yet').waitFor();
    await keep(page, 'inbox-empty');
    const good = 'https://good.example/hooks';
    const bad = 'https://bad.example/hooks';
    receivers.behave(bad, () => ({ failure: null, status: 503, response: Buffer.from('come back later') }));
    await addEndpoint(good);
    await addEndpoint(bad);
    await news();
    await page.getByText('come back later').waitFor();
    expect(await page.getByText('No event yet').count()).toBe(0);
    expect(await page.locator('section.event').count()).toBe(1);
    await page
      .getByRole('status')
      .getByText(/^Live\./)
      .waitFor();

    const first = page.locator('section.event').last();
    const fold = first.getByText('Body and headers');
    await fold.focus();
    await page.keyboard.press('Enter');
    await first.getByText('"batch_id": "pb_1"').waitFor();
    await news({ batch_id: 'pb_2', status: 'draft' });
    await page.getByText('503 http_status').nth(1).waitFor();
    expect(await page.locator('section.event').count()).toBe(2);
    // A redelivery changes the first event's block under the reader's hands.
    for await (const { id, status } of merchant.sdk.deliveries.list()) {
      if (status === 'delivered') await merchant.sdk.deliveries.redeliver(id);
    }
    await first.locator('tbody tr').filter({ hasText: '200' }).nth(1).waitFor();
    expect(await first.locator('details').getAttribute('open')).not.toBeNull();
    expect(await page.evaluate('document.activeElement?.tagName')).toBe('SUMMARY');
    await keep(page, 'inbox-events');
    expect(faults).toEqual([]);
    await page.close();
  }, 120_000);

  test('the page shows that the sandbox is away, and that it is back', async () => {
    merchant = await service.createMerchant({ funds: 0n });
    await serveFor(merchant);
    const [page] = await open();
    await page.getByText('Live: updated').waitFor();
    const { port } = new URL(baseUrl);
    await server.close();
    await page.getByText('does not answer').waitFor();
    ({ server } = await serveSandboxPages(service, merchant, { port: Number(port) }));
    await page.getByText(/^Live/).waitFor();
    expect(await page.getByText('does not answer').count()).toBe(0);
    await page.close();
  }, 120_000);

  test('F3 81: everything in bodies and responses is text: no script runs, no request leaves, no mark-up is taken', async () => {
    merchant = await service.createMerchant({ funds: 0n });
    await serveFor(merchant);
    const texts = [HOSTILE, ...hostileMarkup(), ...naughtyTexts()];
    const answers = packed(hostileMarkup());
    // Two attempts an event, each with an answer of its own.
    const events = Math.ceil(answers.length / 2);
    let at = 0;
    for (const url of ['https://hostile.example/1', 'https://hostile.example/2']) {
      const answer = () => Buffer.from(answers[at++] ?? HOSTILE);
      receivers.behave(url, () => ({ failure: null, status: 400, response: answer() }));
      await addEndpoint(url);
    }
    const size = Math.ceil(texts.length / events);
    for (let i = 0; i < events; i++) {
      const part = texts.slice(i * size, (i + 1) * size);
      await news({ status: HOSTILE, [HOSTILE]: part }, HOSTILE);
    }
    const [page, faults] = await open({ colorScheme: 'dark' });
    await page
      .getByText('400 http_status')
      .nth(2 * events - 1)
      .waitFor();
    await page.getByRole('status').getByText(/^Live/).waitFor();
    for (const details of await page.locator('details').all())
      await details.evaluate((one) => one.setAttribute('open', ''));
    await page.waitForTimeout(1_500);
    expect(await page.evaluate(`'broken' in window`)).toBe(false);
    const elements = await page
      .locator('main *')
      .evaluateAll((all) => [...new Set(all.map((one) => one.tagName))]);
    const ours =
      'BR CAPTION CODE DETAILS DIV H1 H2 H3 P PRE SECTION SPAN SUMMARY TABLE TBODY TD TH THEAD TIME TR';
    expect(ours.split(' ')).toEqual(expect.arrayContaining(elements));
    const attributes = await page
      .locator('main *')
      .evaluateAll((all) => all.flatMap((one) => one.getAttributeNames()));
    expect([...new Set(attributes)].filter((name) => /^on|href|src|style/.test(name))).toEqual([]);
    const bodies = await page.locator('section.event pre').allTextContents();
    expect(bodies.flatMap((body) => JSON.parse(body).data.object[HOSTILE])).toEqual(
      expect.arrayContaining(texts),
    );
    expect(faults).toEqual([]);
    await page.close();
  }, 180_000);

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`it is readable in ${colorScheme} on a small screen, and without script`, async () => {
      merchant = await service.createMerchant({ funds: 0n });
      await serveFor(merchant);
      const url = 'https://small.example/a/rather/long/path/to/the/receiver/of/webhooks';
      receivers.behave(url, () => ({ failure: 'timeout' }));
      await addEndpoint(url);
      await news();
      const viewport = { width: 390, height: 800 };
      const [live] = await open({ colorScheme, viewport });
      await live.getByText('timeout').first().waitFor();
      await live.getByText('Body and headers').click();
      await keep(live, `inbox-${colorScheme}`);
      expect(await live.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
      await live.close();
      const [plain, faults] = await open({ colorScheme, viewport, javaScriptEnabled: false });
      expect(await plain.getByRole('status').textContent()).toContain('Reload');
      await plain.getByRole('region', { name: 'payout_batch.updated' }).waitFor();
      expect(faults).toEqual([]);
      await plain.close();
    }, 120_000);
  }
});
