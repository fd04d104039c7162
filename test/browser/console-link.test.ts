import { TOTP } from 'otpauth';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isSecondRun, useSandbox } from '../sandbox-of-commands.ts';
import { driver, expectAccessible } from './checkout-driver.ts';
import { hasChromium, openBrowser } from './chromium.ts';
import { addPasskeyDevice } from './console-driver.ts';

const LONG_MS = 300_000;

describe.skipIf(isSecondRun || !hasChromium())('links of the console in a browser', () => {
  const { ask, command } = useSandbox();
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
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('You are signed in as owner@localhost: owner of Sandbox, operator.').waitFor();
    await page.getByRole('link', { name: 'People and roles' }).waitFor();
    await expectAccessible(page);
    await keep(page, 'console-link');
    const [cookie, ...others] = await page.context().cookies();
    expect([cookie?.httpOnly, cookie?.sameSite, others]).toEqual([true, 'Strict', []]);
    expect(faults).toEqual([]);
    await page.context().close();
    const again = await open(link, {});
    await again.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await again.page.getByText('This link was used').waitFor();
    await again.page.context().close();
  });

  test('who is invited sets a password, and is told what is wrong with one', {
    timeout: LONG_MS,
  }, async () => {
    const link = await linkOf('users', 'invite', 'ada@example.com', '--role', 'viewer');
    const { page } = await open(link, { viewport: { width: 390, height: 800 } });
    const signIn = async (password: string) => {
      const field = page.locator('#come').getByLabel(/Password/);
      await field.fill(password);
      await field.press('Enter');
    };
    await signIn('short');
    await page.locator('#come .finding').getByText('A password has 12 to 256 characters.').waitFor();
    expect(
      await page
        .locator('#come')
        .getByLabel(/Password/)
        .getAttribute('aria-invalid'),
    ).toBe('true');
    await signIn('gravel-otter-lantern');
    await page.getByText('You are signed in as ada@example.com: viewer of Sandbox.').waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page);
    await page.context().close();
  });

  test('who moves money sets up an authenticator, comes back by code and recovery code, and ends a session', {
    timeout: LONG_MS,
  }, async () => {
    const link = await linkOf('users', 'invite', 'finn@example.com', '--role', 'finance');
    const { page, faults } = await open(link, {});
    const come = page.locator('#come');
    await come.getByLabel(/Password/).fill('gravel-otter-lantern');
    await come.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Your role needs a second factor').waitFor();
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
    await page.locator('#totp').waitFor();
    const secret = (await page.locator('#secret').textContent()) ?? '';
    const uri = await page.locator('#uri').getAttribute('href');
    expect(uri).toContain(secret.replaceAll(' ', ''));
    await page.evaluate(`document.querySelector('#qr').decode()`);
    await expectAccessible(page);
    await keep(page, 'console-totp');
    const app = new TOTP({ secret: secret.replaceAll(' ', '') });
    const digits = page.locator('#totp').getByLabel(/six digits/);
    await digits.fill('12345');
    await page.locator('#totp').getByRole('button').click();
    await page.locator('#totp .finding').getByText('This is not the code of now').waitFor();
    await expectAccessible(page);
    await keep(page, 'console-totp-wrong');
    await digits.fill(app.generate());
    await page.locator('#totp').getByRole('button').click();
    await page.getByText('Keep the recovery codes now').waitFor();
    const codes = ((await page.locator('#codes').textContent()) ?? '').split('\n');
    expect(new Set(codes).size).toBe(10);
    expect(await page.locator('#needed').isVisible()).toBe(false);
    await expectAccessible(page);

    const other = await open(new URL('/console/sign-in', link).href, {});
    const signIn = other.page.locator('#come');
    await signIn.getByLabel('E-mail address').fill('finn@example.com');
    await signIn.getByLabel(/Password/).fill('gravel-otter-lantern');
    await signIn.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.page.getByText('Enter the code of your authenticator app too.').waitFor();
    await expectAccessible(other.page);
    await signIn.getByLabel(/recovery code/).fill(codes[0] ?? '');
    await signIn.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.page.getByText('You are signed in as finn@example.com: finance of Sandbox.').waitFor();
    await keep(other.page, 'console-account');
    await other.page.getByText('9 are left.').waitFor();
    await other.page.getByRole('button', { name: 'Make new recovery codes' }).click();
    await other.page.getByText('earlier ones work no more').waitFor();
    await other.page.getByText('10 are left.').waitFor();
    expect(((await other.page.locator('#codes').textContent()) ?? '').split('\n')).toHaveLength(10);
    await expectAccessible(other.page);
    await keep(other.page, 'console-account-codes');
    await other.page.locator('#sessions').getByRole('button', { name: 'End', exact: true }).click();
    await other.page.getByText('The session has ended.').waitFor();
    // Chromium itself reports the status of the wrong code.
    expect([...faults, ...other.faults]).toEqual([expect.stringContaining('status of 400')]);
    await page.goto(new URL('/console/account', link).href);
    await page.getByText('You are not signed in').waitFor();
    await other.page.context().close();
    await page.context().close();
  });

  test('a passkey is set up, signs in alone and proves again, and a password alone does not', {
    timeout: LONG_MS,
  }, async () => {
    const link = await linkOf('users', 'invite', 'pia@example.com', '--role', 'finance');
    const { page, faults } = await open(link, {});
    await addPasskeyDevice(page);
    await page
      .locator('#come')
      .getByLabel(/Password/)
      .fill('gravel-otter-lantern');
    await page.locator('#come').getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Your role needs a second factor').waitFor();
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    const said = page.getByText('Your passkey is set up. Keep the recovery codes now');
    const [fingerprint] = /(?:[0-9a-f]{4}-){4}[0-9a-f]{4}/.exec(await said.innerText()) ?? [];
    expect(await page.locator('#passkeys code').innerText()).toBe(fingerprint);
    const { fingerprints } = await ask<{ fingerprints: object[] }>('approvers', 'passkey', 'pia@example.com');
    expect(fingerprints).toEqual([{ passkey: 'Passkey', fingerprint }]);
    const { stdout } = await command(['approvers', 'passkey', 'pia@example.com']);
    expect(stdout).toMatch(new RegExp(`passkey +fingerprint\\nPasskey +${fingerprint}`, 'i'));
    expect(stdout).toMatch(/^{"name":"pia@example.com","passkeys":\[{"key":"0x\w+",/m);
    expect(await page.locator('#needed').isVisible()).toBe(false);
    await expectAccessible(page);
    await keep(page, 'console-passkey');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('You are signed in as pia@example.com: finance of Sandbox.').waitFor();
    await page.evaluate(`run(() => askPasskey('proof/passkey').then(() => say('Proved.')))`);
    await page.getByText('Proved.').waitFor();
    expect(faults).toEqual([]);
    await page.locator('#passkeys').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('The passkey is removed.').waitFor();
    await page.getByText('Your role needs a second factor').waitFor();
    // By its address the page says why it knows no passkeys.
    await page.goto(new URL('/console/sign-in', link).href.replace('localhost', '127.0.0.1'));
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('A passkey belongs to a name').waitFor();
    await page.context().close();
  });
});
