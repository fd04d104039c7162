import { address } from '@solana/kit';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEYS } from '../chains/solana/key-signer.ts';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { SolanaStore } from '../live/solana-store.ts';
import { refunds } from '../refunds/requests.ts';
import { billing, item } from '../subscriptions/billing.ts';
import { driver, expectAccessible } from './checkout-driver.ts';
import { hasChromium, openBrowser } from './chromium.ts';
import { InjectedStandardWallet } from './standard-wallet.ts';

const PRICE = 25;
const UNITS = BigInt(PRICE * TOKEN);
const SOL = 1_000_000_000n;
const BUTTON = 'Pay with Test Sun';

describe.skipIf(!hasChromium())('a wallet of Solana in the payer’s browser', { timeout: 120_000 }, () => {
  let store: SolanaStore;
  let browser: Browser;
  const { open, keep } = driver(() => browser);
  beforeAll(async () => {
    store = await SolanaStore.start();
    browser = await openBrowser();
    await store.untilNamed();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await store?.stop();
  });

  /** A payer with coins at a session that asks for USDC on Solana. */
  async function opened(name: string, { sol = SOL, units = 2n * UNITS } = {}) {
    const { local, service, merchant } = store;
    const wallet = new InjectedStandardWallet(local, name);
    await local.give('USDC', wallet.address, units);
    local.node.controls.fund(address(wallet.address), sol);
    local.mine(1);
    const made = await checkout(service, merchant).open({ amount: PRICE * TOKEN, currency: 'USDC' });
    await fetch(made.url, { method: 'POST', body: new URLSearchParams({ option: 'USDC:spl' }) });
    const { address: to } = await store.payment(made.payment_id);
    return { ...made, wallet, to, ...(await open(made.url, { prepare: wallet.join })) };
  }
  const payWith = (page: Page) => page.getByRole('button', { name: BUTTON }).click();
  const says = (page: Page, text: string | RegExp) =>
    page.locator('.note').filter({ hasText: text }).first().waitFor();

  test('pays in two clicks, proves itself, and gets a refund without naming an address', async () => {
    const { page, wallet, faults, payment_id, to } = await opened('a payer of the page');
    await page.getByRole('button', { name: BUTTON }).waitFor();
    // Only those of this network.
    expect(await page.getByRole('button', { name: /Elsewhere/ }).count()).toBe(0);
    expect(wallet.calls).toEqual([]);
    await keep(page, 'wallet-solana-1-found');
    await expectAccessible(page);
    const { promise: confirmed, resolve: confirm } = Promise.withResolvers<void>();
    wallet.answer('send', async (value) => {
      await confirmed;
      return await wallet.usual('send', value);
    });
    const { promise: signed, resolve: sign } = Promise.withResolvers<void>();
    wallet.answer('sign', async (value) => {
      await signed;
      expect(Buffer.from(value, 'base64').toString()).toContain('your Solana account:');
      return await wallet.usual('sign', value);
    });
    await payWith(page);
    await says(page, 'Compare address and amount in Test Sun');
    await keep(page, 'wallet-solana-2-confirm');
    confirm();
    await says(page, 'Sent. It waits for its block');
    await says(page, 'sign in Test Sun that the wallet is yours');
    sign();
    await says(page, 'A refund can go back to this wallet');
    await store.until(() => store.payment(payment_id), {
      status: 'completed',
      amount_received: PRICE * TOKEN,
      transactions: [{ from: wallet.address, address: to }],
    });
    await page.getByRole('heading', { level: 1, name: 'Paid. Thank you!' }).waitFor();
    await keep(page, 'wallet-solana-3-paid');
    const { service, merchant } = store;
    const refund = await refunds(service, merchant).refund({ refund_id: 'sw-1', payment_id });
    expect(refund).toMatchObject({ address: wallet.address, claim_url: null });
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('refused, or without enough coins or SOL: nothing was paid, and it can be tried again', async () => {
    const { page, wallet, to } = await opened('a payer who hesitates', {
      sol: 1_000_000n,
      units: UNITS - 1n,
    });
    const isUnpaid = async () => {
      expect(await page.locator('[data-exact=address]').textContent()).toBe(to);
      await expect.poll(() => page.getByRole('button', { name: BUTTON }).isEnabled()).toBe(true);
    };
    wallet.refuseOnce('connect');
    await payWith(page);
    await says(page, 'You refused in Test Sun. Nothing was paid.');
    await isUnpaid();
    await payWith(page);
    await says(page, /holds 24\.999999\sUSDC; 25\.00\sUSDC is needed/);
    await isUnpaid();
    await store.local.give('USDC', wallet.address, 1n);
    store.local.mine(1);
    await payWith(page);
    await says(page, "too little SOL for the network's fee");
    await keep(page, 'wallet-solana-4-no-sol');
    await isUnpaid();
    store.local.node.controls.fund(address(wallet.address), SOL);
    wallet.refuseOnce('send');
    await payWith(page);
    await says(page, 'You refused in Test Sun. Nothing was paid.');
    await isUnpaid();
    expect(wallet.calls).not.toContain('sign');
    await page.context().close();
  });

  test('a transaction that pays something else than the page shows goes to no wallet', async () => {
    const { page, wallet } = await opened('a payer who is robbed');
    await page.route('**/wallet-transfer*', async (route) => {
      const answer = await route.fetch();
      const { transaction } = await answer.json();
      const bytes = Buffer.from(transaction, 'base64');
      // The last bytes: amount, decimals, no lookup tables.
      bytes[bytes.length - 5] = (bytes.at(-5) ?? 0) ^ 1;
      await route.fulfill({ response: answer, json: { transaction: bytes.toString('base64') } });
    });
    await payWith(page);
    await page.getByRole('alert').waitFor();
    await keep(page, 'wallet-solana-5-tampered');
    expect(wallet.calls).toEqual(['connect']);
    await page.context().close();
  });

  /** A payer before the page of a subscription that asks for USDC each day. */
  async function subscriber(name: string, { sol = SOL, units = 4n * UNITS } = {}) {
    const { local, service, merchant } = store;
    const wallet = new InjectedStandardWallet(local, name);
    if (units > 0n) await local.give('USDC', wallet.address, units);
    local.node.controls.fund(address(wallet.address), sol);
    local.mine(1);
    const calls = billing(service, merchant);
    const items = [item(PRICE * TOKEN, 'day', 'USDC')];
    const made = await calls.make({ customer: name, currency: 'USDC', items });
    const payer = await open(made.checkout_url ?? '', { prepare: wallet.join });
    return { ...payer, wallet, calls, read: () => calls.read(made.id) };
  }
  const begin = (page: Page) => page.getByRole('button', { name: 'Continue with Test Sun' }).click();
  const give = (page: Page) => page.getByRole('button', { name: 'Sign and approve in Test Sun' }).click();

  test('the payer reads the terms, signs them, approves, and is charged; the portal says how to take it back', async () => {
    const name = 'a subscriber of the page';
    const { page, wallet, faults, calls, read } = await subscriber(name);
    await begin(page);
    await page.getByText('At most each day').waitFor();
    expect(await page.locator('dl').innerText()).toMatch(
      /At most each day\s+50\.00\sUSDC\s+Subscriptions that it may serve\s+1\s+Ends\s+When you take it back\s+Approved in advance\s+18250\.00\sUSDC\s+Approved to this account\s+\w{32,44}/,
    );
    await says(page, 'Solana itself knows only the total that you approve.');
    await keep(page, 'mandate-solana-1-terms');
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await keep(page, 'mandate-solana-1-terms-dark');
    await page.emulateMedia({ colorScheme: null });
    expect(wallet.calls).toEqual(['connect']);
    await give(page);
    await says(page, 'The approval waits for its block');
    await keep(page, 'mandate-solana-2-approval');
    await store.until(read, { status: 'active' });
    // The page loads itself anew until it says so.
    await page.getByRole('heading', { name: 'Your subscription has begun' }).waitFor();
    expect(wallet.calls).toEqual(['connect', 'connect', 'sign', 'send']);
    const portal = await calls.post('/portal/sessions', {
      customer: name,
      return_url: 'https://shop.example/',
    });
    await page.goto(String(Object(portal.json).url));
    await page.locator('summary').filter({ hasText: 'Take the permission back' }).click();
    await page.getByText('revoke the delegate of your USDC account').waitFor();
    await page.getByText(KEYS.delegate().address).waitFor();
    await keep(page, 'mandate-solana-3-portal');
    await expectAccessible(page);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('refused, on another account, without SOL or coins, or with other terms: nothing begins', async () => {
    const { page, wallet, read } = await subscriber('a subscriber who hesitates', { sol: 1n });
    wallet.refuseOnce('connect');
    await begin(page);
    await says(page, 'You refused in Test Sun');
    await begin(page);
    await page.locator('[data-exact=cap]').waitFor();
    wallet.switchTo(store.local.wallet('another account'));
    await give(page);
    await says(page, 'does not let this page use the account');
    wallet.switchTo(wallet.address);
    wallet.refuseOnce('sign');
    await give(page);
    await says(page, 'You refused in Test Sun');
    await give(page);
    await says(page, "too little SOL for the network's fee");
    store.local.node.controls.fund(address(wallet.address), SOL);
    wallet.refuseOnce('send');
    await give(page);
    await says(page, 'You refused in Test Sun');
    await keep(page, 'mandate-solana-4-refused');
    // What the server has built is not what was read.
    await page.route('**/mandate/approval*', async (route) => {
      const answer = await route.fetch();
      const built = await answer.json();
      const bytes = Buffer.from(built.transaction, 'base64');
      // The last bytes: amount, decimals, no lookup tables.
      bytes[bytes.length - 5] = (bytes.at(-5) ?? 0) ^ 1;
      await route.fulfill({ response: answer, json: { ...built, transaction: bytes.toString('base64') } });
    });
    await give(page);
    await says(page, 'The terms are not those of this page, so nothing was signed.');
    await page.route('**/mandate/offer*', async (route) => {
      const answer = await route.fetch();
      const text = (await answer.text()).replace('in each day', 'in each hour');
      await route.fulfill({ response: answer, body: text });
    });
    await begin(page);
    await says(page, 'The terms are not those of this page, so nothing was signed.');
    expect(wallet.calls.filter((method) => method === 'send')).toHaveLength(1);
    expect(await read()).toMatchObject({ status: 'incomplete' });
    await page.context().close();
    const poor = await subscriber('a subscriber without coins', { units: 0n });
    await begin(poor.page);
    await give(poor.page);
    await says(poor.page, 'holds no USDC on this network');
    await poor.page.context().close();
  });
});
