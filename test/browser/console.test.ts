import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { receiptOf } from '../mail/receipt.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { send } from '../signed-request.ts';
import { expectAccessible } from './checkout-driver.ts';
import { hasChromium, openBrowser } from './chromium.ts';
import { consoleDriver, HOSTILE, PASSWORD } from './console-driver.ts';

const LONG_MS = 300_000;

describe.skipIf(!hasChromium())('the console in a browser', () => {
  let service: TestService;
  let merchant: TestMerchant;
  let browser: Browser;
  const { keep, base, signIn, looks } = consoleDriver(() => ({ service, merchant, browser }));

  beforeAll(async () => {
    service = await startService({ worker: true });
    merchant = await service.createMerchant();
    browser = await openBrowser();
  }, LONG_MS);
  afterAll(async () => {
    await browser?.close();
    await service.stop();
  });

  /** What a page asked for until its first list stood there: the document brings the rest along. */
  const readsOf = (page: Page) =>
    page.evaluate(() =>
      [...new Set(performance.getEntriesByType('resource').map(({ name }) => name))]
        .map((name) => new URL(name))
        .filter(({ pathname }) => pathname.includes('/api/') && !pathname.endsWith('/changes'))
        .map(({ pathname, search }) => `${pathname}${search}`),
    );

  async function payment(order: string): Promise<string> {
    const session = await merchant.sdk.checkout.sessions.create({
      amount: 1_250n,
      currency: 'USD',
      order_id: order,
    });
    await merchant.sdk.testHelpers.checkout.sessions.pay(session.id, { currency: 'USDT', network: 'erc20' });
    return session.payment_id;
  }

  test('payments: an empty list, rows by the keyboard, one with its timeline, a refund', {
    timeout: LONG_MS,
  }, async () => {
    const { page, faults } = await signIn('support');
    await page.goto(`${base()}/payments`);
    await page.getByText('npx florin checkout create').waitFor();
    await page.keyboard.press('Tab');
    await looks(page, 'empty');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.locator('main :focus').count(), 'past the menu').toBe(1);
    const id = await payment('A-1');
    await payment(HOSTILE);
    await page.reload();
    await page.getByText('A-1', { exact: true }).waitFor();
    await page.getByText('onerror').waitFor();
    expect(await readsOf(page)).toEqual(['/api/v1/payments?limit=25']);
    await page.goto(`${base()}/payments?order_id=A-1&status=`);
    await page.getByText('A-1', { exact: true }).waitFor();
    await page.getByText('onerror').waitFor({ state: 'hidden' });
    expect(await readsOf(page)).toEqual(['/api/v1/payments?order_id=A-1&limit=25']);
    await page.goBack();
    await page.getByText('onerror').waitFor();
    await looks(page, 'payments');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('next and previous row').waitFor();
    // The keys of the page are none in a dialog.
    await page.keyboard.press('s');
    expect(page.url()).toContain('/payments');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('/');
    await page.keyboard.type('A-1');
    await page.keyboard.press('Enter');
    await page.getByText('onerror').waitFor({ state: 'hidden' });
    expect(page.url()).toContain('order_id=A-1');
    await page.keyboard.press('Escape');
    await page.locator('h1').click();
    await page.keyboard.press('s');
    await page.getByRole('searchbox').fill(HOSTILE);
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /onerror/ }).waitFor();
    await looks(page, 'search');
    await page.goto(`${base()}/payments?order_id=A-1`);
    await page.getByText('A-1', { exact: true }).waitFor();
    await page.getByRole('heading', { level: 1 }).click();
    await page.keyboard.press('j');
    await page.locator('tr[aria-selected="true"]').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '12.50 USD' }).waitFor();
    expect(page.url()).toContain(id);
    await page.getByText('payment.completed').waitFor();
    await looks(page, 'payment');
    await page.getByRole('button', { name: 'Refund…' }).click();
    const { erc20 } = await merchant.sdk.testHelpers.addresses();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Empty: all that is left, 12.50 USDT at most.').waitFor();
    await dialog.getByLabel('Amount in USDT (optional)').fill('12.51');
    await dialog.getByLabel('Address (optional)').fill(erc20.succeed);
    await page.keyboard.press('Enter');
    await dialog.getByText('At most 12.50 USDT (amount 12500000) can be refunded.').waitFor();
    await looks(page, 'refund-form');
    await dialog.getByLabel('Amount in USDT (optional)').fill('2.5');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '2.50 USDT' }).waitFor();
    await page.getByText('succeeded', { exact: true }).waitFor();
    await looks(page, 'refund');
    await page.goto(`${base()}/refunds`);
    await page.locator('[data-row]').waitFor();
    await looks(page, 'refunds');
    await receiptOf(merchant, 'ada@example.com');
    await page.goto(`${base()}/mails?to=ada@example.com`);
    await page.locator('[data-open]').click();
    await page.getByRole('heading', { name: /^Your receipt from/ }).waitFor();
    await page.getByText('View the payment:').waitFor();
    await looks(page, 'mail');
    await page.goto(`${base()}/payments/${id}`);
    await page.getByRole('listitem').filter({ hasText: 'Refund of' }).getByText('succeeded').waitFor();
    await page.getByRole('button', { name: 'Refund…' }).click();
    await dialog.getByText('Empty: all that is left, 10.00 USDT at most.').waitFor();
    await keep(page, 'console-payment-refunded');
    expect(await page.title()).toBe(`${id} · Payments · Florin`);
    expect(faults.filter((fault) => !fault.includes('status of 400'))).toEqual([]);
    await page.context().close();
  });

  test('home: first steps tick themselves, plots have a table and a file, days are those of the chosen zone', {
    timeout: LONG_MS,
  }, async () => {
    const id = await payment('H-1');
    const isPaid = async () => (await merchant.sdk.payments.retrieve(id)).status;
    await expect.poll(isPaid, { timeout: 20_000 }).toBe('completed');
    const { page, faults } = await signIn('developer');
    const steps = page.getByRole('region', { name: 'First steps' });
    await steps.getByText('Take a payment').locator('..').getByText('Done:').waitFor();
    await page.getByRole('img', { name: /USDT by day: most .* USDT/ }).waitFor();
    await looks(page, 'home');
    const volume = page.getByRole('region', { name: 'Volume' });
    await volume.getByText('Every day as a table').focus();
    await page.keyboard.press('Enter');
    await volume.getByRole('row', { name: /USDT/ }).first().waitFor();
    await looks(page, 'home-table');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      volume.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^overview-[\d-]{21}\.csv$/);
    await page.goto(`${base()}/home?from=2026-01-01&to=2026-01-31&time_zone=Europe/Madrid`);
    await page.getByText('USDT by day').waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Time zone').inputValue()).toBe('Europe/Madrid');
    await page.getByLabel('Time zone').selectOption('UTC');
    await page.waitForURL(/from=2026-01-01.*time_zone=UTC/);
    await steps.getByRole('button', { name: 'Do not show this again' }).click();
    await steps.waitFor({ state: 'hidden' });
    await page.route('**/overview/figures*', (route) => route.abort());
    await page.reload();
    await page.getByRole('region', { name: 'Networks' }).waitFor();
    expect(await steps.count()).toBe(0);
    await page.getByRole('region', { name: /^Not ready: volume/ }).waitFor();
    expect(faults.filter((fault) => !fault.includes('ERR_FAILED'))).toEqual([]);
    await page.context().close();
  });

  test('webhooks: an endpoint is made and changed, a test event is sent, read and sent again; support may only look', {
    timeout: LONG_MS,
  }, async () => {
    const { page, faults } = await signIn('developer');
    await page.goto(`${base()}/webhooks`);
    await page.getByText('npx florin endpoints create').waitFor();
    await page.getByRole('button', { name: 'New endpoint' }).click();
    const url = page.getByRole('dialog').getByLabel('URL');
    await url.fill('http://shop.example/hooks');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText(/^url /).waitFor();
    expect(await url.getAttribute('aria-invalid')).toBe('true');
    await looks(page, 'webhook-form');
    await url.fill('https://webhooks.test/404');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: 'https://webhooks.test/404' }).waitFor();
    await looks(page, 'webhooks');
    await page.getByRole('link', { name: 'https://webhooks.test/404' }).click();
    await page.getByText('Nothing was sent there yet.').waitFor();
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send test event' }).click();
    await page.getByText('failed', { exact: true }).waitFor();
    await looks(page, 'webhook');
    const endpoint = page.url();
    await page.locator('[data-open]').click();
    await page.getByText('The sandbox answers 404.').waitFor();
    await page.getByText('"type": "webhook_endpoint.test"').waitFor();
    await page.getByRole('table', { name: 'Attempts' }).getByText('Show').click();
    await page.getByText(/X-Service-Signature: [0-9a-f]{8}\.{3}\n/).waitFor();
    await looks(page, 'delivery');
    const delivery = page.url();
    await page.goto(`${base()}/deliveries`);
    await page.locator('[data-row]').waitFor();
    await looks(page, 'deliveries');
    await page.goto(delivery);
    await page.getByRole('link', { name: /^evt_/ }).click();
    await page.getByRole('heading', { name: 'webhook_endpoint.test' }).waitFor();
    await page.getByRole('region', { name: 'Deliveries' }).locator('[data-row]').waitFor();
    await looks(page, 'event');
    await page.getByRole('link', { name: '← Events' }).click();
    await page.getByLabel('Type', { exact: true }).selectOption('webhook_endpoint.test');
    await page.locator('[data-row]').waitFor();
    await page.getByText('What the types say').click();
    await looks(page, 'events');
    await page.goto(delivery);
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    const attempts = page.getByRole('table', { name: 'Attempts' }).locator('tbody tr');
    await attempts.nth(1).waitFor();
    await page.goto(endpoint);
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByRole('dialog').getByLabel('URL').fill('https://webhooks.test/200');
    await page.getByRole('checkbox', { name: /^payment\.completed/ }).check();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('*, payment.completed').waitFor();
    await page.getByRole('button', { name: 'Send missed' }).click();
    await page.getByLabel('Since').fill('2020-01-01T00:00');
    await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('delivered', { exact: true }).waitFor();
    await page.goto(`${base()}/payments/${await payment('W-1')}`);
    const happened = page.getByRole('region', { name: 'What happened' }).getByRole('listitem');
    await happened.filter({ hasText: 'Delivery' }).first().getByText('delivered').waitFor();
    await happened.filter({ hasText: 'Booked 12.50 USDT' }).first().waitFor();
    const payers = page.getByRole('link', { name: 'Open the page as the payer sees it' });
    expect((await fetch(String(await payers.getAttribute('href')))).status).toBe(200);
    await looks(page, 'payment-timeline');
    await page.goto(endpoint);
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByText('by request').waitFor();
    expect(faults.filter((fault) => !fault.includes('status of 400'))).toEqual([]);
    await page.context().close();
    const support = await signIn('support');
    await support.page.goto(endpoint);
    await support.page.getByRole('heading', { name: 'https://webhooks.test/200' }).waitFor();
    await support.page.goto(delivery);
    await support.page.getByText('The sandbox answers 404.').first().waitFor();
    const buttons = support.page.getByRole('button', { name: /Send|Change|able$/ });
    expect([await buttons.count(), support.faults]).toEqual([0, []]);
    await support.page.context().close();
    const viewer = await signIn('viewer');
    expect(
      await viewer.page.getByRole('link', { name: /Webhooks|Deliveries|Events|Request log/ }).count(),
    ).toBe(0);
    await viewer.page.context().close();
  });

  test('API keys: one is made, its secret shown once, rotated and revoked; a viewer has no such page', {
    timeout: LONG_MS,
  }, async () => {
    const { page, faults } = await signIn('developer');
    await send(`${service.baseUrl}/api/v1/balances`, merchant);
    await page.goto(`${base()}/keys`);
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(HOSTILE);
    for (const scope of ['read', 'write']) await dialog.getByRole('checkbox', { name: scope }).uncheck();
    await page.keyboard.press('Enter');
    await dialog.getByText(/^scopes /).waitFor();
    await dialog.getByRole('checkbox', { name: 'read' }).check();
    await looks(page, 'key-form');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const shown = page.getByRole('status');
    await shown.getByText('it is not shown again').waitFor();
    const secret = await shown.getByText(/^fls_test_\w+$/).innerText();
    await looks(page, 'key-made');
    const row = page.getByRole('row', { name: HOSTILE });
    await row.getByText('never', { exact: true }).waitFor();
    await shown.getByRole('button', { name: 'I have kept it' }).click();
    expect(await page.content()).not.toContain(secret);
    await row.getByRole('button', { name: 'Rotate' }).click();
    await keep(page, 'console-key-rotate');
    await page.keyboard.press('Tab');
    await dialog.getByLabel('The old secret is good for').selectOption('an hour');
    await dialog.getByRole('button', { name: 'Make a new secret' }).click();
    await shown.getByText('The old secret is good until').waitFor();
    await shown.getByRole('button', { name: 'I have kept it' }).click();
    await row.getByText('old secret until').waitFor();
    // Of a key that was used.
    await page.getByRole('table').getByRole('link', { name: 'Request log' }).waitFor();
    await looks(page, 'keys');
    await row.getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await row.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Show ended keys' }).click();
    await row.getByText('revoked', { exact: true }).waitFor();
    await looks(page, 'keys-all');
    expect(faults.filter((fault) => !fault.includes('status of 400'))).toEqual([]);
    await page.context().close();
    const viewer = await signIn('viewer');
    expect(await viewer.page.getByRole('link', { name: 'API keys' }).count()).toBe(0);
    for (const [folder, people] of [
      ['keys', 'owners, admins and developers'],
      ['approvals', 'owners and approvers'],
      ['team', 'owners and admins'],
    ]) {
      await viewer.page.goto(`${base()}/${folder}`);
      await viewer.page.getByText(`This page is for ${people}. You are viewer of`).waitFor();
    }
    await looks(viewer.page, 'who-may');
    expect(viewer.faults).toEqual([]);
    await viewer.page.context().close();
  });

  test('request log: a refused signature is found and explained; the link of an error leads there by sign-in, and says who may read', {
    timeout: LONG_MS,
  }, async () => {
    const sessions = `${service.baseUrl}/api/v1/checkout/sessions/create`;
    const body = JSON.stringify({ amount: 1_250, currency: 'USD', description: HOSTILE });
    const refused = await send(sessions, merchant, {
      body,
      signedBody: JSON.stringify(JSON.parse(body), null, 2),
    });
    expect(refused.status).toBe(401);
    const missing = await send(`${service.baseUrl}/api/v1/payment/pay_nothing?${HOSTILE}`, merchant);
    const { request_log_url: link = '' } = missing.json.error as { request_log_url?: string };
    expect(link).toContain(`/console/requests/${missing.headers.get('x-request-id')}`);
    const { page, faults, email, codes } = await signIn('developer');
    await page.goto(`${base()}/requests`);
    await page.getByLabel('Refused for').selectOption('signature');
    await page
      .getByRole('link')
      .filter({ has: page.locator('time') })
      .first()
      .waitFor();
    expect(page.url()).toContain('refusal=signature');
    await page.getByRole('row', { name: /401/ }).getByRole('link').click();
    await page.getByText(/Step 5 of 7: signed bytes/).waitFor();
    await page
      .getByText(/indented by two spaces/)
      .first()
      .waitFor();
    await page
      .getByText(/SHA-256/)
      .first()
      .waitFor();
    await looks(page, 'request-refused');
    await page.goto(`${base()}/requests?since=1000000000&status=4xx`);
    await page.getByRole('row', { name: /pay_nothing/ }).waitFor();
    await looks(page, 'requests');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('E-mail address').waitFor();
    // What is no page of the console is not gone on to.
    const signInPage = new URL('/console/sign-in', link);
    for (const next of [
      '//evil.example/console',
      'https://evil.example/console',
      '/console/api/me',
      '/docs',
      'javascript:1',
    ]) {
      signInPage.searchParams.set('next', next);
      await page.goto(signInPage.href);
      expect(await page.locator('#open').getAttribute('href'), next).toBe('/console');
    }
    await page.goto(link);
    await page.getByLabel('E-mail address').fill(email);
    await page
      .locator('#come')
      .getByLabel(/Password/)
      .fill(PASSWORD);
    await page
      .locator('#come')
      .getByLabel(/Code/)
      .fill(codes[1] ?? '');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'GET /api/v1/payment/pay_nothing' }).waitFor();
    await page.getByRole('link', { name: 'invalid_request_error' }).waitFor();
    await looks(page, 'request');
    const shown = page.url();
    await page.goto(link.replace(/req_\w+$/, 'req_unknown_1'));
    await page.getByRole('heading', { name: 'No such request' }).waitFor();
    await expectAccessible(page);
    expect([await page.title(), faults.filter((fault) => !/status of 40[14]/.test(fault))]).toEqual([
      'No such request · Florin',
      [],
    ]);
    await page.context().close();
    const viewer = await signIn('viewer');
    for (const address of [link, shown, `${base()}/requests`]) {
      await viewer.page.goto(address);
      await viewer.page.getByText('owners, admins, developers and support', { exact: false }).waitFor();
      await viewer.page.getByText(/viewer of/).waitFor();
    }
    await looks(viewer.page, 'requests-viewer');
    expect(viewer.faults).toEqual([]);
    await viewer.page.context().close();
  });
});
