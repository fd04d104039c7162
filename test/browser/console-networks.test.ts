import { describe, expect, test } from 'vitest';
import { NIL_ID } from '../../packages/server/src/platform/db/ids/index.ts';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { stopNetwork } from '../../packages/server/src/transfers/blocks/index.ts';
import { hasChromium } from './chromium.ts';
import { HOSTILE, useConsole } from './console-driver.ts';

const LONG_MS = 120_000;

describe.skipIf(!hasChromium())('networks, and several merchants in the console', () => {
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
});
