import { describe, expect, test } from 'vitest';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { refunds } from '../refunds/requests.ts';
import { expectAccessible } from './checkout-driver.ts';
import { InjectedWallet } from './injected-wallet.ts';
import { refusal, WalletError } from './scripted-wallet.ts';
import { BUTTON, hasWallets, PRICE, UNITS, walletShop } from './wallet-shop.ts';

describe.skipIf(!hasWallets())('a wallet in the payer’s browser', { timeout: 180_000 }, () => {
  const shop = walletShop();
  const { open, keep, newWallet, session, opened, payWith, says, expectUnpaid, mineUntil } = shop;

  test('pays in two clicks, proves itself, and gets a refund without naming an address', async () => {
    const wallet = await newWallet();
    const loaded: string[] = [];
    const { page, faults, url, address, payment_id } = await opened(wallet, {
      prepare: async (page) => {
        await wallet.join(page);
        page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
      },
    });
    await page.getByRole('button', { name: BUTTON }).waitFor();
    expect(wallet.calls).toEqual([]);
    await keep(page, 'wallet-1-found');
    await expectAccessible(page);
    const isLoaded = () => loaded.some((path) => path.includes('/assets/wallet-'));
    expect(isLoaded()).toBe(false);
    const { promise: confirmed, resolve: confirm } = Promise.withResolvers<void>();
    wallet.answer('eth_sendTransaction', async ([transaction]) => {
      await confirmed;
      return await wallet.send(Object(transaction));
    });
    const { promise: signed, resolve: sign } = Promise.withResolvers<void>();
    wallet.answer('personal_sign', async (params) => {
      await signed;
      return await wallet.usual('personal_sign', params);
    });
    await payWith(page);
    await says(page, 'Compare address and amount in Test Fox');
    expect(isLoaded()).toBe(true);
    await keep(page, 'wallet-2-confirm');
    await expectAccessible(page);
    expect(await page.getByRole('button', { name: BUTTON }).isDisabled()).toBe(true);
    confirm();
    await says(page, 'Sent. It waits for its block');
    await says(page, 'sign in Test Fox that the wallet is yours');
    await keep(page, 'wallet-3-sign');
    await expectAccessible(page);
    sign();
    await says(page, 'A refund can go back to this wallet');
    await mineUntil(page, 'Paid. Thank you!');
    await keep(page, 'wallet-4-paid');
    await expectAccessible(page);
    expect(await shop.store.payment(payment_id)).toMatchObject({
      status: 'completed',
      amount_received: PRICE * TOKEN,
      transactions: [{ from: wallet.account.address, address }],
    });
    await shop.store.world.mine(shop.store.world.finalBlocks + 1);
    const refund = await refunds(shop.store.service, shop.store.merchant).refund({
      refund_id: 'w-1',
      payment_id,
    });
    expect(refund).toMatchObject({ address: wallet.account.address, claim_url: null });
    expect(faults).toEqual([]);
    expect(url).toContain('/checkout/');
    await page.context().close();
  });

  test('refused, at each question: nothing was paid, and it can be tried again', async () => {
    const wallet = await newWallet();
    const { page, address } = await opened(wallet);
    wallet.answer('eth_requestAccounts', () => {
      throw refusal();
    });
    await payWith(page);
    await says(page, 'You refused in Test Fox. Nothing was paid.');
    await keep(page, 'wallet-5-refused');
    await expectAccessible(page);
    await expectUnpaid(page, address, wallet);
    wallet.answer('eth_requestAccounts', () => {
      throw new WalletError(-32_002, 'Request already pending');
    });
    await payWith(page);
    await says(page, 'is waiting for your answer');
    await expectUnpaid(page, address, wallet);
    wallet.answer('eth_requestAccounts', (params) => wallet.usual('eth_requestAccounts', params));
    wallet.answer('eth_sendTransaction', () => {
      throw refusal();
    });
    await payWith(page);
    await says(page, 'You refused in Test Fox. Nothing was paid.');
    // The proof alone is refused: the payment counts.
    wallet.answer('eth_sendTransaction', (params) => wallet.usual('eth_sendTransaction', params));
    wallet.answer('personal_sign', () => {
      throw refusal();
    });
    await payWith(page);
    await says(page, 'Not signed. Your payment counts all the same');
    await mineUntil(page, 'Paid. Thank you!');
    await page.context().close();
  });

  test('on another network: it changes, takes a network that it does not know, or says what to choose', async () => {
    const wallet = await newWallet();
    const { page, address } = await opened(wallet);
    wallet.chains = [1];
    wallet.answer('wallet_addEthereumChain', () => {
      throw new WalletError(-32_601, 'There is no such method.');
    });
    await payWith(page);
    await says(page, 'Choose Ethereum (local node) there (chain id 31337)');
    await keep(page, 'wallet-6-wrong-network');
    await expectUnpaid(page, address, wallet);
    wallet.answer('wallet_switchEthereumChain', () => {
      throw refusal();
    });
    await payWith(page);
    await says(page, 'You refused in Test Fox');
    await expectUnpaid(page, address, wallet);
    // It says that it has changed, and has not.
    wallet.answer('wallet_switchEthereumChain', () => null);
    await payWith(page);
    await says(page, 'is on another network');
    await expectUnpaid(page, address, wallet);
    wallet.answer('wallet_switchEthereumChain', (params) =>
      wallet.usual('wallet_switchEthereumChain', params),
    );
    let added: unknown;
    wallet.answer('wallet_addEthereumChain', (params) => {
      [added] = params;
      return wallet.usual('wallet_addEthereumChain', params);
    });
    await payWith(page);
    await says(page, 'Sent.');
    expect(added).toMatchObject({ chainId: '0x7a69', rpcUrls: [shop.store.world.node.url] });
    await mineUntil(page, 'Paid. Thank you!');
    await page.context().close();
  });

  test('too little of the token, and too little ether', async () => {
    const wallet = new InjectedWallet(shop.store.world, 9);
    const { page, address } = await opened(wallet);
    await payWith(page);
    await says(page, /The account 0x\w{4}…\w{4} holds 0\.00\sUSDT; 25\.00\sUSDT is needed/);
    await keep(page, 'wallet-7-no-token');
    await expectUnpaid(page, address, wallet);
    await shop.store.world.mint('USDT', wallet.account.address, UNITS);
    wallet.answer('eth_getBalance', () => '0x1');
    await payWith(page);
    await says(page, 'too little ETH');
    await expectUnpaid(page, address, wallet);
    wallet.answer('eth_getBalance', () => {
      throw new WalletError(-32_601, 'no such method');
    });
    wallet.answer('eth_sendTransaction', () => {
      throw new WalletError(-32_000, 'insufficient funds for gas * price + value');
    });
    await payWith(page);
    await says(page, 'too little ETH');
    // An account with code may have others pay its fees.
    wallet.answer('eth_getBalance', () => '0x1');
    wallet.answer('eth_getCode', () => '0xef0100');
    wallet.answer('eth_sendTransaction', () => {
      throw refusal();
    });
    await payWith(page);
    await says(page, 'You refused in Test Fox');
    await page.context().close();
  });

  test('a phone without a wallet is led to the browsers of wallets, and asks nobody itself', async () => {
    const { url } = await session();
    const { page, faults } = await open(url, { hasTouch: true, isMobile: true });
    await page.getByText('I have a wallet app on this phone').click();
    const { host, pathname } = new URL(url);
    const links = await page.locator('details a.button').evaluateAll((all) => all.map((a) => Object(a).href));
    expect(links.filter((link) => !link.startsWith('ethereum:'))).toEqual([
      `https://metamask.app.link/dapp/${host}${pathname}`,
      `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(url)}`,
      `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(url)}`,
    ]);
    await keep(page, 'wallet-12-phone');
    await expectAccessible(page);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('in Arabic, on a wide screen, and not at all on a simulated network', async () => {
    const wallet = await newWallet();
    const { url } = await session();
    const arabic = await open(`${url}?lang=ar`, { prepare: wallet.join });
    await arabic.page.locator('button.wallet').waitFor();
    wallet.answer('eth_requestAccounts', () => {
      throw refusal();
    });
    await arabic.page.locator('button.wallet').click();
    await says(arabic.page, 'Test Fox');
    await keep(arabic.page, 'wallet-13-arabic');
    await arabic.page.setViewportSize({ width: 1280, height: 900 });
    await keep(arabic.page, 'wallet-13-arabic-wide');
    await arabic.page.context().close();
    const sandbox = await shop.store.service.createMerchant({ funds: 0n });
    const simulated = await checkout(shop.store.service, sandbox).open({ amount: TOKEN });
    await fetch(simulated.url, { method: 'POST', body: new URLSearchParams({ option: 'USDT:erc20' }) });
    const { page } = await open(simulated.url, { prepare: wallet.join });
    await page.getByRole('button', { name: 'Pay with the test wallet' }).waitFor();
    await page.waitForTimeout(2_000);
    expect(await page.locator('button.wallet').count()).toBe(0);
    await page.context().close();
  });
});
