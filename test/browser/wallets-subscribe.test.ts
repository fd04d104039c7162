import { describe, expect, test } from 'vitest';
import { account } from '../contracts/local-node.ts';
import { COLLECTOR, WITHIN } from '../live/live-store.ts';
import { billing } from '../subscriptions/billing.ts';
import { expectAccessible } from './checkout-driver.ts';
import { refusal, WalletError } from './scripted-wallet.ts';
import { subscribeDriver } from './subscribe-driver.ts';
import { hasWallets, TIMEOUT_MS, UNITS, walletShop } from './wallet-shop.ts';

describe.skipIf(!hasWallets())('a subscription with a wallet in the browser', { timeout: 180_000 }, () => {
  const shop = walletShop({ collector: true });
  const { open, keep, newWallet, says } = shop;
  const { opened, begin, confirm, mineUntil } = subscribeDriver(shop);

  test('the payer reads the terms, approves, signs, and is charged', async () => {
    // Enough for the next period, too.
    const wallet = await newWallet(10n * UNITS);
    const loaded: string[] = [];
    const { page, faults, read, customer } = await opened(wallet, {
      prepare: async (page) => {
        await wallet.join(page);
        page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
      },
    });
    await page.getByRole('button', { name: 'Continue with Test Fox' }).waitFor();
    await keep(page, 'mandate-1-found');
    await expectAccessible(page);
    expect(wallet.calls).toEqual([]);
    expect(loaded.filter((path) => path.includes('/mandate-'))).toEqual([]);
    await begin(page);
    await page.getByText('At most each month').waitFor({ timeout: TIMEOUT_MS });
    expect(await page.locator('dl').innerText()).toMatch(
      /At most each month\s+40\.00\sUSDT\s+Subscriptions that it may serve\s+1\s+Ends\s+When you take it back\s+Approved in advance\s+960\.00\sUSDT\s+Approved to this contract\s+0x[0-9a-fA-F]{40}/,
    );
    await keep(page, 'mandate-2-terms');
    await expectAccessible(page);
    expect(wallet.calls).not.toContain('eth_sendTransaction');
    await confirm(page);
    await says(page, 'The approval waits for its block');
    await keep(page, 'mandate-3-approval');
    await mineUntil(page, 'Your payment is on its way');
    await shop.store.until(read, { status: 'active' });
    // It may be about to load itself anew.
    await page.reload().catch(() => {});
    await page.getByRole('heading', { name: 'Your subscription has begun' }).waitFor({ timeout: TIMEOUT_MS });
    await keep(page, 'mandate-4-begun');
    await expectAccessible(page);
    const body = { customer, return_url: 'https://shop.example/account' };
    const portal = await billing(shop.store.service, shop.store.merchant).post('/portal/sessions', body);
    await page.goto(String(Object(portal.json).url));
    await keep(page, 'mandate-10-portal');
    await expectAccessible(page);
    await page.locator('summary').filter({ hasText: 'Take the permission back' }).click();
    await page.getByText(COLLECTOR).waitFor();
    await page.getByRole('link', { name: 'Use another wallet' }).click();
    // The page opens at the wallets.
    await page.getByRole('button', { name: 'Continue with Test Fox' }).waitFor({ timeout: TIMEOUT_MS });
    await keep(page, 'mandate-11-replace');
    await expectAccessible(page);
    expect(faults).toEqual([]);
    await page.context().close();
    await shop.store.expectSettled();
  });

  test('refused, signed by another key, another contract, another cap: nothing begins', async () => {
    const wallet = await newWallet();
    const { page, read } = await opened(wallet);
    wallet.answer('eth_requestAccounts', () => {
      throw refusal();
    });
    await begin(page);
    await says(page, 'You refused in Test Fox');
    wallet.answer('eth_requestAccounts', (params) => wallet.usual('eth_requestAccounts', params));
    await begin(page);
    wallet.answer('eth_sendTransaction', () => {
      throw refusal();
    });
    await confirm(page);
    await says(page, 'You refused in Test Fox');
    await keep(page, 'mandate-5-refused');
    // It speaks for another account by now, and then is gone.
    wallet.answer('eth_accounts', () => [account(3).address]);
    await confirm(page);
    await says(page, 'does not let this page use the account');
    wallet.answer('eth_accounts', (params) => wallet.usual('eth_accounts', params));
    wallet.answer('eth_sendTransaction', () => {
      throw new WalletError(4900, 'The provider is disconnected from all chains.');
    });
    await confirm(page);
    await says(page, 'does not answer any more');
    // An approval of before is too small: the token wants it to become 0 first.
    const approvals: string[] = [];
    wallet.answer('eth_call', () => `0x${1n.toString(16).padStart(64, '0')}`);
    wallet.answer('eth_sendTransaction', ([transaction]) => {
      approvals.push(Object(transaction).data.slice(-64));
      throw refusal();
    });
    await confirm(page);
    await expect.poll(() => approvals, WITHIN).toEqual(['0'.repeat(64)]);
    await says(page, 'You refused in Test Fox');
    // The wallet says that enough is approved, and signs with another key.
    wallet.answer('eth_call', () => `0x${'f'.repeat(64)}`);
    wallet.answer('eth_signTypedData_v4', ([, text]) => account(3).signTypedData(JSON.parse(String(text))));
    await confirm(page);
    await says(page, 'The signature does not match this account and these terms. Nothing has begun.');
    await keep(page, 'mandate-6-signature');
    await expectAccessible(page);
    expect(await read()).toMatchObject({ status: 'incomplete' });
    await page.context().close();
    const changes = [
      'terms.domain.verifyingContract = terms.message.payer',
      'terms.domain.chainId = 1',
      "terms.message.cap = '999000000'",
      'terms.message.period = 1',
      'terms.message.subscriptions = 9',
      'terms.message.payer = terms.domain.verifyingContract',
      'offer.steps[0].spender = terms.message.payer',
    ];
    for (const change of changes) {
      const changed = await opened(wallet, {
        initScript: `(() => {
          const real = window.fetch;
          window.fetch = async (url, init) => {
            const offer = await (await real(url, init)).json();
            const terms = JSON.parse(offer.steps[1].typed_data);
            ${change};
            offer.steps[1].typed_data = JSON.stringify(terms);
            return new Response(JSON.stringify(offer));
          };
        })()`,
      });
      await begin(changed.page);
      await says(changed.page, 'The terms are not those of this page, so nothing was signed.');
      await changed.page.context().close();
    }
    const swapped = await opened(wallet);
    await begin(swapped.page);
    // From the terms a way leads back to the choice.
    await swapped.page.getByRole('button', { name: 'Use another wallet' }).click({ timeout: TIMEOUT_MS });
    await swapped.page.context().close();
    for (const name of ['cap', 'period', 'count', 'end', 'approval', 'spender']) {
      const { page: changed } = await opened(wallet);
      await begin(changed);
      await changed.locator(`[data-exact=${name}]`).waitFor({ timeout: TIMEOUT_MS });
      await changed.evaluate(`document.querySelector('[data-exact=${name}]').firstChild.data = 'Other'`);
      await confirm(changed);
      await changed.getByText('Do not pay from this page').waitFor({ timeout: TIMEOUT_MS });
      if (name === 'cap') await keep(changed, 'mandate-7-tampered');
      await changed.context().close();
    }
  });

  test('an approval that was sent before the page was loaded again is waited for, and not asked for twice', async () => {
    const wallet = await newWallet(10n * UNITS);
    const { page, read } = await opened(wallet);
    await begin(page);
    await confirm(page);
    await says(page, 'The approval waits for its block');
    const asked = () => wallet.calls.filter((method) => method === 'eth_sendTransaction').length;
    expect(asked()).toBe(1);
    await page.reload();
    await says(page, 'An approval was sent from this page a short while ago.');
    await keep(page, 'mandate-12-sent-before');
    await begin(page);
    await confirm(page);
    await says(page, 'The approval waits for its block');
    await mineUntil(page, 'Your payment is on its way');
    expect(asked()).toBe(1);
    await shop.store.until(read, { status: 'active' });
    await page.context().close();
  });

  test('a block between two reads is no missing approval, and who stops waiting is told to look', async () => {
    const wallet = await newWallet();
    const { page } = await opened(wallet);
    wallet.answer('eth_sendTransaction', () => `0x${'ab'.repeat(32)}`);
    await begin(page);
    await confirm(page);
    await says(page, 'The approval waits for its block');
    await page.getByRole('button', { name: 'Stop waiting' }).click();
    await says(page, 'Check there for a payment');
    let isLate = false;
    let isSent = false;
    wallet.answer('eth_call', (params) => {
      if (isSent && isLate) return wallet.usual('eth_call', params);
      isLate = isSent;
      return `0x${'0'.repeat(64)}`;
    });
    wallet.answer('eth_sendTransaction', async ([transaction]) => {
      const hash = await wallet.send(Object(transaction));
      await shop.store.world.mine(1);
      isSent = true;
      return hash;
    });
    wallet.answer('eth_signTypedData_v4', () => {
      throw refusal();
    });
    await begin(page);
    await confirm(page);
    await says(page, 'You refused in Test Fox');
    expect(wallet.calls).toContain('eth_signTypedData_v4');
    await page.context().close();
  });

  test('without a wallet the page says so, and leads phones to the browsers of wallets; in Arabic too', async () => {
    const wallet = await newWallet();
    const { page, faults, url } = await opened(wallet, {
      prepare: async () => {},
      hasTouch: true,
      isMobile: true,
    });
    await page.getByText('No wallet was found in this browser').waitFor();
    await page.getByText('I have a wallet app on this phone').click();
    await keep(page, 'mandate-8-phone');
    await expectAccessible(page);
    expect(faults).toEqual([]);
    await page.context().close();
    const arabic = await open(`${url}?lang=ar`, { prepare: wallet.join });
    await arabic.page.locator('button.wallet').click();
    await arabic.page.locator('[data-exact=cap]').waitFor({ timeout: TIMEOUT_MS });
    await keep(arabic.page, 'mandate-9-arabic');
    await arabic.page.context().close();
  });
});
