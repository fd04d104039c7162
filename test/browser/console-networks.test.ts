import { describe, expect, test } from 'vitest';
import { NIL_ID } from '../../packages/server/src/platform/db/ids/index.ts';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { stopNetwork } from '../../packages/server/src/transfers/blocks/index.ts';
import { hasChromium } from './chromium.ts';
import { HOSTILE, useConsole } from './console-driver.ts';

const LONG_MS = 300_000;

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 3 1"><rect width="3" height="1" fill="#b02a4c"/></svg>';

describe.skipIf(!hasChromium())('networks, stores and several merchants in the console', () => {
  const at = useConsole();
  const { signIn, looks } = at;

  test('a network of real money is stopped: one operator asks to resume it, another one confirms', {
    timeout: LONG_MS,
  }, async () => {
    const stop = (nowSeconds: number, reason: string) =>
      transact(at.service.app.db, (tx) =>
        stopNetwork(tx, { merchantId: NIL_ID, mode: 'live' }, 'erc20', {
          what: 'sending',
          reason,
          height: 7_000_000n,
          nowSeconds,
          nowMs: nowSeconds * 1000,
        }),
      );
    const ada = await signIn('operator');
    await ada.page.getByRole('link', { name: 'Networks' }).click();
    await ada.page.getByText('Nothing is stopped on Ethereum, Tron, Solana').waitFor();
    await ada.page.getByText('no network of real money').waitFor();
    await ada.page.getByRole('table', { name: 'Versions' }).getByText(`process ${process.pid}`).waitFor();
    await looks(ada.page, 'operator-networks-open');
    await stop(1_790_000_000, HOSTILE);
    await ada.page.reload();
    const grace = await signIn('operator');
    await grace.page.getByText(/Nothing is sent on erc20.*on the page Networks/).waitFor();
    await ada.page.getByRole('button', { name: 'Ask to resume' }).focus();
    await ada.page.keyboard.press('Enter');
    await ada.page.getByLabel('What you have found').fill(`Looked. ${HOSTILE}`);
    await ada.page.keyboard.press('Tab');
    await ada.page.keyboard.press('Tab');
    await ada.page.keyboard.press('Enter');
    await ada.page.getByText('Another operator confirms it').waitFor();
    expect(await ada.page.getByRole('button', { name: 'Confirm' }).count()).toBe(0);
    await looks(ada.page, 'operator-networks');
    // Nothing is asked for by the clock.
    await grace.page.addInitScript({ content: 'window.setInterval = () => 0;' });
    await grace.page.goto(ada.page.url());
    await grace.page.getByRole('button', { name: 'Confirm' }).click();
    // What nobody has looked at yet is found while the dialog is open.
    await stop(1_790_000_100, 'block 8 was replaced');
    const dialog = grace.page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await grace.page.getByText('Look at the cause anew').waitFor();
    await grace.page.getByRole('button', { name: 'Ask to resume' }).click();
    await grace.page.getByLabel('What you have found').fill('Looked at both.');
    await dialog.getByRole('button', { name: 'Ask another operator' }).click();
    await grace.page.getByText('Another operator confirms it').waitFor();
    await ada.page.reload();
    await ada.page.getByRole('button', { name: 'Confirm' }).click();
    await ada.page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click();
    await ada.page.getByText('Nothing is stopped on Ethereum').waitFor();
    await ada.page.getByRole('link', { name: 'Audit log' }).click();
    await ada.page.getByText('confirmResume', { exact: true }).first().waitFor();
    await looks(ada.page, 'operator-audit');
    expect(await ada.page.title()).not.toContain('taken');
    const unexpected = [...ada.faults, ...grace.faults].filter((fault) => !fault.includes('status of 409'));
    expect(unexpected).toEqual([]);
    await Promise.all([ada, grace].map(({ page }) => page.context().close()));
  });

  test('who has a role with two merchants goes from one to the other', { timeout: LONG_MS }, async () => {
    const { page, userId, faults } = await signIn('viewer');
    const other = await at.service.createMerchant();
    await at.service.app.db
      .insertInto('console_membership')
      .values({
        merchant_id: other.merchantId,
        user_id: userId,
        role: 'viewer',
        created_at_ms: at.service.app.clock.nowMs(),
      })
      .execute();
    await page.reload();
    const id = encodeId('merchant', other.merchantId);
    await page.getByLabel('Merchant').selectOption(id);
    await page.waitForURL(new RegExp(`/console/${id}/store_\\w+/home`));
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(await page.getByLabel('Merchant').inputValue()).toBe(id);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('two people brand a store: each sees the page of a payer before, and the second one is shown both', {
    timeout: LONG_MS,
  }, async () => {
    const [owner, admin] = [await signIn('owner'), await signIn('admin')];
    const { page } = owner;
    await page.goto(`${at.base()}/stores`);
    await page.getByRole('table').getByRole('link').click();
    await page.getByText('It takes requests and payments.').waitFor();
    await page.getByText('refunds.approval_above').waitFor();
    await looks(page, 'store-settings');
    await page.getByRole('link', { name: 'Change the name' }).focus();
    await page.keyboard.press('Enter');
    const preview = page.frameLocator('iframe');
    await preview.getByText('An example').waitFor();
    await page.getByLabel('Colour', { exact: true }).fill('reddish');
    await page.getByText('a colour such as').waitFor();
    await page.getByLabel('Colour', { exact: true }).fill('#b02a4c');
    await page.getByLabel('Name, as payers see it').fill(HOSTILE);
    await page.locator('input[type=file]').setInputFiles({
      name: 'logo.svg',
      mimeType: 'image/svg+xml',
      buffer: Buffer.from(LOGO),
    });
    await preview.locator('img.logo').waitFor();
    await preview.getByText(HOSTILE).first().waitFor();
    const inFrame = (expression: string) => page.frames()[1]?.evaluate(expression);
    expect(await inFrame(`document.querySelector('img.logo').naturalWidth`)).toBeGreaterThan(0);
    expect(
      await inFrame(`getComputedStyle(document.documentElement).getPropertyValue('--accent')`),
    ).toContain('#b02a4c');
    await looks(page, 'branding');
    await page.getByLabel('Page', { exact: true }).selectOption('paid');
    await preview.getByText(/^Back to/).waitFor();
    await page.getByLabel('On a device that is').selectOption('dark');
    await expect.poll(() => inFrame('getComputedStyle(document.documentElement).colorScheme')).toBe('dark');
    await admin.page.goto(`${at.base()}/branding`);
    await admin.page.getByLabel('Where payers reach you').fill('nobody');
    await admin.page.getByText('support must be a mail address').waitFor();
    await admin.page.getByLabel('Where payers reach you').fill('help@shop.example');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved: pages show it now.').waitFor();
    await admin.page.getByText('Somebody changed this meanwhile').waitFor({ timeout: 30_000 });
    const both = admin.page.getByRole('table', { name: 'Both changes' });
    await both.getByRole('row', { name: /Colour #b02a4c/ }).waitFor();
    expect(await admin.page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await looks(admin.page, 'branding-both');
    await admin.page.getByRole('button', { name: 'Keep what I changed' }).click();
    await both.waitFor({ state: 'hidden' });
    expect(await admin.page.getByLabel('Colour', { exact: true }).inputValue()).toBe('#b02a4c');
    await admin.page.getByLabel('Where payers reach you').press('Enter');
    await admin.page.getByText('Saved: pages show it now.').waitFor();
    await page
      .getByLabel('Where payers reach you')
      .and(page.locator('[value="help@shop.example"]'))
      .waitFor({ timeout: 30_000 });
    expect(await page.title()).not.toContain('taken');
    const unexpected = [...owner.faults, ...admin.faults].filter((fault) => !fault.includes('status of 400'));
    expect(unexpected).toEqual([]);
    await Promise.all([owner, admin].map((one) => one.page.context().close()));
  });

  test('an operator reads every setting of the installation, and finds one by a word', {
    timeout: LONG_MS,
  }, async () => {
    const { page, faults } = await signIn('operator');
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByText('payouts.approval_above').waitFor();
    const secret = page.getByRole('row').filter({ hasText: 'DATABASE_URL' });
    await secret.getByText('set', { exact: true }).waitFor();
    expect(await page.content()).not.toContain('postgres://');
    await looks(page, 'operator-settings');
    await page.keyboard.press('/');
    await page.keyboard.type('approvers must');
    await page.getByText('payouts.approval_above').waitFor({ state: 'hidden' });
    await page.getByText('payouts.approvals').waitFor();
    expect(page.url()).toContain('q=approvers');
    await page.keyboard.type(HOSTILE);
    await page.getByText('Nothing fits these filters.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('payouts.approval_above').waitFor();
    await page.getByRole('link', { name: 'audit log', exact: true }).click();
    await expect.poll(() => page.url()).toContain('action=settings.set');
    expect(await page.title()).not.toContain('taken');
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
