import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { addInvoice, addSubscription } from '../subscriptions/rows.ts';
import { expectAccessible } from './checkout-driver.ts';
import { hasChromium, openBrowser } from './chromium.ts';
import { consoleDriver, DESKTOP, HOSTILE, PASSWORD } from './console-driver.ts';

const LONG_MS = 120_000;

describe.skipIf(!hasChromium())('the console in a browser', () => {
  let service: TestService;
  let merchant: TestMerchant;
  let browser: Browser;
  const { open, keep, base, signIn, looks } = consoleDriver(() => ({ service, merchant, browser }));

  beforeAll(async () => {
    service = await startService({ worker: true });
    merchant = await service.createMerchant();
    browser = await openBrowser();
  }, LONG_MS);
  afterAll(async () => {
    await browser?.close();
    await service.stop();
  });

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
    await looks(page, 'empty');
    const id = await payment('A-1');
    await payment(HOSTILE);
    await page.reload();
    await page.getByText('A-1', { exact: true }).waitFor();
    await page.getByText('onerror').waitFor();
    await looks(page, 'payments');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('next and previous row').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('/');
    await page.keyboard.type('A-1');
    await page.keyboard.press('Enter');
    await page.getByText('onerror').waitFor({ state: 'hidden' });
    expect(page.url()).toContain('order_id=A-1');
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
    await page.getByLabel('Address (optional)').fill(erc20.succeed);
    await page.getByRole('dialog').getByRole('button', { name: 'Refund' }).click();
    await page.getByText('succeeded', { exact: true }).waitFor();
    await looks(page, 'refund');
    expect(await page.title()).toBe('Florin console');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('customers, subscriptions and invoices: lists that lead to one, and from one to its own', {
    timeout: LONG_MS,
  }, async () => {
    const { row, id } = await addSubscription(service, merchant, { customer: HOSTILE, description: HOSTILE });
    const invoice = await addInvoice(service, row);
    const { page, faults } = await signIn('viewer');
    await page.goto(`${base()}/customers`);
    await page.getByRole('link', { name: HOSTILE }).click();
    await page.getByRole('heading', { name: HOSTILE }).waitFor();
    await expectAccessible(page);
    await page.getByRole('region', { name: 'Theirs' }).getByRole('link', { name: 'Subscriptions' }).click();
    await page.locator('[data-row]').waitFor();
    await looks(page, 'subscriptions');
    await page.locator('[data-open]').click();
    await page.getByText(id, { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Billed' }).getByRole('link').click();
    expect(page.url()).toContain(`subscription=${id}`);
    await page.locator('[data-open]').click();
    await page.getByText(invoice.id, { exact: true }).waitFor();
    await keep(page, 'console-invoice');
    expect(await page.getByRole('button', { name: 'Charge now' }).count()).toBe(0);
    expect([faults, await page.title()]).toEqual([[], 'Florin console']);
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
    await keep(page, 'console-webhooks');
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
    await looks(page, 'delivery');
    const delivery = page.url();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    const attempts = page.getByRole('table', { name: 'Attempts' }).locator('tbody tr');
    await attempts.nth(1).waitFor();
    await page.goto(endpoint);
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByRole('dialog').getByLabel('URL').fill('https://webhooks.test/200');
    await page.getByRole('checkbox', { name: /^payment\.completed/ }).check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('*, payment.completed').waitFor();
    await page.getByRole('button', { name: 'Send missed' }).click();
    await page.getByLabel('Since').fill('2020-01-01T00:00');
    await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('delivered', { exact: true }).waitFor();
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
    expect(await viewer.page.getByRole('link', { name: /Webhooks|Deliveries/ }).count()).toBe(0);
    await viewer.page.context().close();
  });

  test('team: somebody is invited, gets another role and is removed; the audit log says so', {
    timeout: LONG_MS,
  }, async () => {
    const { page, faults } = await signIn('owner');
    await page.goto(`${base()}/team`);
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByLabel('E-mail address').fill(`${'a'.repeat(65)}@example.com`);
    await page.getByRole('button', { name: 'Make the link' }).click();
    await page.getByRole('dialog').getByText('This is no e-mail address.').waitFor();
    await page.getByLabel('E-mail address').fill('ada@example.com');
    await page.getByLabel('Role').selectOption('viewer');
    await page.getByRole('button', { name: 'Make the link' }).click();
    const link = page.getByRole('status').locator('code');
    await link.waitFor();
    await looks(page, 'team');
    const come = await open((await link.getAttribute('title')) ?? '', { viewport: DESKTOP });
    await come.page
      .locator('#come')
      .getByLabel(/Password/)
      .fill(PASSWORD);
    await come.page.getByRole('button', { name: 'Sign in' }).click();
    await come.page.getByText('You are signed in as ada@example.com: viewer').waitFor();
    await page.reload();
    const ada = page.getByRole('row', { name: /ada@example\.com/ });
    await ada.getByRole('button', { name: 'Change role' }).click();
    await page.getByRole('dialog').getByLabel('Role').selectOption('support');
    await page.getByRole('button', { name: 'Save' }).click();
    await ada.getByText('support', { exact: true }).waitFor();
    await ada.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await ada.waitFor({ state: 'hidden' });
    await come.page.goto(new URL('/console/account', come.page.url()).href);
    await come.page.getByText('You are not signed in').waitFor();
    await come.page.context().close();
    await page.goto(`${base()}/audit`);
    await page.getByText('removeUser', { exact: true }).first().waitFor();
    await page.getByText('Show', { exact: true }).first().click();
    await looks(page, 'audit');
    expect(faults.filter((fault) => !fault.includes('status of 400'))).toEqual([]);
    await page.context().close();
    const developer = await signIn('developer');
    expect(await developer.page.getByRole('link', { name: /Team|Audit/ }).count()).toBe(0);
    await developer.page.context().close();
  });

  test('who has a role with two merchants goes from one to the other', { timeout: LONG_MS }, async () => {
    const { page, userId, faults } = await signIn('viewer');
    const other = await service.createMerchant();
    await service.app.db
      .insertInto('console_membership')
      .values({
        merchant_id: other.merchantId,
        user_id: userId,
        role: 'viewer',
        created_at_ms: service.app.clock.nowMs(),
      })
      .execute();
    await page.reload();
    const id = encodeId('merchant', other.merchantId);
    await page.getByLabel('Merchant').selectOption(id);
    await page.waitForURL(new RegExp(`/console/${id}/store_\\w+/payments`));
    await page.getByRole('heading', { name: 'Payments' }).waitFor();
    expect(await page.getByLabel('Merchant').inputValue()).toBe(id);
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
