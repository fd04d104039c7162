import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { TOKEN } from '../checkout/requests.ts';
import { WITHIN } from '../live/live-store.ts';
import { billing, item } from '../subscriptions/billing.ts';
import type { InjectedWallet } from './injected-wallet.ts';
import type { walletShop } from './wallet-shop.ts';

export const PRICE = 20 * TOKEN;

/** Payers in a browser on pages of subscriptions. */
export function subscribeDriver(shop: ReturnType<typeof walletShop>) {
  let customers = 0;
  async function opened(wallet: InjectedWallet, more: Parameters<typeof shop.open>[1] = {}, token = 'USDT') {
    customers += 1;
    const calls = billing(shop.store.service, shop.store.merchant);
    const { id, checkout_url: url } = await calls.make({
      customer: `customer-${customers}`,
      currency: token,
      description: 'Notebooks, every month another one',
      items: [item(PRICE, 'month', token)],
    });
    const payer = await shop.open(url ?? '', { prepare: wallet.join, ...more });
    return {
      ...payer,
      calls,
      id,
      customer: `customer-${customers}`,
      url: url ?? '',
      read: () => calls.read(id),
    };
  }
  const begin = (page: Page) => page.getByRole('button', { name: 'Continue with Test Fox' }).click();
  const confirm = (page: Page) => page.getByRole('button', { name: 'Approve and sign in Test Fox' }).click();
  /** Blocks come until the page says this. */
  async function mineUntil(page: Page, text: string): Promise<void> {
    const found = page.getByText(text);
    await expect
      .poll(async () => {
        await shop.store.world.mine(1);
        return await found.count();
      }, WITHIN)
      .toBeGreaterThan(0);
  }

  const sign = (page: Page) => page.getByRole('button', { name: 'Sign in Test Fox' }).click();
  return { opened, begin, confirm, sign, mineUntil };
}
