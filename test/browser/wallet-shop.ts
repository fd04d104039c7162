import type { Asset } from '@florin/contract/money';
import type { Browser, Page } from 'playwright-core';
import type { Address } from 'viem';
import { afterAll, beforeAll, expect } from 'vitest';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { LiveStore, WITHIN } from '../live/live-store.ts';
import { driver, readQr } from './checkout-driver.ts';
import { hasChromium, openBrowser } from './chromium.ts';
import { InjectedWallet } from './injected-wallet.ts';

export const PRICE = 25;
export const UNITS = BigInt(PRICE * TOKEN);
export const BUTTON = 'Pay with Test Fox';
export const TIMEOUT_MS = 120_000;

/** Whether wallets of browsers can be tried here; prints why not. */
export const hasWallets = () => hasChromium() && hasAnvil();

/** A live store of the test file, its payers and their browser. */
export function walletShop(options: { collector?: boolean } = {}) {
  let store: LiveStore;
  let browser: Browser;
  const { open, keep } = driver(() => browser);

  beforeAll(async () => {
    store = await LiveStore.start(undefined, options);
    browser = await openBrowser();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await store?.stop();
  });

  let next = 4;
  /** A wallet with coins, unless `units` says otherwise. */
  async function newWallet(units = UNITS, token: Asset = 'USDT'): Promise<InjectedWallet> {
    next = next === 8 ? 4 : next + 1;
    const wallet = new InjectedWallet(store.world, next);
    const held = await store.world.balance(token, wallet.account.address);
    if (held < units) await store.world.mint(token, wallet.account.address, units - held);
    return wallet;
  }
  /** A session whose payer has chosen USDT on Ethereum. */
  async function session() {
    const made = await checkout(store.service, store.merchant).open({
      amount: PRICE * TOKEN,
      description: 'Two notebooks and a pencil',
    });
    await fetch(made.url, { method: 'POST', body: new URLSearchParams({ option: 'USDT:erc20' }) });
    const { address } = await store.payment(made.payment_id);
    return { ...made, address: address as Address };
  }
  async function opened(wallet: InjectedWallet, more: Parameters<typeof open>[1] = {}) {
    const made = await session();
    return { ...made, ...(await open(made.url, { prepare: wallet.join, ...more })) };
  }
  const payWith = (page: Page) => page.getByRole('button', { name: BUTTON }).click();
  const says = (page: Page, text: string | RegExp) =>
    page.locator('.note').filter({ hasText: text }).first().waitFor({ timeout: TIMEOUT_MS });
  /** Address and code stay, and the wallet can be tried again. */
  async function expectUnpaid(page: Page, address: string, wallet: InjectedWallet): Promise<void> {
    expect(wallet.calls).not.toContain('eth_sendTransaction');
    expect(await page.locator('[data-exact=address]').textContent()).toBe(address);
    expect(await readQr(page)).toBe(address);
    await expect.poll(() => page.getByRole('button', { name: BUTTON }).isEnabled(), WITHIN).toBe(true);
  }
  const mineUntil = async (page: Page, name: string) => {
    const heading = page.getByRole('heading', { level: 1, name });
    await expect
      .poll(async () => {
        await store.world.mine(1);
        return await heading.isVisible();
      }, WITHIN)
      .toBe(true);
  };
  return {
    get store() {
      return store;
    },
    open,
    keep,
    newWallet,
    session,
    opened,
    payWith,
    says,
    expectUnpaid,
    mineUntil,
  };
}
