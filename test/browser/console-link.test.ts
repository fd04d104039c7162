import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isSecondRun, useSandbox } from '../sandbox-of-commands.ts';
import { driver, expectAccessible } from './checkout-driver.ts';
import { hasChromium, openBrowser } from './chromium.ts';

const LONG_MS = 180_000;

describe.skipIf(isSecondRun || !hasChromium())('links of the console in a browser', () => {
  const { ask } = useSandbox();
  let browser: Browser;
  const { open, keep } = driver(() => browser);

  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  const linkOf = async (...words: string[]) => (await ask<{ link_token: string }>(...words)).link_token;

  test('the owner of a sandbox comes in by a link of the terminal, once', { timeout: LONG_MS }, async () => {
    const link = await linkOf('console', 'link');
    const { page, faults } = await open(link, {});
    await expectAccessible(page);
    // Whoever looks at the address or the history finds no secret.
    expect(page.url()).not.toContain('#');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('You are signed in as owner@localhost: owner of Sandbox, operator.').waitFor();
    await page.getByRole('link', { name: 'People and roles' }).waitFor();
    await expectAccessible(page);
    await keep(page, 'console-link');
    const [cookie, ...others] = await page.context().cookies();
    expect([cookie?.httpOnly, cookie?.sameSite, others]).toEqual([true, 'Strict', []]);
    expect(faults).toEqual([]);
    await page.context().close();
    const again = await open(link, {});
    await again.page.getByRole('button', { name: 'Sign in' }).click();
    await again.page.getByText('This link was used').waitFor();
    await again.page.context().close();
  });

  test('who is invited sets a password, and is told what is wrong with one', {
    timeout: LONG_MS,
  }, async () => {
    const link = await linkOf('users', 'invite', 'ada@example.com', '--role', 'viewer');
    const { page } = await open(link, { viewport: { width: 390, height: 800 } });
    const signIn = async (password: string) => {
      await page.getByLabel(/Password/).fill(password);
      await page.getByLabel(/Password/).press('Enter');
    };
    await signIn('short');
    await page.getByText('A password has 12 to 256 characters.').waitFor();
    await signIn('gravel-otter-lantern');
    await page.getByText('You are signed in as ada@example.com: viewer of Sandbox.').waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page);
    await page.context().close();
  });
});
