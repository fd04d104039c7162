import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testAddresses } from '../../packages/server/src/chains/index.ts';
import { users } from '../../packages/server/src/console/accounts/index.ts';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import { enqueue } from '../../packages/server/src/platform/jobs/index.ts';
import * as storeKeys from '../../packages/server/src/stores/keys/index.ts';
import { storeTank } from '../../packages/server/src/transfers/wallets/index.ts';
import { publisherOf } from '../events/make-event.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { hasChromium, openBrowser } from './chromium.ts';
import { consoleDriver, DESKTOP, HOSTILE, PASSWORD } from './console-driver.ts';

const LONG_MS = 300_000;

describe.skipIf(!hasChromium())('the installation, people and pay links in the console', () => {
  let service: TestService;
  let merchant: TestMerchant;
  let browser: Browser;
  const { open, base, signIn, looks } = consoleDriver(() => ({ service, merchant, browser }));

  beforeAll(async () => {
    service = await startService();
    merchant = await service.createMerchant();
    browser = await openBrowser();
  }, LONG_MS);
  afterAll(async () => {
    await browser?.close();
    await service.stop();
  });

  test('what changes meanwhile is shown by itself; columns and filters of a list are kept', {
    timeout: LONG_MS,
  }, async () => {
    const { page, faults } = await signIn('viewer');
    // Nothing is asked for by the clock.
    await page.addInitScript({ content: 'window.setInterval = () => 0;' });
    const isFollowing = page.waitForResponse((answer) => answer.url().endsWith('/changes'));
    const { id } = await merchant.sdk.checkout.sessions.create({ amount: 1_250n, currency: 'USD' });
    await page.goto(`${base()}/payments`);
    await page.getByRole('row').getByText('pending', { exact: true }).waitFor();
    expect((await isFollowing).status()).toBe(200);
    await page.getByText('View', { exact: true }).click();
    await page.getByRole('checkbox', { name: 'Order' }).uncheck();
    expect(await page.getByRole('columnheader', { name: 'Order' }).count()).toBe(0);
    await page.getByRole('combobox', { name: 'Status' }).selectOption('pending');
    await page.getByLabel('Created from').fill('2026-01-01T00:00');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain('created%5Bgte%5D=17672');
    await page.getByRole('row').getByText('pending', { exact: true }).waitFor();
    await page.getByLabel('Keep these filters as').fill(HOSTILE);
    await page.keyboard.press('Enter');
    await looks(page, 'payments-view');
    await page.goto(`${base()}/payments`);
    await page.getByText('View', { exact: true }).click();
    await page.getByRole('button', { name: HOSTILE, exact: true }).click();
    await expect.poll(() => page.url()).toMatch(/status=pending.*created%5Bgte%5D=17672/);
    expect(await page.getByRole('columnheader', { name: 'Order' }).count()).toBe(0);
    await page.getByRole('button', { name: `Forget ${HOSTILE}` }).click();
    await page.getByRole('checkbox', { name: 'Order' }).check();
    await page.getByRole('columnheader', { name: 'Order' }).waitFor();
    await page.goto(`${base()}/payments`);
    await merchant.sdk.checkout.sessions.cancel(id);
    await publisherOf(service)(merchant);
    await page.getByRole('row').getByText('cancelled', { exact: true }).waitFor();
    await merchant.sdk.checkout.sessions.create({ amount: 2_500n, currency: 'USD' });
    await page.goto(`${base()}/payments`);
    await page.locator('[data-row]').first().getByText('pending', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Sort' }).selectOption('oldest first');
    await page.locator('[data-row]').first().getByText('cancelled', { exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe('?sort=created');
    await page.reload();
    await page.locator('[data-row]').first().getByText('cancelled', { exact: true }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  /** One action alone, what nobody has done, and the log as a file. */
  async function readAuditLog(page: Page) {
    await page.getByLabel('Action').fill('changeRole');
    await page.keyboard.press('Enter');
    await page.getByText('removeUser', { exact: true }).first().waitFor({ state: 'hidden' });
    expect(page.url()).toContain('action=changeRole');
    await page.getByLabel('Who').fill('nobody@example.com');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('removeUser', { exact: true }).first().waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download JSON lines' }).click(),
    ]);
    const [first, ...rest] = readFileSync(await file.path(), 'utf8')
      .trimEnd()
      .split('\n');
    expect(JSON.parse(first ?? '')).toMatchObject({ number: 1, previous_hash: '0'.repeat(64) });
    const newest: { number: number; hash: string } = JSON.parse(rest.at(-1) ?? '');
    expect(newest.number).toBe(rest.length + 1);
    await page.getByText(`--noted ${newest.number}:${newest.hash}`).waitFor();
  }

  /** A key whose secret somebody has seen. */
  async function shownKey(email: string) {
    const user = await users.findUserByEmail(service.app.db, email);
    const holder = { userId: user?.user_id ?? '', form: { key: randomUUID(), digest: Buffer.alloc(32) } };
    const { merchantId, storeId } = merchant;
    const key = { merchantId, storeId, name: "Ada's key", scopes: ['read'], validityDays: 0 };
    await storeKeys.createKey(service.app, { ...key, holder });
  }

  /** Another key signs webhooks after an overlap, which is ended. */
  async function changeWebhookKey(page: Page) {
    await page.goto(`${base()}/webhooks`);
    const secret = page.getByRole('region', { name: 'Signing secret' });
    await secret.getByRole('button', { name: 'Sign with another key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Key', { exact: true }).selectOption({ label: "Ada's key" });
    await looks(page, 'webhook-key');
    await dialog.getByRole('button', { name: 'Name this key' }).click();
    await secret.getByText('Until the overlap ends').waitFor();
    await looks(page, 'webhook-secret');
    await secret.getByRole('button', { name: 'End the overlap' }).click();
    await dialog.getByRole('button', { name: 'End the overlap' }).click();
    await secret.getByText('Until the overlap ends').waitFor({ state: 'hidden' });
    await secret.getByText("Ada's key").waitFor();
  }

  test('team: somebody is invited, gets another role and is removed; the audit log says so', {
    timeout: LONG_MS,
  }, async () => {
    const { page, faults } = await signIn('owner');
    await page.goto(`${base()}/team`);
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByLabel('E-mail address').fill(`${'a'.repeat(65)}@example.com`);
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('dialog').getByText('This is no e-mail address.').waitFor();
    await page.getByLabel('E-mail address').fill('ada@example.com');
    await page.getByLabel('Role').selectOption('viewer');
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
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
    await page.getByRole('button', { name: 'Done' }).click();
    await page.reload();
    const ada = page.getByRole('row', { name: /ada@example\.com/ });
    await ada.getByRole('button', { name: 'Change role' }).click();
    await page.getByRole('dialog').getByLabel('Role').selectOption('support');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await ada.getByText('support', { exact: true }).waitFor();
    await shownKey('ada@example.com');
    await ada.getByRole('button', { name: 'Remove' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('link', { name: "Ada's key" }).waitFor();
    await looks(page, 'team-remove');
    // Who is there is read for the first time while they are being removed, and that answer comes after the removal's.
    const [read, removed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route('**/users', async (route) => {
      const response = await route.fetch();
      read.resolve();
      await removed.promise;
      // The list of the page gives up what it had begun to read.
      await route.fulfill({ response }).catch(() => {});
    });
    await page.route('**/users/*', async (route) => {
      await read.promise;
      await route.fulfill({ response: await route.fetch() });
      setTimeout(removed.resolve, 300);
    });
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await ada.waitFor({ state: 'hidden' });
    await page.getByRole('status').getByRole('link', { name: "Ada's key" }).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('status').getByRole('button', { name: 'Done' }).click();
    await come.page.goto(new URL('/console/account', come.page.url()).href);
    await come.page.getByText('You are not signed in').waitFor();
    await come.page.context().close();
    await page.goto(`${base()}/audit`);
    await page.getByText('removeUser', { exact: true }).first().waitFor();
    await page.getByText('Show', { exact: true }).first().click();
    await looks(page, 'audit');
    await readAuditLog(page);
    expect(faults.filter((fault) => !fault.includes('status of 400'))).toEqual([]);
    await page.context().close();
    const developer = await signIn('developer');
    expect(await developer.page.getByRole('link', { name: /Team|Audit/ }).count()).toBe(0);
    await changeWebhookKey(developer.page);
    const other = await signIn('owner');
    await other.page.goto(`${base()}/team`);
    const row = other.page.getByRole('row', { name: developer.email });
    await row.getByRole('button', { name: 'Reset second factors' }).click();
    await looks(other.page, 'team-reset');
    await other.page.getByRole('dialog').getByRole('button', { name: 'Reset second factors' }).click();
    await row.getByText('no', { exact: true }).waitFor();
    expect(other.faults).toEqual([]);
    await other.page.context().close();
    await developer.page.reload();
    await developer.page.getByLabel('E-mail address').waitFor();
    await developer.page.context().close();
  });

  test('a merchant is suspended and resumed, and what fails is shown with its cause and runs again', {
    timeout: LONG_MS,
  }, async () => {
    const { merchantId } = merchant;
    const dueAtMs = service.app.clock.nowMs() + 86_400_000;
    await transact(service.app.db, (tx) => enqueue(tx, [{ merchantId, kind: 'no-such-kind', dueAtMs }]));
    await sql`update job set attempts = 4, last_error = ${HOSTILE} where kind = 'no-such-kind'`.execute(
      service.app.db,
    );
    const { page, faults } = await signIn('operator');
    await page.getByText('No worker runs').waitFor();
    await page.getByRole('link', { name: 'Failing jobs' }).click();
    await page.getByText(HOSTILE).waitFor();
    await looks(page, 'operator-jobs');
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Run again' }).click();
    await expect
      .poll(async () =>
        (
          await sql<{ due: string }>`select due_at_ms as due from job where kind = 'no-such-kind'`.execute(
            service.app.db,
          )
        ).rows.map(({ due }) => Number(due) < dueAtMs),
      )
      .toEqual([true]);
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await sql`
      insert into job (merchant_id, job_id, kind, unique_key, due_at_ms, attempts, last_error)
      select ${merchantId}::uuid, gen_random_uuid(), 'nor-this-kind', n::text, ${dueAtMs}::bigint, 1 + n % 3, 'x'
      from generate_series(1, 150) as n`.execute(service.app.db);
    await page.reload();
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => page.locator('[data-row]').count()).toBe(151);
    await sql`delete from job where kind = 'nor-this-kind'`.execute(service.app.db);
    await page.getByRole('link', { name: 'Merchants' }).click();
    for (const label of ['Suspend', 'Resume']) {
      await page.getByRole('button', { name: label }).click();
      await page.getByRole('dialog').getByRole('button', { name: label }).click();
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    }
    await page.getByRole('button', { name: 'Suspend' }).waitFor();
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'New merchant' }).click();
    await dialog.getByLabel('Name').fill(HOSTILE);
    await dialog.getByLabel(/E-mail/).fill(`${'a'.repeat(65)}@example.com`);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('This is no e-mail address.').waitFor();
    await dialog.getByLabel(/E-mail/).fill('first-owner@example.com');
    await page.keyboard.press('Enter');
    await page.getByText('The invitation is ready').waitFor();
    await looks(page, 'operator-merchants');
    await page.getByRole('button', { name: 'Invite owner' }).last().click();
    await dialog.getByLabel(/E-mail/).fill('other-owner@example.com');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('link', { name: 'Treasury' }).click();
    await page.getByText('no node for real money on Ethereum').waitFor();
    await storeTank(service.app.db, {
      network: 'erc20',
      sender: testAddresses('erc20').fail,
      native: 7n,
      readAt: service.app.clock.nowSeconds(),
    });
    await page.reload();
    await page.getByText('is below its floor').waitFor();
    await page.getByRole('link', { name: 'Hot wallets on Ethereum' }).click();
    await page.getByText('No live merchant has a wallet on Ethereum yet').waitFor();
    await looks(page, 'operator-treasury');
    await page.getByRole('link', { name: 'Risk list' }).click();
    await page.getByText('No address is listed').waitFor();
    await page.getByRole('button', { name: 'Add address' }).click();
    await dialog.getByLabel('Address').fill('0x1');
    await dialog.getByLabel('Reason').fill(HOSTILE);
    await page.keyboard.press('Enter');
    await dialog.getByText('is no erc20 address').waitFor();
    await dialog.getByLabel('Address').fill(testAddresses('erc20').fail);
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /onerror/ }).waitFor();
    await looks(page, 'operator-risk');
    await page.getByRole('button', { name: 'Remove' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No address is listed').waitFor();
    expect(faults.filter((fault) => !fault.includes('status of 400'))).toEqual([]);
    await page.context().close();
  });

  test('an auditor opens the pages of a merchant, reads, and is offered no change', {
    timeout: LONG_MS,
  }, async () => {
    await merchant.sdk.checkout.sessions.create({ amount: 1_250n, currency: 'USD' });
    const { page, faults } = await signIn('auditor');
    await page.getByRole('link', { name: 'Merchants' }).click();
    await page.locator('[data-row] a').first().click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.getByText('which you see as auditor of the installation').waitFor();
    await looks(page, 'visit');
    await page.getByRole('link', { name: 'Payments', exact: true }).click();
    await page.locator('[data-open]').first().click();
    await page.getByRole('link', { name: '← Payments' }).waitFor();
    expect(await page.getByRole('button', { name: /Accept|Refund/ }).count()).toBe(0);
    for (const folder of ['payment-links', 'customers', 'payouts', 'webhooks', 'subscriptions']) {
      await page.goto(`${base()}/${folder}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await page.getByRole('button', { name: /^New|Import|Add|Sign with/ }).count(), folder).toBe(0);
    }
    const menu = page.getByRole('navigation', { name: 'Pages' });
    expect(await menu.getByRole('link', { name: /API keys|Team|Approvals|Clock|Branding/ }).count()).toBe(0);
    await menu.getByRole('link', { name: 'Request log' }).click();
    const shown = (await page.locator('[data-open]').first().getAttribute('href')) ?? '';
    const { origin } = new URL(page.url());
    await page.goto(`${origin}/console/requests/${shown.split('/').at(-1)}`);
    await expect.poll(() => page.url()).toBe(`${origin}${shown}`);
    await page.goto(`${origin}/console/requests/req_unknown`);
    await page.getByRole('heading', { name: 'No such request' }).waitFor();
    expect(faults.filter((fault) => !fault.includes('status of 404'))).toEqual([]);
    await page.context().close();
  });

  test('a payment link is made, an amount that is none is said beside its field, and it is switched off', {
    timeout: LONG_MS,
  }, async () => {
    const { page, faults } = await signIn('support');
    await page.goto(`${base()}/payment-methods`);
    await page.getByText('No payment methods yet').waitFor();
    await page.getByRole('link', { name: 'Payment links' }).click();
    await page.getByRole('button', { name: 'New link' }).click();
    await page.getByLabel(/^Amount/).fill('12,50');
    await page.getByRole('textbox', { name: /^Description/ }).fill(HOSTILE);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('This is not an amount').waitFor();
    await page.getByRole('textbox', { name: /^Amount/ }).fill('12.50');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('row', { name: /12\.50 USD.*active/ }).waitFor();
    await looks(page, 'payment-links');
    await page.getByRole('button', { name: 'Switch off' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click();
    await page.getByRole('row', { name: /12\.50 USD.*disabled/ }).waitFor();
    const { data } = await merchant.sdk.paymentLinks.list();
    expect(data).toEqual([expect.objectContaining({ amount: 1_250, active: false, description: HOSTILE })]);
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
