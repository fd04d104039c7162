import { readFileSync } from 'node:fs';
import { TOTP } from 'otpauth';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isSecondRun, useSandbox } from '../sandbox-of-commands.ts';
import { driver, expectAccessible, graveFaults } from './checkout-driver.ts';
import { hasChromium, openBrowser } from './chromium.ts';
import { addPasskeyDevice, DESKTOP } from './console-driver.ts';

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

  /** Readable in light and dark and on a small phone; kept as people with a phone and with a desk see it. */
  const looks = async (page: Page, name: string) => {
    await expectAccessible(page);
    const before = page.viewportSize() ?? { width: 390, height: 844 };
    for (const colorScheme of ['dark', 'light'] as const)
      for (const size of [
        { width: 390, height: 844 },
        { width: 1440, height: 900 },
      ]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(size);
        expect(await graveFaults(page), `${name} ${colorScheme} ${size.width}`).toEqual([]);
        await keep(page, `people-${name}-${colorScheme}-${size.width}`);
      }
    await page.setViewportSize(before);
  };
  /** Of the buttons that are shown, those that stand out. */
  const primary = async (page: Page) => await page.locator('.primary:visible').allInnerTexts();

  test('the owner of a sandbox comes in by a link of the terminal, once', { timeout: LONG_MS }, async () => {
    const link = await linkOf('console', 'link');
    const { page, faults } = await open(link, {});
    const come = page.getByRole('button', { name: 'Sign in as owner@localhost' });
    await come.waitFor();
    expect(await page.getByRole('textbox').count()).toBe(0);
    expect(await primary(page)).toEqual(['Sign in as owner@localhost']);
    await looks(page, 'link-sign-in');
    // Whoever looks at the address or the history finds no secret.
    expect(page.url()).not.toContain('#');
    // Opening a link does not use it.
    const preview = await open(link, {});
    await preview.page.getByRole('button', { name: 'Sign in as owner@localhost' }).waitFor();
    await preview.page.context().close();
    await come.dblclick();
    await page.getByText('You are signed in as owner@localhost: owner of Sandbox, operator.').waitFor();
    await page.getByRole('link', { name: 'People and roles' }).waitFor();
    expect(await primary(page)).toEqual(['Add a passkey']);
    await looks(page, 'account-needed');
    const [cookie, ...others] = await page.context().cookies();
    expect([cookie?.httpOnly, cookie?.sameSite, others]).toEqual([true, 'Strict', []]);
    expect(faults).toEqual([]);
    await page.context().close();
    const again = await open(link, {});
    await again.page.getByRole('heading', { name: 'This link works no more' }).waitFor();
    await again.page.getByText('This link was used').waitFor();
    await again.page.getByText('florin console link').waitFor();
    expect(await again.page.getByRole('button').count()).toBe(0);
    await looks(again.page, 'link-used');
    // A link that is pasted into this tab is opened, though only the part behind the # is another one.
    await again.page.goto(await linkOf('console', 'link'));
    await again.page.getByRole('button', { name: 'Sign in as owner@localhost' }).waitFor();
    await again.page.reload();
    await again.page.getByRole('heading', { name: 'Open the link again' }).waitFor();
    await again.page.goto(`${link}${'x'.repeat(200)}`);
    await again.page.getByText('The link is not whole').waitFor();
    await again.page.context().close();
  });

  test('while the service is away the page of a link says so, and asks again', {
    timeout: LONG_MS,
  }, async () => {
    const link = await linkOf('console', 'link');
    const { page } = await open(link, {
      prepare: async (opened) => {
        await opened.route('**/links/look', (route) => route.abort());
      },
    });
    await page.getByText('The service cannot be reached.').waitFor();
    expect(await page.getByRole('button').allInnerTexts()).toEqual(['Try again']);
    await looks(page, 'link-away');
    await page.unroute('**/links/look');
    await page.getByRole('button', { name: 'Try again' }).click();
    // Whoever has come in is not asked to use their link once more.
    await page.route('**/console/api/me', (route) => route.abort(), { times: 1 });
    await page.getByRole('button', { name: 'Sign in as owner@localhost' }).click();
    await page.getByText('The service cannot be reached.').waitFor();
    expect(await page.getByRole('button').allInnerTexts()).toEqual(['Try again']);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('You are signed in as owner@localhost').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await page.context().close();
  });

  test('of two presses one counts, and codes that the service has deleted leave the page', {
    timeout: LONG_MS,
  }, async () => {
    const { page } = await open(await linkOf('console', 'link'), {});
    await addPasskeyDevice(page);
    await page.getByRole('button', { name: 'Sign in as owner@localhost' }).click();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') asked.push(new URL(request.url()).pathname);
    });
    const slowly = (path: string) =>
      page.route(
        path,
        async (route) => {
          const answer = await route.fetch();
          await new Promise((done) => setTimeout(done, 700));
          await route.fulfill({ response: answer });
        },
        { times: 1 },
      );
    await slowly('**/factors/totp');
    await page.getByRole('button', { name: 'Set up an authenticator app' }).dblclick();
    await page.getByText('Scan this code with the app').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('heading', { name: 'Keep your recovery codes' }).waitFor();
    const first = await page.locator('#codes').innerText();
    await slowly('**/factors/recovery-codes');
    await page.getByRole('button', { name: 'Make new recovery codes' }).dblclick();
    await page.getByText('New recovery codes are made.').waitFor();
    expect(await page.locator('#codes').innerText()).not.toBe(first);
    for (const path of ['factors/totp', 'factors/recovery-codes'])
      expect(asked.filter((one) => one === `/console/api/${path}`)).toHaveLength(1);
    await page.locator('#passkeys').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('The passkey is removed.').waitFor();
    expect(await page.locator('#new-codes').isVisible()).toBe(false);
    expect(await page.locator('#codes').innerText()).toBe('');
    await page.context().close();
  });

  test('who is invited sets a password, and is told what is wrong with one', {
    timeout: LONG_MS,
  }, async () => {
    const link = await linkOf('users', 'invite', 'ada@example.com', '--role', 'viewer');
    const { page } = await open(link, { viewport: { width: 390, height: 800 } });
    await page.getByRole('heading', { name: 'You are invited to Sandbox as viewer' }).waitFor();
    expect(await page.getByLabel('E-mail address').inputValue()).toBe('ada@example.com');
    const password = page.locator('#come').getByLabel('Password');
    expect(await password.getAttribute('autocomplete')).toBe('new-password');
    expect(await page.locator('#come').getByLabel('Code').isVisible()).toBe(false);
    expect(await primary(page)).toEqual(['Accept and sign in']);
    await looks(page, 'link-new');
    const signIn = async (text: string) => {
      await password.fill(text);
      await password.press('Enter');
    };
    await signIn('short');
    await page.locator('#come .finding').getByText('A password has 12 to 256 characters.').waitFor();
    expect(await password.getAttribute('aria-invalid')).toBe('true');
    await looks(page, 'link-new-wrong');
    await signIn('gravel-otter-lantern');
    await page.getByText('You are signed in as ada@example.com: viewer of Sandbox.').waitFor();
    expect(await primary(page)).toEqual(['Open the console']);
    await looks(page, 'account-viewer');
    await page.getByRole('heading', { name: 'Password' }).click();
    await looks(page, 'account-password');
    await page.context().close();
  });

  test('who is known and invited elsewhere gives their password, and sees who invites to what, as text', {
    timeout: LONG_MS,
  }, async () => {
    const first = await open(await linkOf('users', 'invite', 'kim@example.com', '--role', 'viewer'), {});
    await first.page.locator('#come').getByLabel('Password').fill('gravel-otter-lantern');
    await first.page.getByRole('button', { name: 'Accept and sign in' }).click();
    await first.page.getByText('You are signed in as kim@example.com').waitFor();
    await first.page.context().close();
    const link = await linkOf('users', 'invite', 'kim@example.com', '--role', 'auditor', '--installation');
    const hostile = '<img src=x onerror="document.title=1">';
    const { page, faults } = await open(link, {
      prepare: async (opened) => {
        await opened.route('**/links/look', async (route) => {
          const answer = await route.fetch();
          const looked = { ...(await answer.json()), merchant_name: hostile, invited_by: hostile };
          await route.fulfill({ response: answer, json: looked });
        });
      },
    });
    await page.getByRole('heading', { name: `You are invited to ${hostile} as auditor` }).waitFor();
    await page.getByText(`By ${hostile}.`).waitFor();
    const come = page.locator('#come');
    expect(await come.getByLabel('Code').isVisible()).toBe(true);
    await looks(page, 'link-known');
    await come.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Accept and sign in' }).click();
    await page.getByText('the password or the code is wrong').waitFor();
    await come.getByLabel('Password').fill('gravel-otter-lantern');
    await page.getByRole('button', { name: 'Accept and sign in' }).click();
    await page.getByText('You are signed in as kim@example.com: viewer of Sandbox, auditor.').waitFor();
    expect(faults).toEqual([expect.stringContaining('status of 401')]);
    await page.context().close();
  });

  /** As people keep them: on the clipboard, and in a file. */
  async function keepCodes(page: Page, codes: readonly string[]) {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('The recovery codes are copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(codes.join('\n'));
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe('florin-recovery-codes.txt');
    const text = readFileSync(await saved.path(), 'utf8');
    expect(text).toContain('Recovery codes of finn@example.com');
    expect(text).toContain(codes.join('\n'));
  }

  test('who moves money sets up an authenticator, comes back by code and recovery code, and ends a session', {
    timeout: LONG_MS,
  }, async () => {
    const link = await linkOf('users', 'invite', 'finn@example.com', '--role', 'finance');
    const { page, faults } = await open(link, {});
    const come = page.locator('#come');
    await come.getByLabel(/Password/).fill('gravel-otter-lantern');
    await come.getByRole('button', { name: 'Accept and sign in' }).click();
    await page.getByText('Your role needs a second factor').waitFor();
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
    await page.locator('#totp').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await primary(page)).toEqual(['Add a passkey']);
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
    await page.locator('#totp').waitFor();
    const secret = (await page.locator('#secret').textContent()) ?? '';
    const uri = await page.locator('#uri').getAttribute('href');
    expect(uri).toContain(secret.replaceAll(' ', ''));
    await page.evaluate(`document.querySelector('#qr').decode()`);
    expect(await primary(page)).toEqual(['Confirm']);
    await looks(page, 'account-totp');
    const app = new TOTP({ secret: secret.replaceAll(' ', '') });
    const digits = page.locator('#totp').getByLabel(/six digits/);
    await digits.fill('12345');
    await page.locator('#totp').getByRole('button').click();
    await page.locator('#totp .finding').getByText('This is not the code of now').waitFor();
    await looks(page, 'account-totp-wrong');
    await digits.fill(app.generate());
    await page.locator('#totp').getByRole('button').click();
    await page.getByText('Keep the recovery codes now').waitFor();
    const codes = ((await page.locator('#codes').textContent()) ?? '').split('\n');
    expect(new Set(codes).size).toBe(10);
    expect(await page.locator('#needed').isVisible()).toBe(false);
    expect(await primary(page)).toEqual(['Open the console']);
    await looks(page, 'account-codes');
    await keepCodes(page, codes);

    const other = await open(new URL('/console/sign-in', link).href, { viewport: DESKTOP });
    const signIn = other.page.locator('#come');
    await looks(other.page, 'sign-in');
    await signIn.getByLabel('E-mail address').fill('finn@example.com');
    await signIn.getByLabel(/Password/).fill('gravel-otter-lantern');
    await signIn.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.page.getByText('Enter the code of your authenticator app too.').waitFor();
    await looks(other.page, 'sign-in-code');
    await signIn.getByLabel('Code').fill(codes[0] ?? '');
    await signIn.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.page.waitForURL(/\/console\/mer_[^/]+\/store_[^/]+\/home$/);
    await other.page.getByRole('link', { name: 'Your account' }).click();
    await other.page.getByText('You are signed in as finn@example.com: finance of Sandbox.').waitFor();
    const sessions = other.page.locator('#sessions');
    await sessions.getByText('this one').waitFor();
    expect(await sessions.getByText('Chrome on Linux').count()).toBe(2);
    expect(await sessions.locator('[title*="Mozilla/5.0"]').count()).toBe(2);
    await looks(other.page, 'account');
    await other.page.getByText('9 are left.').waitFor();
    await other.page.getByRole('button', { name: 'Make new recovery codes' }).click();
    await other.page.getByText('earlier ones work no more').waitFor();
    await other.page.getByText('10 are left.').waitFor();
    expect(((await other.page.locator('#codes').textContent()) ?? '').split('\n')).toHaveLength(10);
    await expectAccessible(other.page);
    await other.page.locator('#sessions').getByRole('button', { name: 'End', exact: true }).click();
    await other.page.getByText('The session has ended.').waitFor();
    // Chromium itself reports the status of the wrong code.
    expect([...faults, ...other.faults]).toEqual([expect.stringContaining('status of 400')]);
    await page.goto(new URL('/console/account', link).href);
    await page.getByText('You are not signed in').waitFor();
    await other.page.reload();
    await other.page.context().clearCookies();
    await other.page.getByRole('button', { name: 'Make new recovery codes' }).click();
    await other.page.locator('#come').waitFor();
    for (const one of [page, other.page]) await one.context().close();
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
    await page.getByRole('button', { name: 'Accept and sign in' }).click();
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
    expect(await primary(page)).toEqual(['Open the console']);
    await looks(page, 'account-passkey');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.waitForURL(/\/home$/);
    await page.goto(new URL('/console/account', link).href);
    await page.getByText('You are signed in as pia@example.com: finance of Sandbox.').waitFor();
    await page.evaluate(`run(() => askPasskey('proof/passkey').then(() => say('Proved.')))`);
    await page.getByText('Proved.').waitFor();
    expect(faults).toEqual([]);
    // As after 5 minutes, in which the proof of the sign-in grows old.
    await page.route(
      '**/factors/passkeys/*',
      (route) => route.fulfill({ status: 403, json: { error: { message: 'First.', param: 'proof' } } }),
      { times: 2 },
    );
    const remove = page.locator('#passkeys').getByRole('button', { name: 'Remove' });
    await remove.click();
    const proof = page.getByRole('dialog', { name: 'Is it you?' });
    await looks(page, 'proof');
    await proof.getByRole('button', { name: 'Cancel' }).click();
    await remove.click();
    await proof.getByLabel('Your password').fill('not the password');
    await proof.getByRole('button', { name: 'Go on' }).click();
    await proof.getByText('the password or the code is wrong').waitFor();
    await proof.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByText('The passkey is removed.').waitFor();
    await page.getByText('Your role needs a second factor').waitFor();
    // By its address the page says why it knows no passkeys.
    await page.goto(new URL('/console/sign-in', link).href.replace('localhost', '127.0.0.1'));
    await page.getByText('A passkey belongs to a name').waitFor();
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0);
    await looks(page, 'sign-in-address');
    await page.context().close();
    const { page: byAddress } = await open(
      (await linkOf('console', 'link')).replace('localhost', '127.0.0.1'),
    );
    await byAddress.getByRole('button', { name: 'Sign in as owner@localhost' }).click();
    await byAddress.getByText('A passkey belongs to a name').waitFor();
    expect(await byAddress.getByRole('button', { name: 'Add a passkey' }).count()).toBe(0);
    expect(await primary(byAddress)).toEqual(['Set up an authenticator app']);
    await looks(byAddress, 'account-address');
    await byAddress.reload();
    await byAddress.getByRole('link', { name: 'Open it as localhost' }).click();
    await byAddress.getByText('You are not signed in').waitFor();
    await byAddress.context().close();
  });

  test('browsers are named as people call them', { timeout: LONG_MS }, async () => {
    const { page } = await open(new URL('/console/sign-in', await linkOf('console', 'link')).href);
    const safari = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';
    const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0';
    for (const [agent, name] of [
      [`Mozilla/5.0 (X11; Linux x86_64) ${chrome} Safari/537.36`, 'Chrome on Linux'],
      [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Edg/140.0.0.0`, 'Edge on Windows'],
      [`Mozilla/5.0 (Linux; Android 10; K) ${chrome} Mobile Safari/537.36`, 'Chrome on Android'],
      [
        `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${safari} Version/18.5 Safari/605.1.15`,
        'Safari on macOS',
      ],
      [
        `Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) ${safari} Version/18.5 Mobile/15E148 Safari/604.1`,
        'Safari on iPhone',
      ],
      [
        `Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) ${safari} CriOS/140.0.0.0 Mobile/15E148 Safari/604.1`,
        'Chrome on iPad',
      ],
      [
        'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
        'Firefox on Windows',
      ],
      ['curl/8.5.0', 'Another browser'],
      ['', 'Another browser'],
    ])
      expect(await page.evaluate(`deviceName(${JSON.stringify(agent)})`), agent).toBe(name);
    await page.context().close();
  });
});
