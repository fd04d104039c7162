import { randomUUID } from 'node:crypto';
import { TOTP } from 'otpauth';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { users } from '../../packages/server/src/console/accounts/index.ts';
import { linkOf } from '../../packages/server/src/console/index.ts';
import { INSTALLATION_ROLES } from '../../packages/server/src/console/roles.ts';
import { NIL_ID } from '../../packages/server/src/platform/db/ids/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { driver, expectAccessible } from './checkout-driver.ts';
import { openBrowser } from './chromium.ts';

export const PASSWORD = 'gravel-otter-lantern';
export const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
export const HOSTILE = `<img src=x onerror="document.title='taken'">`;

interface Console {
  service: TestService;
  merchant: TestMerchant;
  browser: Browser;
}

/** Gives a page's browser a passkey device whose owner is there and agrees. */
export async function addPasskeyDevice(page: Page): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('WebAuthn.enable');
  await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

const TABS_MAX = 200;

/** As somebody without a mouse: Tab until it has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let tabs = 0; tabs < TABS_MAX; tabs++) {
    if ((await target.and(page.locator(':focus')).count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${target.toString()}`);
}

/** With the keyboard alone. */
export const byKeys = {
  press: async (page: Page, target: Locator) => {
    await tabTo(page, target);
    await page.keyboard.press('Enter');
  },
  /** Replaces what the field holds. */
  type: async (page: Page, target: Locator, text: string) => {
    await tabTo(page, target);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(text);
  },
};

/** A passkey as second factor, on the account page. */
async function addPasskey(page: Page): Promise<void> {
  await addPasskeyDevice(page);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('Your passkey is set up.').waitFor();
}

/** People of a merchant who use the console in a browser. */
export function consoleDriver(get: () => Console) {
  const { open, keep, isKept } = driver(() => get().browser);

  const base = () => {
    const { service, merchant } = get();
    return `${service.baseUrl.replace('127.0.0.1', 'localhost')}/console/${encodeId('merchant', merchant.merchantId)}/${encodeId('store', merchant.storeId)}`;
  };

  /** What the console asks of whoever moves money. @returns the recovery codes */
  async function setFactorUp(page: Page): Promise<string[]> {
    const { service } = get();
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
    await page.locator('#totp').waitFor();
    const secret = (await page.locator('#secret').innerText()).replaceAll(' ', '');
    const code = new TOTP({ secret }).generate({ timestamp: service.app.clock.nowMs() });
    await page.getByLabel(/six digits/).fill(code);
    await page.locator('#totp').getByRole('button').click();
    await page.getByText('Keep the recovery codes now').waitFor();
    return (await page.locator('#codes').innerText()).split('\n');
  }

  /** Somebody who comes in by the link of an invitation, with an authenticator app or, on a `phone`, by a passkey. */
  async function comeBy(
    link: string,
    role: string,
    options: { viewport?: typeof PHONE; isPhone?: boolean } = {},
  ) {
    const { isPhone = false, ...context } = options;
    const opened = await open(link, { viewport: isPhone ? PHONE : DESKTOP, ...context });
    const { page } = opened;
    await page
      .locator('#come')
      .getByLabel(/Password/)
      .fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    if (isPhone) await addPasskey(page);
    const codes = isPhone || role === 'viewer' ? [] : await setFactorUp(page);
    await page.getByRole('link', { name: 'Open the console' }).click();
    const isOfInstallation = INSTALLATION_ROLES.some((one) => one === role);
    await page.getByRole('heading', { name: isOfInstallation ? 'Health' : 'Home' }).waitFor();
    return { ...opened, codes };
  }

  /** A page of somebody with a role, who has given their second factor. */
  async function signIn(role: string, options = {}) {
    const { service, merchant } = get();
    const isOfInstallation = INSTALLATION_ROLES.some((one) => one === role);
    const merchantId = isOfInstallation ? NIL_ID : merchant.merchantId;
    const email = `${role}-${randomUUID()}@example.com`;
    const { token, userId } = await users.inviteUser(service.app, { merchantId, email, role });
    return { ...(await comeBy(linkOf(service.baseUrl, token), role, options)), userId, email };
  }

  const looks = async (page: Page, name: string) => {
    await keep(page, `console-${name}`);
    await expectAccessible(page);
    if (!isKept) return;
    await page.emulateMedia({ colorScheme: 'dark' });
    await keep(page, `console-${name}-dark`);
    await page.setViewportSize(PHONE);
    await keep(page, `console-${name}-phone-dark`);
    await page.emulateMedia({ colorScheme: 'light' });
    await keep(page, `console-${name}-phone`);
    await page.setViewportSize(DESKTOP);
  };

  return { open, keep, base, comeBy, signIn, looks };
}

/** A service with a merchant, and a browser, for the tests of a file. */
export function useConsole(options: Parameters<typeof startService>[0] = {}) {
  let all: Console;
  beforeAll(async () => {
    const service = await startService(options);
    all = { service, merchant: await service.createMerchant(), browser: await openBrowser() };
  }, 120_000);
  afterAll(async () => {
    await all?.browser.close();
    await all?.service.stop();
  });
  return {
    ...consoleDriver(() => all),
    get service() {
      return all.service;
    },
    get merchant() {
      return all.merchant;
    },
  };
}
